#include "operands/gfd/command.h"

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/mutex.h"
#include "gpu/driver_root.h"
#include "kube/api_door.h"
#include "operands/gfd/discovery.h"
#include "operands/status_server.h"
#include "os/heap.h"
#include "os/process.h"
#include "os/real_fs.h"
#include "os/signals.h"
#include "os/watcher.h"

namespace gpuop::operands::gfd {
namespace {

constexpr const char* kNvml = "libnvidia-ml.so.1";

Result<Options> ReadOptions(const Given& given, const os::Fs& fs) {
  const std::string file = given.Get("config-file");
  if (file.empty()) return MakeOptions(given, nullptr);
  ASSIGN(const PluginSettings settings, ReadPluginSettings(fs, file));
  return MakeOptions(given, &settings);
}

Result<std::unique_ptr<Output>> MakeOutput(const Options& options, os::Fs& fs, kube::ApiDoor* api,
                                           const std::stop_token& stop) {
  if (api != nullptr)
    return std::make_unique<NodeFeatureOutput>(api->MakeClient(stop), options.ns, options.node, options.pod);
  if (options.output_file.empty()) return std::make_unique<StdoutOutput>();
  return std::make_unique<FileOutput>(fs, options.output_file, options.oneshot || !options.interval);
}

int Report(const Error& error) {
  std::fprintf(stderr, "gpu-feature-discovery: %s\n", error.text.c_str());
  return error.code == Code::kInvalid ? 2 : 1;
}

/// How long the end waits for a pass that hangs in the driver.
constexpr Duration kFarewell = std::chrono::seconds(2);

/// Where the driver's library and first device node appear.
std::vector<std::string> SignsOfTheDriver() {
  std::vector<std::string> paths = {"/dev/nvidiactl"};
  for (std::string& path : gpu::DriverLibraryCandidates({}, kNvml))
    if (path.starts_with('/')) paths.push_back(std::move(path));
  return paths;
}

/// How a run on another thread ended, if it did.
class End {
 public:
  void Set(Result<> result) {
    Lock l(mu_);
    result_ = std::move(result);
    changed_.notify_all();
  }
  /// Until `stop`, and a moment longer.
  Result<> Wait(const std::stop_token& stop) {
    Lock l(mu_);
    const auto ended = [this]() REQUIRES(mu_) { return result_.has_value(); };
    changed_.wait(mu_, stop, ended);
    changed_.wait_for(mu_, kFarewell, ended);
    return result_.value_or(Result<>());
  }

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  std::optional<Result<>> result_ GUARDED_BY(mu_);
};

Result<> Discover(const Given& given, const Options& options, os::Fs& fs, const std::stop_token& stop) {
  const SystemClock clock;
  StderrLog log(clock);
  MetricRegistry metrics;
  std::unique_ptr<kube::ApiDoor> api;
  if (options.use_node_feature_api) {
    ASSIGN(api, kube::ApiDoor::Open(fs, options.kubeconfig, "gpu-feature-discovery"));
  }
  ASSIGN(const std::unique_ptr<Output> output, MakeOutput(options, fs, api.get(), stop));
  Discovery discovery(
      fs, [] { return gpu::Nvml::Open(gpu::DriverLibraryCandidates({}, kNvml)); }, *output, clock, log, &metrics);
  if (options.oneshot) return discovery.Pass(options);
  std::unique_ptr<net::IoThread> own_io;
  std::unique_ptr<net::Server> status;
  if (!options.metrics_address.empty()) {
    if (api == nullptr) {
      own_io = std::make_unique<net::IoThread>();
      own_io->Start();
    }
    ASSIGN(status, ServeStatus(api ? api->io() : *own_io, options.metrics_address, metrics,
                               [&discovery] { return discovery.Ailment(); }));
  }
  os::InotifyWatcher watcher;
  ASSIGN(const auto driver_watch, watcher.Start(SignsOfTheDriver(), [&](const auto&) { discovery.Wake(); }));
  std::unique_ptr<os::Watch> watch;
  if (!options.config_file.empty()) {
    ASSIGN(watch, watcher.Start({options.config_file}, [&](const std::vector<std::string>&) {
      auto changed = ReadOptions(given, fs);
      if (changed)
        discovery.Wake(std::make_unique<Options>(*std::move(changed)));
      else  // the last good settings stay
        log.Error("the settings file is not used", {{"reason", changed.error().text}});
    }));
  }
  // On a thread of its own: a driver that never answers must not keep the program from ending.
  End end;
  const std::jthread runner([&] { end.Set(discovery.Run(options, stop)); });
  const auto done = end.Wait(stop);
  if (done) output->Withdraw();
  // NVML's wait for events cannot be cut short, and nothing is left to be done: who asked for the end gets it at once.
  std::_Exit(done ? 0 : Report(done.error()));
}

Result<> Run(std::span<char* const> args) {
  ASSIGN(const Given given, ReadGiven({args.begin(), args.end()}, os::Variable));
  if (given.help) {
    std::fputs(Help().c_str(), stdout);
    return {};
  }
  os::KeepHeapSmall();
  // The settings file is watched; config-manager's signal that it has changed needs no answer.
  std::signal(SIGHUP, SIG_IGN);
  ASSIGN(const auto signals, os::StopSignals::Catch());
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(const Options options, ReadOptions(given, *fs));
  return Discover(given, options, *fs, signals->token());
}

}  // namespace

int RunGfd(std::span<char* const> args) {
  const auto done = Run(args);
  return done ? 0 : Report(done.error());
}

}  // namespace gpuop::operands::gfd
