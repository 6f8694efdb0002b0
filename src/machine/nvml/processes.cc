// Who runs on a device, and how busy it is.

#include <algorithm>

#include "machine/nvml/library.h"

using namespace gpuop::machine::nvml;
using gpuop::machine::Place;
namespace layout = gpuop::machine::layout;

namespace {

constexpr std::uint32_t kCompute = 1, kGraphics = 2;
constexpr unsigned kSamplingUs = 1'000'000 / 6;

struct Process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
  unsigned utilization;
};

bool At(const Place& place, const layout::Client& client) {
  return client.device == place.device && (place.whole() || (client.gpu_instance == place.gpu_instance &&
                                                             client.compute_instance == place.compute_instance));
}

/// Several contexts of one process on one instance are one entry.
std::vector<Process> ProcessesOf(const Call& call, std::uint32_t kind) {
  std::vector<Process> out;
  for (std::uint32_t i = 0; i < call.machine().clients_end; ++i) {
    const layout::Client& client = call.machine().clients[i];
    if (client.in_use != kind || !At(call.place(), client)) continue;
    const auto pid = VisiblePid(client);
    if (!pid) continue;
    const auto same = std::ranges::find_if(out, [&](const Process& other) {
      return other.pid == *pid && other.gpu_instance == client.gpu_instance &&
             other.compute_instance == client.compute_instance;
    });
    if (same == out.end()) {
      out.push_back({*pid, client.bytes, client.gpu_instance, client.compute_instance, client.utilization});
    } else {
      same->bytes += client.bytes;
      same->utilization = std::min(100U, same->utilization + client.utilization);
    }
  }
  return out;
}

void Set(abi::ProcessInfoV1& out, const Process& process) { out = {process.pid, process.bytes}; }
void Set(auto& out, const Process& process) {
  out.pid = process.pid;
  out.usedGpuMemory = process.bytes;
  out.gpuInstanceId = process.gpu_instance;
  out.computeInstanceId = process.compute_instance;
}

template <class T>
Return List(const char* name, abi::Device device, std::uint32_t kind, unsigned* count, T* infos) {
  if (count == nullptr) return Return::kInvalidArgument;
  const Call call(name, device, Needs::kAny);
  if (!call.ok()) return call.error();
  const auto processes = ProcessesOf(call, kind);
  const unsigned room = *count;
  *count = static_cast<unsigned>(processes.size());
  if (room < processes.size()) return Return::kInsufficientSize;
  if (!processes.empty() && infos == nullptr) return Return::kInvalidArgument;
  for (std::size_t i = 0; i < processes.size(); ++i) Set(infos[i], processes[i]);
  return Return::kSuccess;
}

