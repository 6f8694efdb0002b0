#include "operands/launch/options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace gpuop::operands::launch {
namespace {

struct VerbName {
  std::string_view name;
  Verb verb;
};
constexpr std::array kVerbs = {
    VerbName{"install", Verb::kInstall},
    VerbName{"wait", Verb::kWait},
    VerbName{"exec", Verb::kExec},
    VerbName{"hold", Verb::kHold},
    VerbName{"remove", Verb::kRemove},
    VerbName{"probe-driver", Verb::kProbeDriver},
    VerbName{"probe-module", Verb::kProbeModule},
};

std::unexpected<Error> Bad(std::string_view argument, std::string_view why) {
  return Fail(Code::kInvalid, std::string("argument ").append(argument).append(": ").append(why));
}

/// "a:b" at the first separator; both parts must not be empty.
Result<std::pair<std::string, std::string>> Split(std::string_view argument, std::string_view value, char separator) {
  const std::size_t at = value.find(separator);
  if (at == std::string_view::npos || at == 0 || at + 1 == value.size())
    return Bad(argument, std::string("two parts with \"") + separator + "\" between them are expected");
  return std::pair(std::string(value.substr(0, at)), std::string(value.substr(at + 1)));
}

Result<> ReadOption(const std::string& argument, Options& out) {
  const std::size_t equals = argument.find('=');
  const std::string_view all(argument);
  const std::string_view name = all.substr(0, equals);
  const std::string value(equals == std::string::npos ? std::string_view() : all.substr(equals + 1));
  if (name == "--any") {
    out.any = true;
    return {};
  }
  if (value.empty()) return Bad(argument, "a value is expected (--name=value)");
  if (name == "--install") {
    out.install.push_back(value);
  } else if (name == "--wait") {
    out.waits.push_back(value);
  } else if (name == "--env-file") {
    out.env_files.push_back(value);
  } else if (name == "--remove") {
    out.removes.push_back(value);
  } else if (name == "--if") {
    ASSIGN(std::tie(out.if_file, out.if_word), Split(argument, value, ':'));
  } else if (name == "--env") {
    ASSIGN(auto copy, Split(argument, value, '='));
    out.copies.push_back(std::move(copy));
  } else if (name == "--if-module") {
    ASSIGN(auto module, Split(argument, value, ':'));
    ASSIGN(auto variable, Split(argument, module.second, '='));
    out.module_variables.push_back({module.first, variable.first, variable.second});
  } else {
    return Bad(argument, "there is no such option");
  }
  return {};
}

/// Puts what is no option where the verb has it.
Result<> ReadWord(const std::string& word, Options& out) {
  switch (out.verb) {
    case Verb::kInstall: out.install.push_back(word); return {};
    case Verb::kWait: out.waits.push_back(word); return {};
    case Verb::kRemove: out.removes.push_back(word); return {};
    case Verb::kProbeModule:
      if (!out.module.empty()) return Bad(word, "one module is expected");
      out.module = word;
      return {};
    default: return Bad(word, "not expected here; a program stands after --");
  }
}

Result<> CheckComplete(const Options& options) {
  const auto missing = [](const char* what) { return Fail(Code::kInvalid, std::string(what) + " is missing"); };
  switch (options.verb) {
    case Verb::kInstall: return options.install.empty() ? Result<>(missing("the folder")) : Result<>();
    case Verb::kWait: return options.waits.empty() ? Result<>(missing("the file to wait for")) : Result<>();
    case Verb::kExec: return options.program.empty() ? Result<>(missing("-- and the program")) : Result<>();
    case Verb::kRemove: return options.removes.empty() ? Result<>(missing("what to remove")) : Result<>();
    case Verb::kProbeModule: return options.module.empty() ? Result<>(missing("the module")) : Result<>();
    case Verb::kHold:
    case Verb::kProbeDriver: break;
  }
  return {};
}

}  // namespace

Result<Options> ParseOptions(std::span<const std::string> arguments) {
  if (arguments.empty())
    return Fail(Code::kInvalid,
                "what to do is missing: install, wait, exec, hold, remove, probe-driver or probe-module");
  const auto* verb = std::ranges::find(kVerbs, arguments.front(), &VerbName::name);
  if (verb == kVerbs.end())
    return Bad(arguments.front(), "expected install, wait, exec, hold, remove, probe-driver or probe-module");
  Options out{.verb = verb->verb};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      out.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      if (out.verb != Verb::kExec && out.verb != Verb::kHold && !out.program.empty())
        return Bad(out.program.front(), "only exec and hold take a program");
      break;
    }
    TRY(argument.starts_with("--") ? ReadOption(argument, out) : ReadWord(argument, out));
  }
  TRY(CheckComplete(out));
  return out;
}

}  // namespace gpuop::operands::launch
