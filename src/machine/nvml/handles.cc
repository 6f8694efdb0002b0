// From an index, a name or an address to a device, and from a device to its MIG devices.

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "machine/nvml/glance.h"
#include "machine/nvml/library.h"
#include "machine/nvml/names.h"
#include "machine/spec/pci_address.h"

using namespace gpuop::machine::nvml;
using gpuop::machine::MigUuid;
using gpuop::machine::Place;
using gpuop::machine::VisibleInstances;
namespace layout = gpuop::machine::layout;

namespace {

/// A device that a process asks for anew must be able to answer.
Return Hand(std::uint32_t faults, std::uint32_t index, abi::Device* device) {
  if ((faults & layout::kFaultOffBus) != 0) return Return::kUnknown;
  if ((faults & layout::kFaultPowerCable) != 0) return Return::kInsufficientPower;
  *device = DeviceHandleOf({.device = index});
  return Return::kSuccess;
}

template <class Is>
Return Find(const Call& call, abi::Device* device, Is is) {
  for (const std::uint32_t index : call.library().visible)
    if (const layout::Device& found = call.machine().devices[index]; is(found.facts))
      return Hand(found.faults, index, device);
  return Return::kNotFound;
}

Return FindUuid(const Call& call, std::string_view uuid, abi::Device* device) {
  for (const std::uint32_t index : call.library().visible)
    for (const Place& place : VisibleInstances(call.machine(), call.nodes(), index))
      if (MigUuid(call.machine().devices[index], place.gpu_instance, place.compute_instance) == uuid) {
        *device = DeviceHandleOf(place);
        return Return::kSuccess;
      }
  return Find(call, device, [&](const layout::DeviceFacts& facts) { return facts.uuid.view() == uuid; });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetCount_v2(unsigned* count) {
  GPUOP_NOT_NULL(count);
  if (const Glance glance; glance.ok()) {
    *count = static_cast<unsigned>(glance.visible().size());
    return Return::kSuccess;
  }
  const Call call(__func__);
  if (call.ok()) *count = static_cast<unsigned>(call.library().visible.size());
  return call.error();
}
Return nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

Return nvmlDeviceGetHandleByIndex(unsigned index, abi::Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, abi::Device* device) {
  GPUOP_NOT_NULL(device);
  if (const Glance glance; glance.ok() && index < glance.visible().size()) {
    const std::uint32_t place = glance.visible()[index];
    return Hand(glance.FaultsOf(place), place, device);
  }
  const Call call(__func__);
  if (!call.ok()) return call.error();
  const auto& visible = call.library().visible;
  if (index >= visible.size()) return Return::kInvalidArgument;
  return Hand(call.machine().devices[visible[index]].faults, visible[index], device);
}

Return nvmlDeviceGetHandleBySerial(const char* serial, abi::Device* device) {
  GPUOP_NOT_NULL(serial, device);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  return Find(call, device, [&](const auto& facts) { return !facts.serial.empty() && facts.serial.view() == serial; });
}

Return nvmlDeviceGetHandleByUUID(const char* uuid, abi::Device* device) {
  GPUOP_NOT_NULL(uuid, device);
  const Call call(__func__);
  return call.ok() ? FindUuid(call, uuid, device) : call.error();
}

Return nvmlDeviceGetHandleByUUIDV(const abi::UUIDV1* uuid, abi::Device* device) {
  GPUOP_NOT_NULL(uuid, device);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  if (uuid->version != abi::VersionOf<abi::UUIDV1>(1)) return Return::kArgumentVersionMismatch;
  if (uuid->type == 1)
    return FindUuid(call, {uuid->value.str, ::strnlen(uuid->value.str, sizeof uuid->value.str)}, device);
  if (uuid->type != 2) return Return::kInvalidArgument;
  return FindUuid(
      call, "GPU-" + gpuop::UuidText({reinterpret_cast<const char*>(uuid->value.bytes), sizeof uuid->value.bytes}),
      device);
}

Return nvmlDeviceGetHandleByPciBusId(const char* address, abi::Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(address, device);
}
Return nvmlDeviceGetHandleByPciBusId_v2(const char* address, abi::Device* device) {
  GPUOP_NOT_NULL(address, device);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  const auto wanted = gpuop::machine::ParsePciAddress(address);
  if (!wanted) return Return::kInvalidArgument;
  return Find(call, device, [&](const layout::DeviceFacts& facts) {
    return facts.pci_domain == wanted->domain && facts.pci_bus == wanted->bus && facts.pci_device == wanted->device;
  });
}

Return nvmlDeviceGetIndex(abi::Device device, unsigned* index) {
  GPUOP_NOT_NULL(index);
  GPUOP_ON_DEVICE(__func__, device, kIdentity);
  if (call.place().whole()) {
    const auto& visible = call.library().visible;
    *index = static_cast<unsigned>(std::ranges::find(visible, call.place().device) - visible.begin());
    return Return::kSuccess;
  }
  const auto instances = VisibleInstances(call.machine(), call.nodes(), call.place().device);
  *index = static_cast<unsigned>(std::ranges::find(instances, call.place()) - instances.begin());
  return Return::kSuccess;
}

Return nvmlDeviceIsMigDeviceHandle(abi::Device device, unsigned* is_mig) {
  GPUOP_NOT_NULL(is_mig);
  GPUOP_ON_DEVICE(__func__, device, kIdentity);
  *is_mig = call.place().whole() ? 0 : 1;
  return Return::kSuccess;
}

Return nvmlDeviceGetMigDeviceHandleByIndex(abi::Device device, unsigned index, abi::Device* mig_device) {
  GPUOP_NOT_NULL(mig_device);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (!call.place().whole() || index >= 7) return Return::kInvalidArgument;
  if (call.facts().mig_model.empty()) return Return::kNotSupported;
  const auto instances = VisibleInstances(call.machine(), call.nodes(), call.place().device);
  if (index >= instances.size()) return Return::kNotFound;
  *mig_device = DeviceHandleOf(instances[index]);
  return Return::kSuccess;
}

Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(abi::Device mig_device, abi::Device* device) {
  GPUOP_NOT_NULL(device);
  GPUOP_ON_DEVICE(__func__, mig_device, kIdentity);
  if (call.place().whole()) return Return::kInvalidArgument;
  *device = DeviceHandleOf({.device = call.place().device});
  return Return::kSuccess;
}

}  // extern "C"
