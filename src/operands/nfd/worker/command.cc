#include "operands/nfd/worker/command.h"

#include <algorithm>

#include "base/rng.h"
#include "base/text.h"
#include "kube/api_door.h"
#include "operands/nfd/gates.h"
#include "operands/nfd/program.h"
#include "operands/nfd/sources/feature_file.h"
#include "operands/nfd/worker/outputs.h"
#include "os/heap.h"
#include "os/kernel_events.h"
#include "os/watcher.h"

namespace gpuop::operands::nfd {
namespace {

constexpr const char* kName = "nfd-worker";
/// All workers of a cluster may start at once: they come to the API within this time.
constexpr std::chrono::milliseconds kStartSpread{500};

/// What tells of changes on the node.
struct Signals {
  os::InotifyWatcher watcher;
  std::unique_ptr<os::Watch> files, hardware_files;
  std::unique_ptr<os::KernelEvents> kernel;
};

/// Whether sources that are not asked in every pass have to be.
bool Matters(const os::KernelEvent& event) {
  static constexpr std::string_view kSubsystems[] = {"",   "module", "pci", "usb",  "block",
                                                     "nd", "cpu",    "dax", "node", "memory"};
  return event.action != "bind" && event.action != "unbind" &&
         std::ranges::find(kSubsystems, event.subsystem) != std::end(kSubsystems);
}

Result<> Listen(const container::FlagValues& flags, const WorkerProgram& program, const Host& host, WakeUps& wake_ups,
                Log& log, Signals& out) {
  const os::Fs& fs = host.fs();
  std::vector<std::string> paths = {host.At(kFeaturesFolder), kCustomFolder};
  if (!program.config_file.empty()) paths.push_back(program.config_file);
  const auto on_change = [&, features = paths[0]](const std::vector<std::string>& changed) {
    const auto of_features = std::ranges::count(changed, features);
    if (of_features > 0) wake_ups.Wake();  // whatever becomes of settings that changed together with them
    if (static_cast<std::size_t>(of_features) == changed.size()) return;
    auto settings = ReadWorkerSettings(flags, fs);
    if (settings) {
      log.Info("settings read");
      wake_ups.Use(*std::move(settings));
    } else {
      log.Error("the settings are not used, the last good ones stay", {{"reason", settings.error().text}});
    }
  };
  ASSIGN(out.files, out.watcher.Start(std::move(paths), on_change));
  ASSIGN(out.hardware_files,
         out.watcher.Start({host.At("/sys/module"), host.At("/sys/bus/pci/devices"), host.At("/etc/os-release")},
                           [&wake_ups](const std::vector<std::string>&) { wake_ups.WakeAll(); }));
  auto kernel = os::KernelEvents::Start([&wake_ups](const os::KernelEvent& event) {
    if (Matters(event)) wake_ups.WakeAll();
    if (event.subsystem == "net") wake_ups.Wake();
  });
  if (kernel)
    out.kernel = *std::move(kernel);
  else
    log.Warn("hardware that comes or goes is seen at the next start only", {{"reason", kernel.error().text}});
  return {};
}

Result<> Serve(const container::FlagValues& flags, const os::Fs& fs, const std::stop_token& stop) {
  ASSIGN(const WorkerProgram program, MakeWorkerProgram(flags, net::ProcessEnv));
  ASSIGN(WorkerSettings settings, ReadWorkerSettings(flags, fs));
  ASSIGN(const auto api, kube::ApiDoor::Open(fs, program.kubeconfig, kName));
  StderrLog log(api->workers());
  MetricRegistry metrics;
  Rng rng(RandomSeed());
  const Host host(fs, program.host_root);
  const kube::Client client = api->MakeClient(stop);
  NodeDiscovery discovery(host, program.node, api->workers(), log);
  Publisher publisher(client, program, log);
  ASSIGN(const FeatureGates gates, ReadGates(flags.Text("feature-gates")));
  WakeUps wake_ups;
  // A change of the rules may be one of the whole cluster, such as definitions that are installed anew.
  RulesInUse rules(api->workers(), client, gates.node_feature_groups, log, metrics, [&](bool anew) {
    if (anew) publisher.Distrust();
    wake_ups.Wake();
  });
  ObjectOutput object(publisher, rules, !program.oneshot, log);
  std::unique_ptr<NodeOutput> node;
  if (settings.label_node && !program.oneshot)
    node = std::make_unique<NodeOutput>(api->workers(), client, program, settings, log, metrics);
  FactsOutput& output = node ? static_cast<FactsOutput&>(*node) : object;
  Worker worker(discovery, output, wake_ups, api->workers(), log, metrics, rng.Next());
  if (program.oneshot) return worker.Pass(settings, true);
  ASSIGN(const auto server, ServeHealth(api->io(), metrics, program.port));
  Signals signals;
  TRY(Listen(flags, program, host, wake_ups, log, signals));
  if (!kube::BlockingWait(std::chrono::duration_cast<Duration>(kStartSpread * rng.Unit()), stop)) return {};
  worker.Run(std::move(settings), stop);
  return {};
}

}  // namespace

int RunNfdWorker(std::span<char* const> args) {
  os::KeepHeapSmall();
  return RunProgram({kName, "says what a node has", WorkerFlags()}, args, Serve);
}

}  // namespace gpuop::operands::nfd
