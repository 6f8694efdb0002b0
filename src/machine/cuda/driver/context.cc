#include "machine/cuda/driver/context.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "machine/cuda/driver/errors.h"

namespace gpuop::machine::cuda {
namespace {

constexpr std::uint32_t kUnreachable = layout::kFaultOffBus | layout::kFaultLost;

}  // namespace

Context::Context(State& state, Allocations& allocations, Device device, Client client, unsigned context_flags,
                 int newest_ptx, std::uint64_t id)
    : flags(context_flags),
      state_(state),
      allocations_(allocations),
      device_(std::move(device)),
      client_(std::move(client)),
      newest_ptx_(newest_ptx),
      id_(id),
      seen_changes_(state.changes() - 1) {
  limits_ = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0, 0, 0, 0, 0};
}

Context::~Context() {
  queue_.Wait(queue_.last());
  for (const Allocation& allocation : allocations_.OwnedBy(this)) FreeNow(allocation.base);
}

Cu Context::Check() {
  if (const int error = error_.load(std::memory_order_acquire); error != 0) return static_cast<Cu>(error);
  // Whatever could have happened to the device changed the machine's state.
  const std::uint32_t changes = state_.changes();
  if (seen_changes_.load(std::memory_order_relaxed) == changes) return Cu::kSuccess;
  const Cu error = DeviceError();
  if (error != Cu::kSuccess) SetError(error);
  seen_changes_.store(changes, std::memory_order_relaxed);
  return error;
}

Cu Context::DeviceError() {
  const auto machine = state_.Read();
  const layout::Client& entry = machine->clients[client_.entry()];
  const layout::Device& device = machine->devices[device_.place.device];
  if (entry.dead != 0) return static_cast<Cu>(entry.dead);
  if ((device.faults & kUnreachable) != 0) return Cu::kUnknown;
  if (entry.in_use == 0 || entry.device_generation != device.generation) return Cu::kDeviceUnavailable;
  return Cu::kSuccess;
}

void Context::SetError(Cu error) {
  int none = 0;
  error_.compare_exchange_strong(none, static_cast<int>(error));
}

std::uint32_t Context::FaultBits() const { return state_.Read()->devices[device_.place.device].faults; }

Cu Context::Allocate(Allocation::Kind kind, std::uint64_t bytes, Allocation& made, unsigned alloc_flags,
                     bool from_pool) {
  if (bytes == 0) return Cu::kInvalidValue;
  const bool counts = kind == Allocation::Kind::kDevice || kind == Allocation::Kind::kManaged;
  const std::uint64_t counted = counts ? (bytes + 511) & ~std::uint64_t{511} : 0;
  if (counts && (counted < bytes || !client_.Allocate(counted))) return Cu::kOutOfMemory;
  auto allocation = allocations_.Make(kind, bytes, this, alloc_flags);
  if (!allocation) {
    if (counts) client_.Free(counted);
    return Cu::kOutOfMemory;
  }
  made = *allocation;
  allocations_.SetCounted(made.base, counted, from_pool);
  return Cu::kSuccess;
}

Cu Context::Free(std::uint64_t base) {
  const auto known = allocations_.Find(base);
  if (!known || known->base != base) return Cu::kInvalidValue;
  queue_.Wait(queue_.last());
  FreeNow(base);
  return Cu::kSuccess;
}

void Context::FreeNow(std::uint64_t base) {
  const auto removed = allocations_.Remove(base);
  if (removed && removed->counted != 0) client_.Free(removed->counted);
}

Queue::Ticket Context::Push(Stream* stream, Queue::Task task) {
  const Queue::Ticket ticket = queue_.Push([this, work = std::move(task)]() mutable {
    if (error_.load(std::memory_order_acquire) == 0) work();
  });
  if (stream != nullptr) stream->last = ticket;
  return ticket;
}

Cu Context::Synchronize(Stream* stream) {
  queue_.Wait(stream == nullptr ? queue_.last() : stream->last.load());
  return Check();
}

Cu Context::Query(Stream* stream) {
  if (const Cu error = Check(); error != Cu::kSuccess) return error;
  return queue_.Done(stream == nullptr ? queue_.last() : stream->last.load()) ? Check() : Cu::kNotReady;
}

Cu Context::SetLimit(int limit, std::uint64_t value) {
  if (limit < 0 || limit >= kLimits) return Cu::kInvalidValue;
  if (limit == 3 || limit == 4 || limit > 6) return Cu::kUnsupportedLimit;
  Lock lock(mu_);
  if (limit == kLimitHeap && heap_ != nullptr) return Cu::kInvalidValue;  // kernels that use it were loaded
  limits_[static_cast<std::size_t>(limit)] = value;
  return Cu::kSuccess;
}

Cu Context::GetLimit(int limit, std::uint64_t& value) const {
  if (limit < 0 || limit >= kLimits) return Cu::kInvalidValue;
  if (limit == 3 || limit == 4 || limit > 6) return Cu::kUnsupportedLimit;
  Lock lock(mu_);
  value = limits_[static_cast<std::size_t>(limit)];
  return Cu::kSuccess;
}

Cu Context::EnablePeer(const Context* other) {
  if (other == nullptr || other == this) return Cu::kInvalidContext;
  Lock lock(mu_);
  if (std::ranges::find(peers_, other) != peers_.end()) return Cu::kPeerAccessAlreadyEnabled;
  peers_.push_back(other);
  return Cu::kSuccess;
}

Cu Context::DisablePeer(const Context* other) {
  Lock lock(mu_);
  return std::erase(peers_, other) != 0 ? Cu::kSuccess : Cu::kPeerAccessNotEnabled;
}

Heap* Context::KernelHeap() {
  std::uint64_t bytes = 0;
  {
    Lock lock(mu_);
    if (heap_ != nullptr) return heap_.get();
    bytes = limits_[kLimitHeap];
  }
  Allocation made;
  if (Allocate(Allocation::Kind::kDevice, bytes, made) != Cu::kSuccess) return nullptr;
  Lock lock(mu_);
  heap_ = std::make_unique<Heap>(made.base, made.size);
  return heap_.get();
}

}  // namespace gpuop::machine::cuda
