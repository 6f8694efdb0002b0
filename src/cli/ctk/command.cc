#include "cli/ctk/command.h"

#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/ctk/cdi.h"
#include "container/hooks/command.h"

namespace gpuop::cli {
namespace {

struct Command {
  std::vector<std::string> words;
  const char* help;
  Result<std::string> (*run)(const std::vector<std::string>& arguments);
};

const std::vector<Command>& Commands() {
  static const std::vector<Command> kCommands = {
      {{"cdi", "generate"}, "write a CDI spec of this node's devices", CdiGenerate},
      {{"cdi", "list"}, "the names of all CDI devices", CdiList},
      {{"cdi", "transform", "root"}, "move a spec's paths from one root to another", CdiTransformRoot},
      {{"config", "default"}, "the runtime's configuration as a fresh installation has it", ConfigDefault},
      {{"config"}, "show the runtime's configuration, and change values (--set)", ConfigShow},
      {{"runtime", "configure"}, "add a runtime to an engine's configuration", RuntimeConfigure},
      {{"system", "create-dev-char-symlinks"}, "links in /dev/char to the driver's nodes", SystemCreateDevCharSymlinks},
      {{"system", "create-device-nodes"}, "make the driver's control nodes", SystemCreateDeviceNodes},
      {{"system", "print-ldcache"}, "the libraries that the loader's cache knows", SystemPrintLdcache}};
  return kCommands;
}

int Help(std::FILE* to, int status) {
  std::fputs("usage: nvidia-ctk COMMAND [flags]\n\n", to);
  for (const Command& command : Commands())
    std::fprintf(to, "  %-32s %s\n", Join(command.words, " ").c_str(), command.help);
  std::fputs("  hook …                           what nvidia-cdi-hook does\n", to);
  return status;
}

}  // namespace

int RunCtk(std::span<char* const> args) {
  while (!args.empty() && (std::string_view(args[0]) == "--debug" || std::string_view(args[0]) == "-d" ||
                           std::string_view(args[0]) == "--quiet"))
    args = args.subspan(1);
  const std::vector<std::string> words(args.begin(), args.end());
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") return Help(stdout, 0);
  if (words[0] == "--version" || words[0] == "-v")
    return std::puts("NVIDIA Container Toolkit CLI version 1.20.0") < 0 ? 1 : 0;
  if (words[0] == "hook") return container::RunCdiHook(args.subspan(1));
  for (const Command& command : Commands()) {
    if (words.size() < command.words.size() || !std::equal(command.words.begin(), command.words.end(), words.begin()))
      continue;
    const auto out = command.run({words.begin() + static_cast<std::ptrdiff_t>(command.words.size()), words.end()});
    if (out) return std::fputs(out->c_str(), stdout) < 0 ? 1 : 0;
    std::fprintf(stderr, "nvidia-ctk: %s: %s\n", Join(command.words, " ").c_str(), out.error().text.c_str());
    return 1;
  }
  std::fprintf(stderr, "nvidia-ctk: there is no command %s\n", Quote(words[0]).c_str());
  return Help(stderr, 1);
}

}  // namespace gpuop::cli
