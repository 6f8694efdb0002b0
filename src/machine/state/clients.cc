#include "machine/state/clients.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "machine/state/life.h"

namespace gpuop::machine {
namespace {

/// NVML's compute modes.
constexpr std::uint32_t kProhibited = 2, kExclusiveProcess = 3;

bool Covers(const Place& place, const layout::Client& client) {
  return client.in_use != 0 && client.device == place.device &&
         (place.whole() || client.gpu_instance == place.gpu_instance) &&
         (place.compute_instance == layout::kNoInstance || client.compute_instance == place.compute_instance);
}

/// The entries that may be in use.
auto Entries(const layout::Machine& machine) { return std::span(machine.clients).first(machine.clients_end); }

void Release(layout::Machine& machine, std::size_t entry) {
  machine.clients[entry].in_use = 0;
  Settle(machine, machine.clients[entry].device);
}

Result<> CheckPlace(const layout::Machine& machine, const Place& place) {
  if (place.device >= machine.device_count) return Fail(Code::kNotFound, "no device " + std::to_string(place.device));
  const layout::Device& device = machine.devices[place.device];
  if (!place.whole()) {
    if (place.gpu_instance >= layout::kMaxGpuInstances || place.compute_instance >= layout::kMaxComputeInstances ||
        device.instances[place.gpu_instance].in_use == 0 ||
        device.instances[place.gpu_instance].compute[place.compute_instance].in_use == 0)
      return Fail(Code::kNotFound, "no such compute instance on device " + std::to_string(place.device));
    return {};
  }
  if (device.compute_mode == kProhibited)
    return Fail(Code::kUnavailable, "device " + std::to_string(place.device) + " has compute mode Prohibited");
  return {};
}

bool AnotherProcess(const layout::Machine& machine, const Place& place, int pid, std::uint64_t pid_namespace) {
  return std::ranges::any_of(Entries(machine), [&](const layout::Client& client) {
    return Covers(place, client) && (client.pid != pid || client.pid_namespace != pid_namespace);
  });
}

}  // namespace

std::uint64_t OwnPidNamespace() {
  struct stat info{};
  return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

void Reclaim(State& state, layout::Machine& machine) {
  for (std::uint32_t i = 0; i < machine.clients_end; ++i)
    if (machine.clients[i].in_use != 0 && !state.Held(i)) Release(machine, i);
  while (machine.clients_end > 0 && machine.clients[machine.clients_end - 1].in_use == 0) --machine.clients_end;
}

std::uint64_t BytesUsed(const layout::Machine& machine, const Place& place) {
  const Place memory{place.device, place.gpu_instance, layout::kNoInstance};
  std::uint64_t sum = 0;
  for (const layout::Client& client : Entries(machine))
    if (Covers(memory, client)) sum += client.bytes;
  return sum;
}

std::uint64_t BytesTotal(const layout::Machine& machine, const Place& place) {
  const layout::Device& device = machine.devices[place.device];
  if (!place.whole()) return device.instances[place.gpu_instance].memory_bytes;
  return device.facts.memory_bytes - device.facts.reserved_bytes;
}

bool InUse(const layout::Machine& machine, const Place& place) {
  return std::ranges::any_of(Entries(machine), [&](const layout::Client& client) { return Covers(place, client); });
}

Result<Client> Client::Attach(State& state, const Place& place, Kind kind) {
  const std::uint64_t pid_namespace = OwnPidNamespace();
  auto machine = state.Write();
  TRY(CheckPlace(*machine, place));
  Reclaim(state, *machine);
  const int pid = ::getpid();
  const layout::Device& device = machine->devices[place.device];
  if (place.whole() && device.compute_mode == kExclusiveProcess && AnotherProcess(*machine, place, pid, pid_namespace))
    return Fail(Code::kUnavailable,
                "device " + std::to_string(place.device) + " has compute mode Exclusive_Process and is in use");
  for (std::size_t i = 0; i < machine->clients.size(); ++i) {
    layout::Client& entry = machine->clients[i];
    if (entry.in_use != 0 || !state.Hold(i)) continue;
    entry = {};
    entry.device = place.device;
    entry.gpu_instance = place.gpu_instance;
    entry.compute_instance = place.compute_instance;
    entry.device_generation = device.generation;
    entry.pid = pid;
    entry.pid_namespace = pid_namespace;
    entry.started_ns = RealtimeNs();
    entry.name.Set(::program_invocation_name);
    entry.in_use = std::to_underlying(kind);
    machine->clients_end = std::max(machine->clients_end, static_cast<std::uint32_t>(i) + 1);
    Settle(*machine, place.device);
    return Client(state, place, i, pid);
  }
  return Fail(Code::kUnavailable, "the machine has no room for another context");
}

Client::Client(Client&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)), place_(other.place_), entry_(other.entry_), pid_(other.pid_) {}

Client::~Client() {
  if (state_ == nullptr || pid_ != ::getpid()) return;
  auto machine = state_->WriteQuietly();
  Release(*machine, entry_);
  state_->Leave(entry_);
}

Result<> Client::Allocate(std::uint64_t bytes) {
  auto machine = state_->WriteQuietly();
  Reclaim(*state_, *machine);
  const std::uint64_t total = BytesTotal(*machine, place_), used = BytesUsed(*machine, place_);
  if (used > total || bytes > total - used)
    return Fail(Code::kTooLarge, "out of memory: " + std::to_string(bytes) + " bytes asked, " +
                                     std::to_string(total - std::min(used, total)) + " free");
  layout::Client& entry = machine->clients[entry_];
  entry.bytes += bytes;
  entry.bytes_most = std::max(entry.bytes_most, entry.bytes);
  return {};
}

void Client::Free(std::uint64_t bytes) {
  auto machine = state_->WriteQuietly();
  layout::Client& entry = machine->clients[entry_];
  entry.bytes -= std::min(entry.bytes, bytes);
}

Client::Memory Client::memory() const {
  auto machine = state_->WriteQuietly();
  Reclaim(*state_, *machine);
  const std::uint64_t total = BytesTotal(*machine, place_), used = BytesUsed(*machine, place_);
  return {.free = total - std::min(used, total), .total = total};
}

bool Client::alive() const {
  if (pid_ != ::getpid()) return false;
  const auto machine = state_->Read();
  const layout::Client& entry = machine->clients[entry_];
  const layout::Device& device = machine->devices[place_.device];
  return entry.in_use != 0 && entry.dead == 0 && entry.device_generation == device.generation;
}

void Client::Kill(std::uint32_t cuda_error) { state_->WriteQuietly()->clients[entry_].dead = cuda_error; }

void Client::SetUtilization(std::uint32_t percent) {
  auto machine = state_->WriteQuietly();
  machine->clients[entry_].utilization = percent;
  Settle(*machine, place_.device);
}

}  // namespace gpuop::machine
