#include "container/runtime/arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace gpuop::container {
namespace {

constexpr std::array<std::string_view, 26> kCommands = {
    "checkpoint", "create", "delete", "events",  "exec",    "features", "help",   "init", "kill",
    "list",       "ls",     "mounts", "pause",   "ps",      "restore",  "resume", "run",  "spec",
    "start",      "state",  "update", "version", "feature", "shim",     "reset",  "dump"};

constexpr std::array<std::string_view, 8> kWithValue = {"log",      "log-format", "root", "criu", "cgroup-manager",
                                                        "rootless", "bundle",     "b"};

std::string_view NameOf(std::string_view flag) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  return flag.substr(0, flag.find('='));
}

}  // namespace

bool IsCreate(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "create") return true;
    if (argument.starts_with('-')) {
      const bool value = std::ranges::find(kWithValue, NameOf(argument)) != kWithValue.end();
      if (value && !argument.contains('=')) ++i;
    } else if (std::ranges::find(kCommands, argument) != kCommands.end()) {
      return false;
    }
  }
  return false;
}

namespace {

/// The value of a flag that has one of these names; nullopt when none is given.
Result<std::optional<std::string>> ValueOf(const std::vector<std::string>& arguments,
                                           std::initializer_list<std::string_view> names, std::string_view what) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with('-') || std::ranges::find(names, NameOf(argument)) == names.end()) continue;
    if (const std::size_t equals = argument.find('='); equals != std::string_view::npos)
      return std::string(argument.substr(equals + 1));
    if (i + 1 == arguments.size()) return Fail(Code::kInvalid, std::string(argument) + " needs " + std::string(what));
    return arguments[i + 1];
  }
  return std::optional<std::string>();
}

}  // namespace

Result<std::string> BundleOf(const std::vector<std::string>& arguments) {
  ASSIGN(const auto value, ValueOf(arguments, {"bundle", "b"}, "a folder"));
  return value.value_or("");
}

std::string LogOf(const std::vector<std::string>& arguments) {
  const auto value = ValueOf(arguments, {"log"}, "a file");
  return value ? value->value_or("") : std::string();
}

}  // namespace gpuop::container
