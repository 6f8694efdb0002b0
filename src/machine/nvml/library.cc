#include "machine/nvml/library.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "machine/nvml/glance.h"

namespace gpuop::machine::nvml {
namespace {

constexpr std::size_t kDevices = layout::kMaxDevices;
constexpr std::size_t kInstances = layout::kMaxGpuInstances + 1;  // one more: none
constexpr std::size_t kComputes = layout::kMaxComputeInstances + 1;

/// One byte stands for each device, GPU instance and compute instance that could be.
struct Tables {
  char devices[kDevices][kInstances][kComputes];
  char gpu_instances[kDevices][kInstances];
  char compute_instances[kDevices][kInstances][kComputes];
};
Tables tables;

std::uint32_t Id(std::size_t index, std::size_t none) {
  return index == none ? layout::kNoInstance : static_cast<std::uint32_t>(index);
}
std::size_t Index(std::uint32_t id, std::size_t none) { return id == layout::kNoInstance ? none : id; }

/// The place of a byte in a table of three dimensions.
std::optional<Place> PlaceIn(const void* table, const void* handle) {
  const auto begin = reinterpret_cast<std::uintptr_t>(table), at = reinterpret_cast<std::uintptr_t>(handle);
  if (at < begin || at - begin >= kDevices * kInstances * kComputes) return std::nullopt;
  const std::size_t offset = at - begin;
  return Place{static_cast<std::uint32_t>(offset / (kInstances * kComputes)),
               Id(offset / kComputes % kInstances, kInstances - 1), Id(offset % kComputes, kComputes - 1)};
}

Return WithoutDriver(const layout::Machine& machine) {
  if ((machine.faults & layout::kFaultsWithoutDriver) != 0) return Return::kDriverNotLoaded;
  if ((machine.faults & layout::kFaultVersionMismatch) != 0) return Return::kLibRmVersionMismatch;
  return Return::kSuccess;
}

Return OfFinding(const Error& error) {
  return error.code == Code::kForbidden ? Return::kNoPermission
         : error.code == Code::kInvalid ? Return::kLibRmVersionMismatch
                                        : Return::kDriverNotLoaded;
}

/// The state of Library::machine without its lock, which changes while one looks: for single words that mean something
/// alone. Mapped for as long as the state is open; with the library's lock.
const layout::Machine* unlocked = nullptr;

/// A word that another process may be changing.
std::uint32_t WordOf(const std::uint32_t& word) {
  return std::atomic_ref(const_cast<std::uint32_t&>(word)).load(std::memory_order_acquire);
}

/// Whether the fault "hang" holds this call.
bool Hangs(const layout::Machine& machine, const char* name) {
  return (machine.faults & layout::kFaultHang) != 0 && (machine.hang_call.empty() || machine.hang_call.view() == name);
}

}  // namespace

Library& Library::Get() {
  static Library* const kLibrary = new Library;  // outlives every thread that still calls
  return *kLibrary;
}

Return Library::Start() {
  const std::unique_lock lock(mu);
  if (users_ > 0) {
    ++users_;
    return Return::kSuccess;
  }
  auto found = FindMachine();
  if (!found) return OfFinding(found.error());
  {
    const auto reading = found->state->Read();
    if (const Return bad = WithoutDriver(*reading); bad != Return::kSuccess) return bad;
    if (!found->nodes.Control()) return found->nodes.HasControl() ? Return::kNoPermission : Return::kDriverNotLoaded;
    visible = VisibleDevices(*reading, found->nodes);
    unlocked = &*reading;
  }
  machine = std::make_shared<Found>(*std::move(found));
  users_ = 1;
  return Return::kSuccess;
}

Return Library::Stop() {
  const std::unique_lock lock(mu);
  if (users_ == 0) return Return::kUninitialized;
  if (--users_ == 0) {
    // Whoever waits in an event set holds the machine still, and looks again.
    machine->state->WakeAll();
    machine.reset();
  }
  return Return::kSuccess;
}

abi::Device DeviceHandleOf(const Place& place) {
  return reinterpret_cast<abi::Device>(&tables.devices[place.device][Index(place.gpu_instance, kInstances - 1)]
                                                      [Index(place.compute_instance, kComputes - 1)]);
}
abi::GpuInstance GpuInstanceHandleOf(const Place& place) {
  return reinterpret_cast<abi::GpuInstance>(&tables.gpu_instances[place.device][place.gpu_instance]);
}
abi::ComputeInstance ComputeInstanceHandleOf(const Place& place) {
  return reinterpret_cast<abi::ComputeInstance>(
      &tables.compute_instances[place.device][place.gpu_instance][place.compute_instance]);
}

std::optional<Place> PlaceOf(abi::Device handle) { return PlaceIn(tables.devices, handle); }
std::optional<Place> PlaceOf(abi::ComputeInstance handle) { return PlaceIn(tables.compute_instances, handle); }
std::optional<Place> PlaceOf(abi::GpuInstance handle) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&tables.gpu_instances);
  const auto at = reinterpret_cast<std::uintptr_t>(handle);
  if (at < begin || at - begin >= kDevices * kInstances) return std::nullopt;
  return Place{.device = static_cast<std::uint32_t>((at - begin) / kInstances),
               .gpu_instance = static_cast<std::uint32_t>((at - begin) % kInstances)};
}

