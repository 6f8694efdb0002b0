// Event sets. Who waits sleeps on the machine's futex of events; nobody polls.

#include <chrono>
#include <map>

#include "machine/nvml/glance.h"
#include "machine/nvml/library.h"

namespace gpuop::machine::nvml {
namespace {

/// What nvmlEventSet_t points to. A thread waits in it while others register.
struct EventSet {
  std::mutex mu;
  std::shared_ptr<Found> machine;
  /// The kinds asked for, by device; the sequence number up to which all is delivered.
  std::map<std::uint32_t, std::uint64_t> kinds;
  std::uint64_t delivered = 0;
  /// What event_count() was when there was nothing more to deliver: until it is another there is nothing either.
  std::optional<std::uint32_t> nothing_at;
};

EventSet* Of(abi::EventSet set) { return reinterpret_cast<EventSet*>(set); }

std::uint64_t SupportedKinds(const layout::DeviceFacts& facts) {
  std::uint64_t kinds = layout::kEventXid | layout::kEventPstate | layout::kEventClock | layout::kEventUnavailable |
                        layout::kEventRecoveryAction;
  if (facts.ecc_supported != 0)
    kinds |= layout::kEventEccSingle | layout::kEventEccDouble | layout::kEventDramRetirement |
             layout::kEventDramRetirementFailure;
  if (!facts.mig_model.empty()) kinds |= layout::kEventMigConfig;
  return kinds;
}

/// The next event that the set asked for, beyond what was delivered.
std::optional<layout::Event> Next(EventSet& set, State& state) {
  const std::uint32_t count = state.event_count();
  {
    const std::lock_guard lock(set.mu);
    if (set.nothing_at == count) return std::nullopt;
  }
  const State::Reading reading = state.Read();  // before the set's own lock, as where kinds are asked for
  const std::lock_guard lock(set.mu);
  const layout::Machine& machine = *reading;
  const std::uint64_t oldest = machine.events > layout::kMaxEvents ? machine.events - layout::kMaxEvents : 0;
  for (std::uint64_t n = std::max(set.delivered, oldest); n < machine.events; ++n) {
    const layout::Event& event = machine.ring[n % layout::kMaxEvents];
    set.delivered = n + 1;
    const auto wanted = set.kinds.find(event.device);
    if (wanted != set.kinds.end() && (wanted->second & event.kind) != 0) return event;
  }
  set.nothing_at = count;
  return std::nullopt;
}

Return Wait(EventSet& set, abi::EventData* data, unsigned timeout_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  State& state = *set.machine->state;
  for (;;) {
    const std::uint32_t seen = state.event_count();
    if (const auto event = Next(set, state)) {
      *data = {.device = DeviceHandleOf({.device = event->device}),
               .eventType = event->kind,
               .eventData = event->data,
               .gpuInstanceId = event->gpu_instance,
               .computeInstanceId = event->compute_instance};
      return Return::kSuccess;
    }
    const Duration left = until - std::chrono::steady_clock::now();
    if (left <= Duration::zero() || !state.WaitEvent(seen, left)) return Return::kTimeout;
    const std::shared_lock lock(Library::Get().mu);
    if (Library::Get().machine != set.machine) return Return::kUninitialized;
  }
}

}  // namespace
}  // namespace gpuop::machine::nvml

using namespace gpuop::machine::nvml;

extern "C" {

Return nvmlEventSetCreate(abi::EventSet* set) {
  GPUOP_NOT_NULL(set);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  auto made = std::make_unique<EventSet>();
  made->machine = call.library().machine;
  made->delivered = call.machine().events;
  *set = reinterpret_cast<abi::EventSet>(made.release());
  return Return::kSuccess;
}

Return nvmlEventSetFree(abi::EventSet set) {
  GPUOP_NOT_NULL(set);
  delete Of(set);
  return Return::kSuccess;
}

Return nvmlDeviceGetSupportedEventTypes(abi::Device device, unsigned long long* kinds) {
  GPUOP_NOT_NULL(kinds);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  *kinds = SupportedKinds(call.facts());
  return Return::kSuccess;
}

Return nvmlDeviceRegisterEvents(abi::Device device, unsigned long long kinds, abi::EventSet set) {
  GPUOP_NOT_NULL(set);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if ((kinds & ~abi::kEventTypeAll) != 0) return Return::kInvalidArgument;
  if ((kinds & ~SupportedKinds(call.facts())) != 0) return Return::kNotSupported;
  const std::lock_guard lock(Of(set)->mu);
  Of(set)->kinds[call.place().device] |= kinds;
  return Return::kSuccess;
}

Return nvmlEventSetWait(abi::EventSet set, abi::EventData* data, unsigned timeout_ms) {
  return nvmlEventSetWait_v2(set, data, timeout_ms);
}
Return nvmlEventSetWait_v2(abi::EventSet set, abi::EventData* data, unsigned timeout_ms) {
  GPUOP_NOT_NULL(set, data);
  if (!Glance().ok()) {
    const Call call(__func__);
    if (!call.ok()) return call.error();
  }
  return Wait(*Of(set), data, timeout_ms);
}

// Events of the system (a driver bound or unbound) do not happen on these machines.
Return nvmlSystemEventSetCreate(abi::SystemEventSetCreateRequestV1*) { return Return::kNotSupported; }
Return nvmlSystemEventSetFree(abi::SystemEventSetFreeRequestV1*) { return Return::kNotSupported; }
Return nvmlSystemRegisterEvents(abi::SystemRegisterEventRequestV1*) { return Return::kNotSupported; }
Return nvmlSystemEventSetWait(abi::SystemEventSetWaitRequestV1*) { return Return::kNotSupported; }

}  // extern "C"
