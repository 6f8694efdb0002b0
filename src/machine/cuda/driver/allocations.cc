#include "machine/cuda/driver/allocations.h"

#include <sys/mman.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace gpuop::machine::cuda {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t Pages(std::uint64_t bytes) { return std::max((bytes + kPage - 1) & ~(kPage - 1), kPage); }

void* Map(std::uint64_t bytes, int protection) {
  void* at = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void Unmap(const Allocation& allocation) {
  if (allocation.kind == Allocation::Kind::kRegistered) return;
  ::munmap(allocation.host, Pages(allocation.size));
  if (allocation.kind == Allocation::Kind::kDevice)
    ::munmap(reinterpret_cast<void*>(allocation.base), Pages(allocation.size));
}

}  // namespace

Allocations::~Allocations() {
  Lock lock(mu_);
  for (const auto& [base, allocation] : by_base_) Unmap(allocation);
}

Result<Allocation> Allocations::Make(Allocation::Kind kind, std::uint64_t size, Context* owner, unsigned flags) {
  if (size > (std::uint64_t{1} << 46)) return Fail(Code::kTooLarge, "no address space is that large");
  Allocation made{.kind = kind, .size = size, .owner = owner, .flags = flags};
  void* bytes = Map(Pages(size), PROT_READ | PROT_WRITE);
  if (bytes == nullptr) return Fail(Code::kTooLarge, "the host has no memory left");
  made.host = static_cast<std::byte*>(bytes);
  made.base = reinterpret_cast<std::uint64_t>(bytes);
  if (kind == Allocation::Kind::kDevice) {
    // Addresses that the host faults on, as it does on a device's.
    void* addresses = Map(Pages(size), PROT_NONE);
    if (addresses == nullptr) {
      ::munmap(bytes, Pages(size));
      return Fail(Code::kTooLarge, "the process has no addresses left");
    }
    made.base = reinterpret_cast<std::uint64_t>(addresses);
  }
  Lock lock(mu_);
  made.id = ++ids_;
  by_base_[made.base] = made;
  return made;
}

Result<Allocation> Allocations::Register(void* address, std::uint64_t size, Context* owner, unsigned flags) {
  Allocation made{.kind = Allocation::Kind::kRegistered, .size = size, .owner = owner, .flags = flags};
  made.host = static_cast<std::byte*>(address);
  made.base = reinterpret_cast<std::uint64_t>(address);
  Lock lock(mu_);
  const auto next = by_base_.lower_bound(made.base);
  if (next != by_base_.end() && next->first < made.base + size) return Fail(Code::kAlreadyExists, "registered");
  if (next != by_base_.begin()) {
    const Allocation& before = std::prev(next)->second;
    if (before.base + before.size > made.base) return Fail(Code::kAlreadyExists, "registered");
  }
  made.id = ++ids_;
  by_base_[made.base] = made;
  return made;
}

void Allocations::SetCounted(std::uint64_t base, std::uint64_t bytes, bool from_pool) {
  Lock lock(mu_);
  if (const auto it = by_base_.find(base); it != by_base_.end()) {
    it->second.counted = bytes;
    it->second.from_pool = from_pool;
  }
}

std::optional<Allocation> Allocations::Find(std::uint64_t address) const {
  Lock lock(mu_);
  auto it = by_base_.upper_bound(address);
  if (it == by_base_.begin()) return std::nullopt;
  --it;
  if (address - it->first >= it->second.size) return std::nullopt;
  return it->second;
}

std::optional<Allocation> Allocations::Remove(std::uint64_t base) {
  Lock lock(mu_);
  const auto it = by_base_.find(base);
  if (it == by_base_.end()) return std::nullopt;
  const Allocation removed = it->second;
  by_base_.erase(it);
  Unmap(removed);
  return removed;
}

std::vector<Allocation> Allocations::OwnedBy(const Context* owner) const {
  std::vector<Allocation> owned;
  Lock lock(mu_);
  for (const auto& [base, allocation] : by_base_)
    if (allocation.owner == owner) owned.push_back(allocation);
  return owned;
}

exec::MemoryMap Allocations::MapFor(const Context* context, const std::vector<const Context*>& peers) const {
  std::vector<exec::MemoryMap::Range> ranges;
  Lock lock(mu_);
  for (const auto& [base, allocation] : by_base_) {
    const bool reachable = allocation.kind != Allocation::Kind::kDevice || allocation.owner == context ||
                           std::ranges::find(peers, allocation.owner) != peers.end();
    if (reachable) ranges.push_back({base, allocation.size, allocation.host});
  }
  return exec::MemoryMap(std::move(ranges));
}

}  // namespace gpuop::machine::cuda