/// A figure that a GPU in MIG mode does not have as a whole.
Return Utilization(const char* name, abi::Device device, unsigned* percent, unsigned* period, bool has, auto of) {
  if (percent == nullptr || period == nullptr) return Return::kInvalidArgument;
  const Call call(name, device, Needs::kWorking);
  if (!call.ok()) return call.error();
  if (call.device().mig_current != 0 || !has) return Return::kNotSupported;
  *percent = of(call);
  *period = kSamplingUs;
  return Return::kSuccess;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetComputeRunningProcesses_v3(abi::Device device, unsigned* count, abi::ProcessInfo* infos) {
  return List(__func__, device, kCompute, count, infos);
}
Return nvmlDeviceGetComputeRunningProcesses_v2(abi::Device device, unsigned* count, abi::ProcessInfoV2* infos) {
  return List(__func__, device, kCompute, count, infos);
}
Return nvmlDeviceGetComputeRunningProcesses(abi::Device device, unsigned* count, abi::ProcessInfoV1* infos) {
  return List(__func__, device, kCompute, count, infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v3(abi::Device device, unsigned* count, abi::ProcessInfo* infos) {
  return List(__func__, device, kGraphics, count, infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v2(abi::Device device, unsigned* count, abi::ProcessInfoV2* infos) {
  return List(__func__, device, kGraphics, count, infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses(abi::Device device, unsigned* count, abi::ProcessInfoV1* infos) {
  return List(__func__, device, kGraphics, count, infos);
}
// No MPS server runs on these machines: its lists are empty.
Return nvmlDeviceGetMPSComputeRunningProcesses_v3(abi::Device device, unsigned* count, abi::ProcessInfo* infos) {
  return List(__func__, device, 3, count, infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v2(abi::Device device, unsigned* count, abi::ProcessInfoV2* infos) {
  return List(__func__, device, 3, count, infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses(abi::Device device, unsigned* count, abi::ProcessInfoV1* infos) {
  return List(__func__, device, 3, count, infos);
}

Return nvmlDeviceGetRunningProcessDetailList(abi::Device device, abi::ProcessDetailListV1* list) {
  GPUOP_NOT_NULL(list);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (list->version != abi::kVersionOfProcessDetailListV1) return Return::kArgumentVersionMismatch;
  if (list->mode > 2) return Return::kInvalidArgument;
  const auto processes = ProcessesOf(call, list->mode == 0 ? kCompute : list->mode == 1 ? kGraphics : 3);
  const unsigned room = list->numProcArrayEntries;
  list->numProcArrayEntries = static_cast<unsigned>(processes.size());
  if (room < processes.size()) return Return::kInsufficientSize;
  if (!processes.empty() && list->procArray == nullptr) return Return::kInvalidArgument;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    Set(list->procArray[i], processes[i]);
    list->procArray[i].usedGpuCcProtectedMemory = 0;
  }
  return Return::kSuccess;
}

Return nvmlDeviceGetUtilizationRates(abi::Device device, abi::Utilization* utilization) {
  GPUOP_NOT_NULL(utilization);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.device().mig_current != 0) return Return::kNotSupported;
  *utilization = {.gpu = call.device().utilization_gpu, .memory = call.device().utilization_memory};
  return Return::kSuccess;
}

Return nvmlDeviceGetEncoderUtilization(abi::Device device, unsigned* percent, unsigned* period) {
  return Utilization(__func__, device, percent, period, true,
                     [](const Call& call) { return call.device().utilization_encoder; });
}
Return nvmlDeviceGetDecoderUtilization(abi::Device device, unsigned* percent, unsigned* period) {
  return Utilization(__func__, device, percent, period, true,
                     [](const Call& call) { return call.device().utilization_decoder; });
}
Return nvmlDeviceGetJpgUtilization(abi::Device device, unsigned* percent, unsigned* period) {
  return Utilization(__func__, device, percent, period, true, [](const Call&) { return 0U; });
}
Return nvmlDeviceGetOfaUtilization(abi::Device device, unsigned* percent, unsigned* period) {
  return Utilization(__func__, device, percent, period, true, [](const Call&) { return 0U; });
}

Return nvmlDeviceGetProcessUtilization(abi::Device device, abi::ProcessUtilizationSample* samples, unsigned* count,
                                       unsigned long long last_seen) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.device().mig_current != 0) return Return::kNotSupported;
  const auto processes = ProcessesOf(call, kCompute);
  const unsigned long long now = gpuop::machine::RealtimeNs() / 1000;
  const unsigned room = *count;
  *count = static_cast<unsigned>(processes.size());
  if (processes.empty() || last_seen > now) return Return::kNotFound;
  if (samples == nullptr || room < processes.size()) return Return::kInsufficientSize;
  for (std::size_t i = 0; i < processes.size(); ++i)
    samples[i] = {.pid = processes[i].pid,
                  .timeStamp = now,
                  .smUtil = processes[i].utilization,
                  .memUtil = processes[i].utilization / 2,
                  .encUtil = 0,
                  .decUtil = 0};
  return Return::kSuccess;
}

Return nvmlDeviceGetProcessesUtilizationInfo(abi::Device device, abi::ProcessesUtilizationInfoV1* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (info->version != abi::VersionOf<abi::ProcessesUtilizationInfoV1>(1)) return Return::kArgumentVersionMismatch;
  if (call.device().mig_current != 0) return Return::kNotSupported;
  const auto processes = ProcessesOf(call, kCompute);
  const unsigned room = info->processSamplesCount;
  info->processSamplesCount = static_cast<unsigned>(processes.size());
  if (processes.empty()) return Return::kNotFound;
  if (info->procUtilArray == nullptr || room < processes.size()) return Return::kInsufficientSize;
  for (std::size_t i = 0; i < processes.size(); ++i)
    info->procUtilArray[i] = {.timeStamp = gpuop::machine::RealtimeNs() / 1000,
                              .pid = processes[i].pid,
                              .smUtil = processes[i].utilization,
                              .memUtil = processes[i].utilization / 2,
                              .encUtil = 0,
                              .decUtil = 0,
                              .jpgUtil = 0,
                              .ofaUtil = 0};
  return Return::kSuccess;
}

Return nvmlDeviceGetSamples(abi::Device device, abi::SamplingType type, unsigned long long last_seen,
                            abi::ValueType* value_type, unsigned* count, abi::Sample* samples) {
  GPUOP_NOT_NULL(value_type, count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const auto& now = call.device();
  unsigned value = 0;
  switch (type) {
    case abi::SamplingType::kTotalPowerSamples: value = now.power_mw; break;
    case abi::SamplingType::kGpuUtilizationSamples: value = now.utilization_gpu; break;
    case abi::SamplingType::kMemoryUtilizationSamples: value = now.utilization_memory; break;
    case abi::SamplingType::kEncUtilizationSamples: value = now.utilization_encoder; break;
    case abi::SamplingType::kDecUtilizationSamples: value = now.utilization_decoder; break;
    case abi::SamplingType::kProcessorClkSamples: value = now.clock_mhz[layout::kClockSm]; break;
    case abi::SamplingType::kMemoryClkSamples: value = now.clock_mhz[layout::kClockMemory]; break;
    default: return Return::kNotSupported;
  }
  if (now.mig_current != 0 && type != abi::SamplingType::kTotalPowerSamples) return Return::kNotSupported;
  // The machine keeps no history: its one sample is now.
  const unsigned long long stamp = gpuop::machine::RealtimeNs() / 1000;
  *value_type = abi::ValueType::kUnsignedInt;
  if (samples == nullptr) {
    *count = 1;
    return Return::kSuccess;
  }
  if (*count == 0) return Return::kInvalidArgument;
  if (stamp <= last_seen) return Return::kNotFound;
  *count = 1;
  samples[0].timeStamp = stamp;
  samples[0].sampleValue.uiVal = value;
  return Return::kSuccess;
}

Return nvmlDeviceGetHostVgpuMode(abi::Device, abi::HostVgpuMode*) { return Return::kNotSupported; }
Return nvmlDeviceSetVirtualizationMode(abi::Device, abi::GpuVirtualizationMode) { return Return::kNotSupported; }
Return nvmlDeviceGetGridLicensableFeatures_v4(abi::Device device, abi::GridLicensableFeatures* features) {
  GPUOP_NOT_NULL(features);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  *features = {};
  return Return::kSuccess;
}
Return nvmlDeviceGetActiveVgpus(abi::Device, unsigned*, unsigned*) { return Return::kNotSupported; }

}  // extern "C"