void Call::Begin(const char* name) {
  for (;;) {
    lock_ = std::shared_lock(library_.mu);
    found_ = library_.machine;
    if (!found_) {
      error_ = Return::kUninitialized;
      return;
    }
    const std::uint32_t seen = found_->state->changes();
    writing_.emplace(found_->state->WriteQuietly());
    if (!Hangs(machine(), name)) break;
    writing_.reset();
    lock_.unlock();
    found_->state->WaitChange(seen, std::nullopt);
  }
  error_ = WithoutDriver(machine());
  Reclaim(*found_->state, machine());
}

void Call::CheckDevice(Needs needs) {
  if (!ok()) return;
  if (place_.device >= machine().device_count ||
      std::ranges::find(library_.visible, place_.device) == library_.visible.end()) {
    error_ = Return::kInvalidArgument;
    return;
  }
  const std::uint32_t faults = device().faults;
  if (!place_.whole()) {
    if (needs == Needs::kWorking) error_ = Return::kNotSupported;
    const bool there = instance().in_use != 0 && (place_.compute_instance == layout::kNoInstance ||
                                                  instance().compute[place_.compute_instance].in_use != 0);
    if (device().mig_current == 0 || !there) error_ = Return::kInvalidArgument;
  }
  if (!ok() || needs == Needs::kIdentity) return;
  if ((faults & (layout::kFaultOffBus | layout::kFaultLost)) != 0)
    error_ = Return::kGpuIsLost;
  else if ((faults & layout::kFaultNeedsReset) != 0)
    error_ = Return::kResetRequired;
}

void Call::CheckPermission() {
  if (ok() && (::geteuid() != 0 || (machine().faults & layout::kFaultNoPermission) != 0))
    error_ = Return::kNoPermission;
}

Call::Call(const char* name) : library_(Library::Get()) { Begin(name); }

Call::Call(const char* name, abi::Device handle, Needs needs, bool changes) : library_(Library::Get()) {
  Begin(name);
  if (!ok()) return;
  const auto place = PlaceOf(handle);
  if (!place) {
    error_ = Return::kInvalidArgument;
    return;
  }
  place_ = *place;
  CheckDevice(needs);
  if (changes) CheckPermission();
}

Call::Call(const char* name, abi::GpuInstance handle, bool changes) : library_(Library::Get()) {
  Begin(name);
  if (!ok()) return;
  const auto place = PlaceOf(handle);
  if (!place || place->gpu_instance >= layout::kMaxGpuInstances) {
    error_ = Return::kInvalidArgument;
    return;
  }
  place_ = *place;
  CheckDevice(Needs::kAny);
  if (changes) CheckPermission();
}

Call::Call(const char* name, abi::ComputeInstance handle, bool changes) : library_(Library::Get()) {
  Begin(name);
  if (!ok()) return;
  const auto place = PlaceOf(handle);
  if (!place || place->whole() || place->compute_instance == layout::kNoInstance) {
    error_ = Return::kInvalidArgument;
    return;
  }
  place_ = *place;
  CheckDevice(Needs::kAny);
  if (changes) CheckPermission();
}

Glance::Glance() : library_(Library::Get()), lock_(library_.mu) {
  if (!library_.machine) return;
  const std::uint32_t faults = WordOf(unlocked->faults);
  ok_ = (faults & (layout::kFaultHang | layout::kFaultsWithoutDriver | layout::kFaultVersionMismatch)) == 0;
}

std::uint32_t Glance::FaultsOf(std::uint32_t device) const { return WordOf(unlocked->devices[device].faults); }

Return CopyText(std::string_view text, char* out, unsigned length) {
  if (out == nullptr) return Return::kInvalidArgument;
  if (text.empty()) return Return::kNotSupported;
  if (length <= text.size()) return Return::kInsufficientSize;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = 0;
  return Return::kSuccess;
}

Return ReturnOf(const Error& error) {
  switch (error.code) {
    case Code::kNotFound: return Return::kNotFound;
    case Code::kUnsupported: return Return::kNotSupported;
    case Code::kInvalid: return Return::kInvalidArgument;
    case Code::kUnavailable: return Return::kInsufficientResources;
    case Code::kConflict: return Return::kInUse;
    case Code::kForbidden: return Return::kNoPermission;
    default: return Return::kUnknown;
  }
}

}  // namespace gpuop::machine::nvml
