#include "operands/mps/command.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/mutex.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/thread_executor.h"
#include "gpu/driver_root.h"
#include "gpu/inventory_reader.h"
#include "kube/controller.h"
#include "operands/mps/options.h"
#include "operands/mps/shm.h"
#include "operands/mps/supervisor.h"
#include "operands/status_server.h"
#include "os/heap.h"
#include "os/real_fs.h"
#include "os/signals.h"
#include "os/watcher.h"

namespace gpuop::operands::mps {
namespace {

constexpr const char* kKey = "daemons";

/// All that a run stands on.
class Program {
 public:
  Program(const Options& options, os::Fs& fs)
      : options_(options),
        fs_(fs),
        log_(clock_),
        modes_([this] { return OpenNvml(); }),
        supervisor_({.daemon = {.fs = fs,
                                .processes = processes_,
                                .modes = modes_,
                                .log = log_,
                                .program = options.daemon,
                                .environment = os::OwnEnvironment(),
                                .ended = [this] { controller_.Add(kKey); }},
                     .settings = [this] { return Settings(); },
                     .inventory = [this] { return Inventory(); },
                     .root = options.root,
                     .metrics = &metrics_},
                    options.mig_strategy),
        controller_(executor_, log_,
                    {.name = "mps-daemons",
                     .back_off = {.first = std::chrono::seconds(1), .longest = std::chrono::seconds(60)}},
                    [this](const std::string&) { return Turn(); }) {}

  Result<> Run(const std::stop_token& stop) {
    ASSIGN(const PluginSettings settings, Settings());
    if (StrategyOf(settings.sharing) != SharingStrategy::kMps)
      log_.Info("the settings share nothing by MPS: waiting for others", {{"file", options_.config_file}});
    os::InotifyWatcher watcher;
    std::unique_ptr<os::Watch> watch;
    if (!options_.config_file.empty()) {
      ASSIGN(watch, watcher.Start({options_.config_file}, [this](const auto&) { controller_.Add(kKey); }));
    }
    net::IoThread io;
    std::unique_ptr<net::Server> status;
    if (!options_.metrics_address.empty()) {
      io.Start();
      ASSIGN(status, ServeStatus(io, options_.metrics_address, metrics_, [this] { return trouble_.Get(); }));
    }
    controller_.Add(kKey);
    controller_.Start();
    WaitForStop(stop);
    controller_.Pause();
    ending_.request_stop();
    Lock l(turn_);
    supervisor_.StopAll();
    return {};
  }

 private:
  Result<std::unique_ptr<gpu::Nvml>> OpenNvml() const {
    return gpu::Nvml::Open(gpu::DriverLibraryCandidates(options_.driver_root, "libnvidia-ml.so.1"));
  }
  Result<PluginSettings> Settings() const {
    if (options_.config_file.empty()) return PluginSettings();
    return ReadPluginSettings(fs_, options_.config_file);
  }
  Result<gpu::Inventory> Inventory() const {
    ASSIGN(const auto nvml, OpenNvml());
    return gpu::InventoryReader(*nvml).Read();
  }

  Result<kube::Next> Turn() {
    Lock l(turn_);
    if (ending_.stop_requested()) return kube::Next{};
    const auto done = supervisor_.Turn(ending_.get_token());
    const bool news = trouble_.Set(done ? "" : done.error().text);
    if (news) os::SettleDown();
    if (done) return kube::Next{};
    if (done.error().code != Code::kInvalid) return std::unexpected(done.error());
    if (news) log_.Error("the settings are not used", {{"reason", done.error().text}});
    return kube::Next{};
  }

  const Options& options_;
  os::Fs& fs_;
  SystemClock clock_;
  StderrLog log_;
  os::RealProcesses processes_;
  NvmlComputeModes modes_;
  std::stop_source ending_;
  MetricRegistry metrics_;
  Mutex turn_;  ///< held while daemons are started and stopped
  Trouble trouble_{"the daemons have not been started yet"};
  Supervisor supervisor_;
  ThreadExecutor executor_{1};
  kube::Controller controller_;
};

int Report(const Error& error) {
  std::fprintf(stderr, "mps-control-daemon: %s\n", error.text.c_str());
  return error.code == Code::kInvalid ? 2 : 1;
}

Result<> Run(std::span<char* const> args) {
  for (const std::string_view arg : args)
    if (arg == "-h" || arg == "--help") {
      std::fputs(Help().c_str(), stdout);
      return {};
    }
  ASSIGN(const Options options, ReadOptions({args.begin(), args.end()}, std::getenv));
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  if (options.mount_shm) return MountShm(*fs, options.root + "/shm");
  os::KeepHeapSmall();
  // The settings file is watched; config-manager's signal that it has changed needs no answer.
  std::signal(SIGHUP, SIG_IGN);
  ASSIGN(const auto signals, os::StopSignals::Catch());
  return Program(options, *fs).Run(signals->token());
}

}  // namespace

int RunMpsControlDaemon(std::span<char* const> args) {
  const auto done = Run(args);
  return done ? 0 : Report(done.error());
}

}  // namespace gpuop::operands::mps
