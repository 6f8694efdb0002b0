#include "container/hooks/command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "container/hooks/confined.h"
#include "container/hooks/hooks.h"
#include "os/real_fs.h"

namespace gpuop::container {
namespace {

constexpr const char* kVersion = "NVIDIA Container Toolkit CDI Hook version 1.20.0";

/// The values of --name flags, in their order.
using Flags = std::map<std::string, std::vector<std::string>, std::less<>>;

struct Command {
  const char* name;
  std::vector<std::string> flags;
  Result<> (*run)(const std::string& root, const Flags& flags);
};

void Warn(const std::string& text) { std::fprintf(stderr, "nvidia-cdi-hook: %s\n", text.c_str()); }

std::string One(const Flags& flags, const std::string& name) {
  const auto it = flags.find(name);
  return it == flags.end() || it->second.empty() ? std::string() : it->second.back();
}

std::vector<std::string> Many(const Flags& flags, const std::string& name) {
  const auto it = flags.find(name);
  return it == flags.end() ? std::vector<std::string>() : it->second;
}

Result<std::unique_ptr<os::RealFs>> Open(const std::string& root) {
  return os::RealFs::Open(root, os::RealFs::Durability::kNone);
}

/// A root that nobody may write to is left as it is: the libraries are mounted all the same.
Result<> Bear(const char* what, Result<> done) {
  if (done || done.error().code != Code::kForbidden) return done;
  Warn(std::string(what) + ": left as it is: " + done.error().text);
  return {};
}

Result<> Symlinks(const std::string& root, const Flags& flags) {
  ASSIGN(const auto fs, Open(root));
  return CreateSymlinks(*fs, Many(flags, "link"));
}

Result<> LoaderCache(const std::string& root, const Flags& flags) {
  const std::vector<std::string> folders = Many(flags, "folder");
  ASSIGN(const auto fs, Open(root));
  auto written = WriteLoaderConfig(*fs, folders);
  if (!written && written.error().code == Code::kForbidden) return Bear("update-ldcache", std::move(written));
  TRY(std::move(written));
  const bool glibc = os::Exists(*fs, "/etc/ld.so.conf").value_or(false);
  return glibc ? Bear("update-ldcache", RunLdconfig(root, One(flags, "ldconfig-path"))) : Result<>();
}

Result<> Compat(const std::string& root, const Flags& flags) {
  ASSIGN(const auto fs, Open(root));
  return Bear("enable-cuda-compat", EnableCudaCompat(*fs, {.host_driver_version = One(flags, "host-driver-version"),
                                                           .host_cuda_version = One(flags, "host-cuda-version"),
                                                           .folder = One(flags, "cuda-compat-container-root")}));
}

Result<> NoNodeModification(const std::string& root, const Flags&) {
  constexpr const char* kParams = "/proc/driver/nvidia/params";
  const auto fs = os::RealFs::Open("/");
  if (!fs) return std::unexpected(fs.error());
  const auto text = (*fs)->Read(kParams);
  if (!text) return {};  // no driver that would make nodes
  const auto covered = WithoutDeviceNodeModification(*text);
  if (!covered) return {};
  auto done = CoverProcFile(root, kParams, *covered);
  if (!done && done.error().code == Code::kNotFound) return {};
  // Somebody has put a file of their own there: the kernel's is hidden already, and theirs is not ours to cover.
  if (!done && done.error().code == Code::kInvalid) {
    Warn("disable-device-node-modification: left as it is: " + done.error().text);
    return {};
  }
  return done;
}

Result<> Profile(const std::string& root, const Flags&) {
  ASSIGN(const auto fs, Open(root));
  return Bear("update-application-profile", WriteApplicationProfile(*fs));
}

Result<> Chmod(const std::string& root, const Flags& flags) {
  const std::string text = One(flags, "mode");
  char* end = nullptr;
  const unsigned long mode = std::strtoul(text.c_str(), &end, 8);
  if (text.empty() || *end != '\0' || mode > 07777)
    return Fail(Code::kInvalid, "--mode: " + Quote(text) + " is no octal mode");
  ASSIGN(const auto fs, Open(root));
  for (const std::string& list : Many(flags, "path"))
    for (const std::string_view path : Split(list, ',')) TRY(fs->SetMode(std::string(path), static_cast<mode_t>(mode)));
  return {};
}

const std::vector<Command>& Commands() {
  static const std::vector<Command> kCommands = {
      {"create-symlinks", {"link"}, Symlinks},
      {"update-ldcache", {"folder", "ldconfig-path"}, LoaderCache},
      {"enable-cuda-compat", {"host-driver-version", "host-cuda-version", "cuda-compat-container-root"}, Compat},
      {"disable-device-node-modification", {}, NoNodeModification},
      {"update-application-profile", {}, Profile},
      {"chmod", {"mode", "path"}, Chmod}};
  return kCommands;
}

/// Flags that the command does not know are told and passed over, with the value that `=` gives them.
Flags Parse(const Command& command, std::span<char* const> args) {
  Flags out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string_view text = args[i];
    if (!text.starts_with("--")) continue;
    text.remove_prefix(2);
    const auto parts = Cut(text, '=');
    const std::string name(parts ? parts->first : text);
    const bool known = name == "container-spec" || std::ranges::find(command.flags, name) != command.flags.end();
    if (!known) {
      Warn(std::string(command.name) + ": unknown flag --" + name + " is passed over");
      continue;
    }
    if (parts)
      out[name].emplace_back(parts->second);
    else if (i + 1 < args.size())
      out[name].emplace_back(args[++i]);
  }
  return out;
}

Result<std::string> ReadInput() {
  constexpr std::size_t kLongest = 16U << 20U;
  std::string bytes;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail(Code::kIo, "read the container's state from standard input");
    if (n == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
    if (bytes.size() > kLongest) return Fail(Code::kTooLarge, "the container's state is longer than 16 MiB");
  }
}

Result<> Run(const Command& command, const Flags& flags) {
  std::string state;
  if (const std::string file = One(flags, "container-spec"); !file.empty() && file != "-") {
    ASSIGN(const auto fs, os::RealFs::Open("/"));
    ASSIGN(state, fs->Read(file));
  } else {
    ASSIGN(state, ReadInput());
  }
  ASSIGN(const std::string root, ContainerRoot(state));
  return command.run(root, flags);
}

int Help(std::FILE* to) {
  std::fputs("usage: nvidia-cdi-hook COMMAND [flags]\n\n", to);
  for (const Command& command : Commands()) {
    std::fprintf(to, "  %s", command.name);
    for (const std::string& flag : command.flags) std::fprintf(to, " --%s", flag.c_str());
    std::fputc('\n', to);
  }
  return 0;
}

}  // namespace

int RunCdiHook(std::span<char* const> args) {
  while (!args.empty() && (std::string_view(args[0]) == "--debug" || std::string_view(args[0]) == "--quiet"))
    args = args.subspan(1);
  if (args.empty()) return Help(stdout);
  const std::string_view name = args[0];
  if (name == "--version" || name == "-v") {
    std::puts(kVersion);
    return 0;
  }
  if (name == "--help" || name == "-h" || name == "help") return Help(stdout);
  for (const Command& command : Commands()) {
    if (name != command.name) continue;
    const auto done = Run(command, Parse(command, args.subspan(1)));
    if (done) return 0;
    Warn(std::string(name) + ": " + done.error().text);
    return 1;
  }
  Warn("command " + Quote(name) + " is not known to this version; nothing is done");
  return 0;
}

}  // namespace gpuop::container
