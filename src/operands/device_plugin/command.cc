#include "operands/device_plugin/command.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <set>

#include "base/thread_executor.h"
#include "gpu/driver_root.h"
#include "operands/device_plugin/grpc_outlet.h"
#include "operands/device_plugin/host_files.h"
#include "operands/device_plugin/mps_daemons.h"
#include "operands/device_plugin/plugin.h"
#include "operands/device_plugin/reporting.h"
#include "os/heap.h"
#include "os/real_fs.h"
#include "os/signals.h"
#include "os/watcher.h"

namespace gpuop::operands::device_plugin {
namespace {

constexpr const char* kSoname = "libnvidia-ml.so.1";
constexpr const char* kDefaultFolder = "/var/lib/kubelet/device-plugins";

using SharedSettings = std::shared_ptr<const Settings>;

Result<SharedSettings> Load(const container::FlagValues& flags, const os::Fs& fs) {
  const std::string file = flags.Text("--config-file");
  PluginSettings from_file;
  if (!file.empty()) {
    ASSIGN(from_file, ReadPluginSettings(fs, file));
  }
  ASSIGN(Settings settings, MakeSettings(flags, std::getenv, file.empty() ? nullptr : &from_file));
  return std::make_shared<const Settings>(std::move(settings));
}

Result<std::unique_ptr<gpu::Nvml>> OpenNvml(const std::string& driver_root) {
  std::vector<std::string> paths = gpu::DriverLibraryCandidates(driver_root, kSoname);
  for (std::string& path : gpu::DriverLibraryCandidates({}, kSoname)) paths.push_back(std::move(path));
  return gpu::Nvml::Open(paths);
}

/// The driver's root as this process sees it, or its own tree where nobody mounted one.
std::shared_ptr<const os::Fs> OpenRoot(const std::string& root, const std::shared_ptr<os::Fs>& own) {
  auto fs = os::RealFs::Open(root);
  return fs ? std::shared_ptr<const os::Fs>(*std::move(fs)) : own;
}

/// The program's parts, from the first to be made to the last.
class Program {
 public:
  Program(container::FlagValues flags, std::shared_ptr<os::Fs> fs, SharedSettings settings)
      : flags_(std::move(flags)), fs_(std::move(fs)), settings_(std::move(settings)) {
    folder_ = settings_->kubelet_socket.empty() ? kDefaultFolder : os::FolderOf(settings_->kubelet_socket);
  }

  Result<> Start() {
    const std::string driver_root = settings_->container_driver_root;
    driver_ = std::make_unique<NvmlDriver>(
        NvmlDriver::Parts{.executor = executor_,
                          .open = [driver_root] { return OpenNvml(driver_root); },
                          .host = *fs_,
                          .on_event = [this](const gpu::DeviceEvent& event) { plugin_->OnEvent(event); },
                          .on_stir = [this] { plugin_->OnStir(); },
                          .on_hang = [this] { plugin_->OnHang(); }});
    TRY(reporting_.Start());
    plugin_ = std::make_unique<Plugin>(PartsOfPlugin(), settings_);
    mps_watch_ = std::make_unique<MpsWatch>(chores_, watcher_, *fs_,
                                            [this](MissingDaemons missing) { plugin_->OnDaemons(std::move(missing)); });
    if (!settings_->config_file.empty()) {
      ASSIGN(config_watch_, watcher_.Start({settings_->config_file}, [this](const auto&) { Reload(false); }));
    }
    plugin_->Start();
    return {};
  }

  /// Reads the settings anew; a file with mistakes is not used. Thread-safe.
  void Reload(bool register_anew) {
    chores_.Post([this, register_anew] {
      auto settings = Load(flags_, *fs_);
      if (settings)
        plugin_->Use(*std::move(settings), register_anew);
      else  // the last good settings stay
        log_.Error("the settings file is not used", {{"reason", settings.error().text}});
    });
  }

  /// Takes the sockets away. NVML's waits cannot be cut short, so the process ends without its destructors.
  void Stop() {
    reporting_.End();
    config_watch_.reset();
    socket_watch_.reset();
    mps_watch_->End();
    plugin_.reset();
  }

 private:
  Plugin::Parts PartsOfPlugin() {
    return {.executor = executor_,
            .driver = *driver_,
            .prepare = [this](auto gpus, auto settings, auto done) { Prepare(gpus, settings, std::move(done)); },
            .make_outlet = [this](auto first) { return MakeOutletFor(std::move(first)); },
            .log = log_,
            .report = [this](const Report& report) { reporting_.Tell(report); },
            .fatal =
                [this](const Error& error) {
                  log_.Error("cannot start", {{"reason", error.text}});
                  std::_Exit(1);
                }};
  }

