// Start, end, and the system as a whole.

#include <cstdio>
#include <cstring>
#include <fstream>

#include "machine/nvml/error_text.h"
#include "machine/nvml/library.h"

namespace gpuop::machine::nvml {
namespace {

/// The CUDA version a driver supports stands in its NVML's version: "12.550.163.01".
std::string LibraryVersion(const layout::Machine& machine) {
  return std::to_string(machine.cuda_driver / 1000) + "." + std::string(machine.driver_version.view());
}

}  // namespace
}  // namespace gpuop::machine::nvml

using namespace gpuop::machine::nvml;
namespace layout = gpuop::machine::layout;

extern "C" {

Return nvmlInit_v2() { return Library::Get().Start(); }
Return nvmlInit() { return nvmlInit_v2(); }
Return nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }
Return nvmlShutdown() { return Library::Get().Stop(); }

const char* nvmlErrorString(Return result) { return ErrorText(result); }

Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
  const Call call(__func__);
  return call.ok() ? CopyText(call.machine().driver_version.view(), version, length) : call.error();
}

Return nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  const Call call(__func__);
  return call.ok() ? CopyText(LibraryVersion(call.machine()), version, length) : call.error();
}

Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  GPUOP_NOT_NULL(version);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  *version = static_cast<int>(call.machine().cuda_driver);
  return Return::kSuccess;
}
Return nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

Return nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  GPUOP_NOT_NULL(name);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  std::ifstream in("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::string line;
  if (!std::getline(in, line, '\0') || line.empty()) return Return::kNotFound;
  return CopyText(std::string_view(line).substr(0, length == 0 ? 0 : length - 1), name, length);
}

Return nvmlSystemGetDriverBranch(abi::SystemDriverBranchInfoV1* info, unsigned length) {
  GPUOP_NOT_NULL(info);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  const auto version = call.machine().driver_version.view();
  return CopyText("r" + std::string(version.substr(0, version.find('.'))) + "_00", info->branch,
                  std::min<unsigned>(length, sizeof info->branch));
}

Return nvmlUnitGetCount(unsigned* count) {
  GPUOP_NOT_NULL(count);
  const Call call(__func__);
  if (call.ok()) *count = 0;
  return call.error();
}

Return nvmlSystemGetConfComputeCapabilities(abi::ConfComputeSystemCaps* capabilities) {
  GPUOP_NOT_NULL(capabilities);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  bool capable = false;
  for (const std::uint32_t index : call.library().visible)
    capable |= call.machine().devices[index].facts.architecture >= layout::Architecture::kHopper &&
               call.machine().devices[index].facts.unified_memory == 0;
  *capabilities = {.cpuCaps = abi::kCcSystemCpuCapsNone,
                   .gpusCaps = capable ? abi::kCcSystemGpusCcCapable : abi::kCcSystemGpusCcNotCapable};
  return Return::kSuccess;
}

Return nvmlSystemGetConfComputeState(abi::ConfComputeSystemState* state) {
  GPUOP_NOT_NULL(state);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  *state = {.environment =
                call.machine().confidential != 0 ? abi::kCcSystemEnvironmentProd : abi::kCcSystemEnvironmentUnavailable,
            .ccFeature = call.machine().confidential,
            .devToolsMode = abi::kCcSystemDevtoolsModeOff};
  return Return::kSuccess;
}

Return nvmlSystemGetConfComputeGpusReadyState(unsigned* accepting) {
  GPUOP_NOT_NULL(accepting);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  if (call.machine().confidential == 0) return Return::kNotSupported;
  *accepting = 1;
  return Return::kSuccess;
}

Return nvmlSystemGetConfComputeSettings(abi::SystemConfComputeSettingsV1* settings) {
  GPUOP_NOT_NULL(settings);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  if (settings->version != abi::kVersionOfSystemConfComputeSettingsV1) return Return::kArgumentVersionMismatch;
  settings->environment = settings->devToolsMode = settings->multiGpuMode = 0;
  settings->ccFeature = call.machine().confidential;
  return Return::kSuccess;
}

Return nvmlSystemGetConfComputeSettings_v2(abi::SystemConfComputeSettingsV2* settings) {
  GPUOP_NOT_NULL(settings);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  if (settings->version != abi::kVersionOfSystemConfComputeSettingsV2) return Return::kArgumentVersionMismatch;
  settings->environment = settings->devToolsMode = settings->multiGpuMode = settings->tdispState = 0;
  settings->ccFeature = call.machine().confidential;
  return Return::kSuccess;
}

}  // extern "C"
