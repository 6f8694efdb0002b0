// GPM: metrics between two samples (Hopper and later).

#include <cmath>

#include "machine/nvml/library.h"

namespace gpuop::machine::nvml {
namespace {

/// What nvmlGpmSample_t points to: the device's figures at one moment.
struct Sample {
  std::uint64_t at_ns = 0;
  double percent = 0;
  double dram_percent = 0;
  std::uint64_t pcie_tx_kb_s = 0, pcie_rx_kb_s = 0;
  std::uint64_t link_rx_kib = 0, link_tx_kib = 0;
};

Sample* Of(abi::GpmSample sample) { return reinterpret_cast<Sample*>(sample); }

/// `instance`: of the clients on one GPU instance alone, in percent of that instance.
void Take(const Call& call, std::uint32_t instance, Sample& out) {
  const layout::Device& device = call.device();
  double sum = 0;
  for (std::uint32_t i = 0; i < call.machine().clients_end; ++i) {
    const layout::Client& client = call.machine().clients[i];
    if (client.in_use != 0 && client.device == call.place().device &&
        (instance == layout::kNoInstance || client.gpu_instance == instance))
      sum += client.utilization;
  }
  out = {.at_ns = RealtimeNs(), .percent = std::min(sum, 100.0), .dram_percent = std::min(sum, 100.0) / 2};
  out.pcie_tx_kb_s = device.pcie_tx_kb_s;
  out.pcie_rx_kb_s = device.pcie_rx_kb_s;
  for (const layout::Link& link : device.links) {
    out.link_rx_kib += link.rx_kib;
    out.link_tx_kib += link.tx_kib;
  }
}

double Rate(std::uint64_t before, std::uint64_t after, double seconds) {
  return after < before || seconds <= 0 ? 0 : static_cast<double>(after - before) / 1024 / seconds;
}

/// One metric; kNotSupported for what these machines do not count.
Return Metric(unsigned id, const Sample& a, const Sample& b, double* value) {
  const double seconds = static_cast<double>(b.at_ns - a.at_ns) / 1e9;
  using Id = abi::GpmMetricId;
  switch (static_cast<Id>(id)) {
    case Id::kGraphicsUtil:
    case Id::kSmUtil: *value = (a.percent + b.percent) / 2; return Return::kSuccess;
    case Id::kSmOccupancy:
    case Id::kFp32Util:
    case Id::kIntegerUtil: *value = (a.percent + b.percent) / 4; return Return::kSuccess;
    case Id::kDramBwUtil: *value = (a.dram_percent + b.dram_percent) / 2; return Return::kSuccess;
    case Id::kPcieTxPerSec: *value = static_cast<double>(b.pcie_tx_kb_s) / 1024; return Return::kSuccess;
    case Id::kPcieRxPerSec: *value = static_cast<double>(b.pcie_rx_kb_s) / 1024; return Return::kSuccess;
    default: break;
  }
  if (id == 60) {
    *value = Rate(a.link_rx_kib, b.link_rx_kib, seconds);
    return Return::kSuccess;
  }
  if (id == 61) {
    *value = Rate(a.link_tx_kib, b.link_tx_kib, seconds);
    return Return::kSuccess;
  }
  if ((id >= 5 && id <= 13) || (id >= 30 && id <= 37) || (id >= 40 && id <= 47) || id == 50 || id == 51) {
    *value = 0;
    return Return::kSuccess;
  }
  return Return::kNotSupported;
}

}  // namespace
}  // namespace gpuop::machine::nvml

using namespace gpuop::machine::nvml;
namespace layout = gpuop::machine::layout;

extern "C" {

Return nvmlGpmQueryDeviceSupport(abi::Device device, abi::GpmSupport* support) {
  GPUOP_NOT_NULL(support);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (support->version != abi::kGpmSupportVersion) return Return::kArgumentVersionMismatch;
  support->isSupportedDevice = call.facts().gpm_supported;
  return Return::kSuccess;
}

Return nvmlGpmSampleAlloc(abi::GpmSample* sample) {
  GPUOP_NOT_NULL(sample);
  *sample = reinterpret_cast<abi::GpmSample>(new Sample);
  return Return::kSuccess;
}

Return nvmlGpmSampleFree(abi::GpmSample sample) {
  GPUOP_NOT_NULL(sample);
  delete Of(sample);
  return Return::kSuccess;
}

Return nvmlGpmSampleGet(abi::Device device, abi::GpmSample sample) {
  GPUOP_NOT_NULL(sample);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().gpm_supported == 0) return Return::kNotSupported;
  Take(call, layout::kNoInstance, *Of(sample));
  return Return::kSuccess;
}

Return nvmlGpmMigSampleGet(abi::Device device, unsigned gpu_instance, abi::GpmSample sample) {
  GPUOP_NOT_NULL(sample);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().gpm_supported == 0) return Return::kNotSupported;
  if (gpu_instance >= layout::kMaxGpuInstances || call.device().instances[gpu_instance].in_use == 0)
    return Return::kInvalidArgument;
  Take(call, gpu_instance, *Of(sample));
  return Return::kSuccess;
}

Return nvmlGpmMetricsGet(abi::GpmMetricsGet* get) {
  GPUOP_NOT_NULL(get);
  if (get->version != abi::kGpmMetricsGetVersion) return Return::kArgumentVersionMismatch;
  GPUOP_NOT_NULL(get->sample1, get->sample2);
  constexpr auto kMost = static_cast<unsigned>(abi::GpmMetricId::kMax);
  if (get->numMetrics > kMost) return Return::kInvalidArgument;
  const Sample &a = *Of(get->sample1), &b = *Of(get->sample2);
  if (a.at_ns == 0 || b.at_ns < a.at_ns) return Return::kInvalidArgument;
  for (unsigned i = 0; i < get->numMetrics; ++i) {
    auto& metric = get->metrics[i];
    metric.value = std::nan("");
    metric.nvmlReturn = Metric(metric.metricId, a, b, &metric.value);
  }
  return Return::kSuccess;
}

}  // extern "C"
