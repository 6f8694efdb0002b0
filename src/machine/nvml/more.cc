#include "machine/nvml/library.h"
#include "machine/nvml/more_functions.h"

using namespace gpuop::machine::nvml;

extern "C" {

Return nvmlDeviceGetMultiGpuBoard(abi::Device device, unsigned* multi) {
  GPUOP_NOT_NULL(multi);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  *multi = 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetDefaultEccMode(abi::Device device, abi::EnableState* mode) {
  GPUOP_NOT_NULL(mode);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().ecc_supported == 0) return Return::kNotSupported;
  *mode = abi::EnableState::kEnabled;
  return Return::kSuccess;
}

Return nvmlDeviceValidateInforom(abi::Device device) {
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return call.facts().inforom_image.empty() ? Return::kNotSupported : Return::kSuccess;
}

Return nvmlDeviceGetEncoderStats(abi::Device device, unsigned* sessions, unsigned* fps, unsigned* latency) {
  GPUOP_NOT_NULL(sessions, fps, latency);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  *sessions = *fps = *latency = 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetAccountingMode(abi::Device device, abi::EnableState* mode) {
  GPUOP_NOT_NULL(mode);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  *mode = static_cast<abi::EnableState>(call.device().accounting);
  return Return::kSuccess;
}

Return nvmlDeviceGetMinMaxFanSpeed(abi::Device device, unsigned* low, unsigned* high) {
  GPUOP_NOT_NULL(low, high);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().fans == 0) return Return::kNotSupported;
  *low = 30;
  *high = 100;
  return Return::kSuccess;
}

Return nvmlGetExcludedDeviceCount(unsigned* count) {
  GPUOP_NOT_NULL(count);
  const Call call(__func__);
  if (call.ok()) *count = 0;
  return call.error();
}

}  // extern "C"
