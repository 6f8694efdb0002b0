#include "container/runtime/command.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "container/runtime/arguments.h"
#include "container/runtime/modify.h"
#include "os/real_fs.h"

extern char** environ;

namespace gpuop::container {
namespace {

constexpr const char* kVersion = "NVIDIA Container Runtime version 1.20.0";
/// The words by which people and tools know a container that could not be given its devices.
constexpr const char* kRefused =
    "could not apply required modification to OCI specification: error modifying OCI spec: failed to inject CDI "
    "devices: ";
constexpr std::size_t kLongestSpec = 64U << 20U;

/// Lines in the configured file; nothing when it cannot be opened, because a log is no reason to stop a container.
class DebugLog {
 public:
  explicit DebugLog(const std::string& path)
      : file_(path.empty() || path == "/dev/null" ? nullptr : std::fopen(path.c_str(), "ae")) {}
  ~DebugLog() {
    if (file_ != nullptr) std::fclose(file_);
  }
  DebugLog(const DebugLog&) = delete;
  DebugLog& operator=(const DebugLog&) = delete;
  void Write(const char* level, const std::string& text) {
    if (file_ == nullptr) return;
    std::fprintf(file_, "{\"level\":\"%s\",\"msg\":%s,\"time\":\"%s\"}\n", level,
                 boost::json::serialize(boost::json::string(text)).c_str(), FormatTime(SystemClock().Wall()).c_str());
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

Result<RuntimeConfig> LoadConfig() {
  const std::string path = RuntimeConfigPath();
  ASSIGN(const auto host, os::RealFs::Open("/"));
  const auto text = host->Read(path);
  if (!text && text.error().code == Code::kNotFound) return RuntimeConfig();
  if (!text) return std::unexpected(text.error());
  auto config = ReadRuntimeConfig(*text);
  if (!config) return std::unexpected(std::move(config).error().During(path));
  return config;
}

/// Numbers keep all their digits: limits of 2^64-1 are usual here.
Result<data::Json> ParseSpec(const std::string& text) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = 128;
  data::Json value = boost::json::parse(text, error, {}, options);
  if (error) return Fail(Code::kInvalid, "config.json: " + error.message());
  if (!value.is_object()) return Fail(Code::kInvalid, "config.json: expected an object");
  return value;
}

Result<> ModifyBundle(const RuntimeConfig& config, const std::string& bundle, DebugLog& log) {
  using enum os::RealFs::Durability;
  ASSIGN(const auto fs, os::RealFs::Open(bundle.empty() ? "." : bundle, kNone));
  ASSIGN(const std::string text, fs->Read("/config.json", kLongestSpec));
  ASSIGN(data::Json oci, ParseSpec(text));
  ASSIGN(const auto host, os::RealFs::Open("/"));
  const std::string root = config.cli.root.empty() ? "/" : config.cli.root;
  const auto driver = os::RealFs::Open(root);
  utsname system{};
  ::uname(&system);
  const ShimNode node{.host = *host,
                      .driver = driver ? **driver : *host,
                      .driver_root = driver ? root : "/",
                      .kernel_release = system.release,
                      .nodes = NodesOf(*host),
                      .warn = [&](const std::string& what) { log.Write("warning", what); }};
  ASSIGN(const bool changed, ModifyForGpus(config, node, oci));
  if (!changed) return {};
  log.Write("info", "devices injected into " + bundle);
  return fs->WriteAtomic("/config.json", boost::json::serialize(oci));
}

/// A path that holds a slash as it is, a name in PATH and the usual folders.
std::string FindProgram(const std::string& name) {
  if (name.contains('/')) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  folders += ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const std::string_view folder : Split(folders, ':')) {
    if (folder.empty()) continue;
    std::string candidate = std::string(folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

int Exec(const RuntimeConfig& config, std::span<char* const> args) {
  for (const std::string& name : config.runtime.runtimes) {
    const std::string program = FindProgram(name);
    if (program.empty()) continue;
    std::vector<char*> argv(args.begin(), args.end());
    std::string first = program;
    argv[0] = first.data();
    argv.push_back(nullptr);
    ::execve(program.c_str(), argv.data(), environ);
    std::fprintf(stderr, "nvidia-container-runtime: %s: %s\n", program.c_str(), std::strerror(errno));
    return 1;
  }
  std::fprintf(stderr, "nvidia-container-runtime: no low-level runtime found; tried: %s\n",
               Join(config.runtime.runtimes, ", ").c_str());
  return 1;
}

/// Says why on standard error, in our own log, and where the engine looks: a runtime's last words in its --log.
int Refuse(const std::string& text, const std::vector<std::string>& arguments, DebugLog* log) {
  if (log != nullptr) log->Write("error", text);
  DebugLog(LogOf(arguments)).Write("error", text);
  std::fprintf(stderr, "nvidia-container-runtime: %s\n", text.c_str());
  return 1;
}

}  // namespace

int RunContainerRuntime(std::span<char* const> args) {
  if (args.empty()) return 2;
  auto config = LoadConfig();
  const std::vector<std::string> arguments(args.begin() + 1, args.end());
  if (!config) return Refuse(config.error().text, arguments, nullptr);
  const std::string_view self = args[0];
  if (self.ends_with(".cdi")) config->runtime.mode = "cdi";
  if (self.ends_with(".legacy")) config->runtime.mode = "legacy";
  DebugLog log(config->runtime.debug);
  if (arguments == std::vector<std::string>{"--version"}) {
    std::puts(kVersion);
    std::fflush(stdout);
  }
  if (!IsCreate(arguments)) return Exec(*config, args);
  const auto bundle = BundleOf(arguments);
  if (!bundle) return Refuse(bundle.error().text, arguments, &log);
  if (auto done = ModifyBundle(*config, *bundle, log); !done)
    return Refuse(kRefused + done.error().text, arguments, &log);
  return Exec(*config, args);
}

}  // namespace gpuop::container
