#include "operands/validator/metrics.h"

#include <algorithm>

#include "base/stop.h"
#include "kube/cache.h"
#include "net/server.h"
#include "operands/host/host_check.h"
#include "operands/validator/resources.h"
#include "os/pci.h"

namespace gpuop::operands::validator {
namespace {

constexpr std::uint16_t kNvidia = 0x10de;

double Seconds(WallTime at) { return std::chrono::duration<double>(at.time_since_epoch()).count(); }

bool DriverWorks(const os::Fs& kernel) {
  // Libraries are the container's affair: what counts here is what the kernel shows.
  const host::HostState state = host::CheckHost(kernel, kernel);
  return state.module_loaded && std::ranges::none_of(state.findings, [](const api::Finding& finding) {
           return finding.code != api::ReasonCode::kDriverLibraryMissing;
         });
}

std::int64_t CountPciDevices(const os::Fs& kernel) {
  const auto devices = os::ReadPciDevices(kernel);
  return devices ? std::ranges::count(*devices, kNvidia, &os::PciDevice::vendor) : -1;
}

}  // namespace

NodeMetrics::NodeMetrics(const std::string& node, const StatusFiles& files, const os::Fs& own, const os::Fs* host,
                         const Clock& clock)
    : files_(files),
      kernel_(host != nullptr ? *host : own),
      clock_(clock),
      driver_ready_(
          registry_.gauge("gpu_operator_node_driver_ready", "whether driver-ready is there", {{"node", node}})),
      toolkit_ready_(
          registry_.gauge("gpu_operator_node_toolkit_ready", "whether toolkit-ready is there", {{"node", node}})),
      plugin_ready_(
          registry_.gauge("gpu_operator_node_plugin_ready", "whether plugin-ready is there", {{"node", node}})),
      cuda_ready_(registry_.gauge("gpu_operator_node_cuda_ready", "whether cuda-ready is there", {{"node", node}})),
      driver_validation_(registry_.gauge("gpu_operator_node_driver_validation",
                                         "whether kernel module and device nodes are as they should be",
                                         {{"node", node}})),
      driver_success_(registry_.gauge("gpu_operator_node_driver_validation_last_success_ts_seconds",
                                      "when they last were", {{"node", node}})),
      devices_(registry_.gauge("gpu_operator_node_device_plugin_devices_total",
                               "GPUs and MIG devices that the node offers; -1 when that is not known",
                               {{"node", node}})),
      plugin_success_(registry_.gauge("gpu_operator_node_device_plugin_validation_last_success_ts_seconds",
                                      "when it last offered any", {{"node", node}})),
      pci_devices_(registry_.gauge("gpu_operator_nvidia_pci_devices_total",
                                   "NVIDIA's functions on the PCI bus; -1 when it cannot be read", {{"node", node}})),
      metrics_ready_(registry_.gauge("gpu_operator_node_metrics_ready_ts_seconds", "when these were looked at",
                                     {{"node", node}})) {
  devices_.Set(-1);
}

void NodeMetrics::SetDevices(std::int64_t devices) {
  devices_.Set(static_cast<double>(devices));
  if (devices > 0) plugin_success_.Set(Seconds(clock_.Wall()));
}

void NodeMetrics::Look() {
  driver_ready_.Set(files_.Has("driver-ready") ? 1 : 0);
  toolkit_ready_.Set(files_.Has("toolkit-ready") ? 1 : 0);
  plugin_ready_.Set(files_.Has("plugin-ready") ? 1 : 0);
  cuda_ready_.Set(files_.Has("cuda-ready") ? 1 : 0);
  const double now = Seconds(clock_.Wall());
  const bool works = DriverWorks(kernel_);
  driver_validation_.Set(works ? 1 : 0);
  if (works) driver_success_.Set(now);
  if (devices_.value() > 0) plugin_success_.Set(now);
  pci_devices_.Set(static_cast<double>(CountPciDevices(kernel_)));
  metrics_ready_.Set(now);
}

std::string NodeMetrics::Text() {
  Lock l(mu_);
  if (const TimePoint now = clock_.Now(); !ever_ || now - looked_ >= std::chrono::seconds(1)) {
    Look();
    looked_ = now;
    ever_ = true;
  }
  return registry_.Text();
}

Result<> RunMetrics(const Surroundings& with, net::IoThread& io) {
  NodeMetrics metrics(with.options.node, with.files, with.own, with.host, with.clock);
  std::unique_ptr<kube::Cache<kube::Node>> nodes;
  if (with.client != nullptr) {
    nodes = std::make_unique<kube::Cache<kube::Node>>(
        *with.executor, *with.client,
        kube::CacheOptions{.field_selector = "metadata.name=" + with.options.node, .log = &with.log});
    nodes->OnChange([&](const kube::Change<kube::Node>& change) {
      std::int64_t devices = 0;
      if (change.now)
        for (const GpuResource& resource : GpuResources(*change.now)) devices += resource.allocatable;
      metrics.SetDevices(devices);
    });
    nodes->Start();
  } else {
    with.log.Warn("what the node offers is not known", {{"reason", with.api_error}});
  }
  net::Server server(io, [&](const net::Request& request, net::Responder responder) {
    if (request.Path() != "/metrics") return responder.Send({.status = 404, .body = net::MakeBody("try /metrics\n")});
    responder.Send({.headers = {{"Content-Type", std::string(MetricRegistry::kContentType)}},
                    .body = net::MakeBody(metrics.Text())});
  });
  ASSIGN(const std::string address, server.Listen(":" + std::to_string(with.options.metrics_port)));
  with.log.Info("metrics are served", {{"address", address}});
  WaitForStop(with.stop);
  return {};
}

}  // namespace gpuop::operands::validator
