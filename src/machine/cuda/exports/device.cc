// cuInit, the version, errors, and devices.

#include <cstring>
#include <string>

#include "base/text.h"
#include "machine/cuda/driver/errors.h"
#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

/// Runs `call` with the device of an ordinal.
template <class F>
Cu WithDevice(int ordinal, F call) {
  return WithDriver([&](Driver& driver) {
    const Device* device = driver.FindDevice(ordinal);
    return device == nullptr ? Cu::kInvalidDevice : call(driver, *device);
  });
}

}  // namespace

GPUOP_CUDA Cu cuInit(unsigned flags) { return flags != 0 ? Cu::kInvalidValue : Initialize(); }

/// Needs no cuInit: what the machine's driver says, and without a machine the version that this library speaks.
GPUOP_CUDA Cu cuDriverGetVersion(int* version) {
  if (version == nullptr) return Cu::kInvalidValue;
  *version = 13000;
  if (const Driver* driver = TheDriver()) {
    *version = static_cast<int>(driver->cuda_version());
  } else if (const auto found = FindMachine()) {
    *version = static_cast<int>(found->state->Read()->cuda_driver);
  }
  return Cu::kSuccess;
}

GPUOP_CUDA Cu cuGetErrorName(Cu error, const char** text) {
  if (text == nullptr) return Cu::kInvalidValue;
  *text = ErrorName(error);
  return *text == nullptr ? Cu::kInvalidValue : Cu::kSuccess;
}
GPUOP_CUDA Cu cuGetErrorString(Cu error, const char** text) {
  if (text == nullptr) return Cu::kInvalidValue;
  *text = ErrorText(error);
  return *text == nullptr ? Cu::kInvalidValue : Cu::kSuccess;
}

GPUOP_CUDA Cu cuDeviceGetCount(int* count) {
  if (count == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    *count = static_cast<int>(driver.devices().size());
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGet(int* device, int ordinal) {
  if (device == nullptr) return Cu::kInvalidValue;
  return WithDevice(ordinal, [&](Driver&, const Device&) {
    *device = ordinal;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetName(char* name, int length, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device& device) {
    if (name == nullptr) return Cu::kInvalidValue;
    CopyText(device.name, name, length);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetUuid_v2(Uuid* uuid, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device& device) {
    if (uuid == nullptr) return Cu::kInvalidValue;
    *uuid = UuidBytes(device.uuid);
    return Cu::kSuccess;
  });
}
/// Of a whole GPU, whatever part of it the device is.
GPUOP_CUDA Cu cuDeviceGetUuid(Uuid* uuid, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device& device) {
    if (uuid == nullptr) return Cu::kInvalidValue;
    *uuid = UuidBytes(device.facts.uuid.view());
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceTotalMem_v2(std::size_t* bytes, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device& device) {
    if (bytes == nullptr) return Cu::kInvalidValue;
    *bytes = device.total_bytes;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetAttribute(int* value, int attribute, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device& device) {
    const auto found = AttributeOf(device, attribute);
    if (value == nullptr || !found) return Cu::kInvalidValue;
    *value = *found;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceComputeCapability(int* major, int* minor, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device& device) {
    if (major == nullptr || minor == nullptr) return Cu::kInvalidValue;
    *major = static_cast<int>(device.facts.compute_major);
    *minor = static_cast<int>(device.facts.compute_minor);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetPCIBusId(char* text, int length, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device& device) {
    if (text == nullptr) return Cu::kInvalidValue;
    CopyText(PciBusId(device), text, length);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetByPCIBusId(int* ordinal, const char* text) {
  if (ordinal == nullptr || text == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    for (const Device& device : driver.devices()) {
      const std::string id = PciBusId(device);
      const std::string_view wanted = text;
      // With or without domain and function: "0000:07:00.0", "07:00".
      if (!EqualsIgnoreCase(id, wanted) && !EqualsIgnoreCase(std::string_view(id).substr(5), wanted) &&
          !EqualsIgnoreCase(std::string_view(id).substr(5, 5), wanted))
        continue;
      *ordinal = device.ordinal;
      return Cu::kSuccess;
    }
    return Cu::kInvalidDevice;
  });
}
GPUOP_CUDA Cu cuDeviceCanAccessPeer(int* can, int ordinal, int peer) {
  return WithDevice(ordinal, [&](Driver& driver, const Device&) {
    if (can == nullptr) return Cu::kInvalidValue;
    if (driver.FindDevice(peer) == nullptr) return Cu::kInvalidDevice;
    *can = ordinal != peer ? 1 : 0;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetP2PAttribute(int* value, int attribute, int ordinal, int peer) {
  return WithDevice(ordinal, [&](Driver& driver, const Device& device) {
    const Device* other = driver.FindDevice(peer);
    if (other == nullptr || ordinal == peer) return Cu::kInvalidDevice;
    if (value == nullptr || attribute < 1 || attribute > 5) return Cu::kInvalidValue;
    const bool linked = device.facts.nvlinks != 0 && other->facts.nvlinks != 0;
    *value = attribute == 2 || (attribute == 3 && linked) ? 1 : 0;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetExecAffinitySupport(int* value, int, int ordinal) {
  return WithDevice(ordinal, [&](Driver&, const Device&) {
    if (value == nullptr) return Cu::kInvalidValue;
    *value = 0;
    return Cu::kSuccess;
  });
}

}  // namespace gpuop::machine::cuda