  void Prepare(const std::shared_ptr<const gpu::Inventory>& gpus, const SharedSettings& settings,
               std::function<void(Result<Extras>)> done) {
    chores_.Post([this, gpus, settings, done = std::move(done)] {
      if (const auto followed = mps_watch_->Follow(MpsResources(*gpus, *settings)); !followed)
        log_.Error("MPS daemons are not watched", {{"reason", followed.error().text}});
      const auto driver = OpenRoot(settings->container_driver_root, fs_);
      const bool has_nodes = os::Exists(*driver, "/dev/nvidiactl").value_or(false);
      auto extras = PrepareHost({*fs_, *driver, has_nodes ? *driver : *fs_}, *gpus, *settings);
      executor_.Post([done, extras = std::move(extras)]() mutable { done(std::move(extras)); });
    });
  }

  std::unique_ptr<Outlet> MakeOutletFor(std::shared_ptr<const Offer> first) {
    sockets_.insert(folder_ + "/" + SocketNameOf(first->state.resource.name));
    WatchSockets();
    return std::make_unique<GrpcOutlet>(GrpcOutlet::Parts{.executor = executor_,
                                                          .chores = chores_,
                                                          .host = *fs_,
                                                          .log = log_,
                                                          .metrics = metrics_,
                                                          .folder = folder_,
                                                          .kubelet_socket = settings_->kubelet_socket,
                                                          .watched = [this] { plugin_->OnWatched(); }},
                                        std::move(first));
  }

  void WatchSockets() {
    std::vector<std::string> paths(sockets_.begin(), sockets_.end());
    const std::string kubelet = settings_->kubelet_socket;
    if (!kubelet.empty()) paths.push_back(kubelet);
    auto watch = watcher_.Start(std::move(paths), [this, kubelet](const std::vector<std::string>& changed) {
      if (std::ranges::find(changed, kubelet) != changed.end())
        plugin_->OnKubelet();
      else
        plugin_->OnSockets();
    });
    if (watch)
      socket_watch_ = *std::move(watch);
    else
      log_.Error("sockets are not watched", {{"reason", watch.error().text}});
  }

  const container::FlagValues flags_;
  const std::shared_ptr<os::Fs> fs_;
  const SharedSettings settings_;
  std::string folder_;
  SystemClock clock_;
  StderrLog log_{clock_};
  MetricRegistry metrics_;
  Reporting reporting_{{*fs_, log_, metrics_}, settings_};
  os::InotifyWatcher watcher_;
  std::set<std::string> sockets_;
  std::unique_ptr<os::Watch> config_watch_, socket_watch_;
  ThreadExecutor executor_{1}, chores_{2};
  std::unique_ptr<NvmlDriver> driver_;
  std::unique_ptr<Plugin> plugin_;
  std::unique_ptr<MpsWatch> mps_watch_;
};

int Complain(const Error& error) {
  std::fprintf(stderr, "nvidia-device-plugin: %s\n", error.text.c_str());
  return 1;
}

}  // namespace

int RunDevicePlugin(std::span<char* const> args) {
  const std::vector<std::string> words(args.begin(), args.end());
  if (std::ranges::find(words, "--help") != words.end() || std::ranges::find(words, "-h") != words.end()) {
    std::fputs(Help().c_str(), stdout);
    return 0;
  }
  os::KeepHeapSmall();
  const auto flags = ReadFlags(words, std::getenv);
  if (!flags) return Complain(flags.error());
  std::atomic<Program*> running = nullptr;
  const auto signals = os::StopSignals::Catch([&] {
    if (Program* const program = running) program->Reload(true);
  });
  if (!signals) return Complain(signals.error());
  auto fs = os::RealFs::Open("/", os::RealFs::Durability::kNone);
  if (!fs) return Complain(fs.error());
  const std::shared_ptr<os::Fs> files = *std::move(fs);
  const auto settings = Load(*flags, *files);
  if (!settings) return Complain(settings.error());
  Program program(*flags, files, *settings);
  if (const auto started = program.Start(); !started) return Complain(started.error());
  running = &program;
  std::binary_semaphore asked{0};
  const std::stop_callback wake((*signals)->token(), [&] { asked.release(); });
  asked.acquire();
  running = nullptr;
  program.Stop();
  std::_Exit(0);
}

}  // namespace gpuop::operands::device_plugin
