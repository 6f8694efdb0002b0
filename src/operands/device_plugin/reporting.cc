#include "operands/device_plugin/reporting.h"

#include <algorithm>

#include "operands/status_server.h"

namespace gpuop::operands::device_plugin {
namespace {

constexpr const char* kProgram = "nvidia-device-plugin";
constexpr Duration kGateLimit = std::chrono::seconds(3);

Result<std::shared_ptr<const kube::Client>> OpenClient(const os::Fs& fs, const std::string& kubeconfig,
                                                       const std::stop_token& stop) {
  ASSIGN(auto api, kube::ApiDoor::Open(fs, kubeconfig, kProgram));
  return kube::HoldClient(std::move(api), stop);
}

Advertised AdvertisedOf(const Report& report) {
  Advertised out{.live = !report.resources.empty(), .healthy = {}};
  for (const auto& [name, line] : report.resources) {
    out.live = out.live && line.live;
    out.healthy[name] = static_cast<std::int64_t>(line.healthy);
  }
  return out;
}

}  // namespace

Reporting::Reporting(Parts parts, std::shared_ptr<const Settings> settings)
    : parts_(parts), settings_(std::move(settings)), expected_(CountPciGpus(parts.host)) {}

Reporting::~Reporting() {
  stop_.request_stop();
  gate_.reset();
  teller_.reset();
}

Result<> Reporting::Start() {
  if (!settings_->metrics_address.empty()) {
    io_ = std::make_unique<net::IoThread>();
    io_->Start();
    ASSIGN(server_, ServeStatus(*io_, settings_->metrics_address, parts_.metrics, [this] { return Ailment(); }));
  }
  if (settings_->tell_node) {
    teller_thread_ = std::make_unique<ThreadExecutor>(1);
    teller_ = std::make_unique<NodeTeller>(
        *teller_thread_, [this] { return OpenClient(parts_.host, settings_->kubeconfig, stop_.get_token()); },
        settings_->node, parts_.log);
  }
  if (settings_->gate.enabled()) TRY(StartGate());
  return {};
}

Result<> Reporting::StartGate() {
  ASSIGN(api_, kube::ApiDoor::Open(parts_.host, settings_->kubeconfig, kProgram));
  gate_ = std::make_unique<ReadinessGate>(ReadinessGate::Parts{.executor = api_->workers(),
                                                               .client = api_->MakeClient(stop_.get_token()),
                                                               .log = parts_.log,
                                                               .metrics = &parts_.metrics},
                                          settings_->node, settings_->gate);
  gate_->Start();
  return {};
}

void Reporting::Tell(const Report& report) {
  MetricRegistry& m = parts_.metrics;
  m.gauge("gpuop_device_plugin_gpus_expected", "GPUs on the node's buses.")
      .Set(static_cast<double>(std::max(expected_, report.known)));
  m.gauge("gpuop_device_plugin_gpus_present", "GPUs that can be read and have nothing against them.")
      .Set(static_cast<double>(report.fit));
  {
    Lock l(mu_);
    ailment_.clear();
    for (const auto& [name, line] : report.resources) {
      resources_.insert(name);
      if (!line.live && !settings_->kubelet_socket.empty())
        ailment_ += (ailment_.empty() ? "" : "; ") + name + ": the kubelet does not watch it";
    }
    // What is no longer offered counts nothing.
    for (const std::string& name : resources_) {
      const auto it = report.resources.find(name);
      const Report::Line line = it == report.resources.end() ? Report::Line() : it->second;
      const auto gauge = [&](const char* health) -> Gauge& {
        return m.gauge("gpuop_device_plugin_devices", "Devices that are offered.",
                       {{"resource", name}, {"health", health}});
      };
      gauge("healthy").Set(static_cast<double>(line.healthy));
      gauge("unhealthy").Set(static_cast<double>(line.unhealthy));
    }
    for (const auto& [gpu, trouble] : report.troubles) gpus_.insert(gpu);
    for (const std::string& gpu : gpus_)
      m.gauge("gpuop_device_plugin_gpu_unhealthy", "1 while something is wrong with a GPU; GPUs that ever had that.",
              {{"gpu", gpu}})
          .Set(report.troubles.contains(gpu) ? 1 : 0);
  }
  if (teller_) teller_->Tell(NewsOf(report, expected_));
  if (gate_) gate_->Set(AdvertisedOf(report));
}

std::string Reporting::Ailment() const {
  Lock l(mu_);
  return ailment_;
}

void Reporting::End() {
  if (gate_ && !gate_->End(kGateLimit)) parts_.log.Warn("the readiness gate may be left open");
}

}  // namespace gpuop::operands::device_plugin
