#pragma once
// Every piece of memory that a process's CUDA calls made, on whatever device: one address space, as unified
// addressing has it.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "machine/cuda/exec/memory.h"

namespace gpuop::machine::cuda {

class Context;

struct Allocation {
  enum class Kind : std::uint8_t {
    kDevice,      ///< the host cannot touch its addresses
    kHost,        ///< cuMemHostAlloc: the host's and the devices' at the same address
    kRegistered,  ///< the program's own memory, pinned
    kManaged,
  };
  Kind kind = Kind::kDevice;
  std::uint64_t base = 0, size = 0;
  std::byte* host = nullptr;  ///< where the bytes are
  Context* owner = nullptr;
  unsigned flags = 0;
  std::uint64_t id = 0;
  std::uint64_t counted = 0;  ///< bytes of device memory that it takes
  bool from_pool = false;
};

/// Thread-safe.
class Allocations {
 public:
  ~Allocations();
  /// New memory of `size` bytes, zero as a fresh page is; owner and counting are the caller's.
  Result<Allocation> Make(Allocation::Kind kind, std::uint64_t size, Context* owner, unsigned flags = 0);
  /// Makes [address, address + size) of the program's known; kAlreadyExists when part of it is.
  Result<Allocation> Register(void* address, std::uint64_t size, Context* owner, unsigned flags);
  void SetCounted(std::uint64_t base, std::uint64_t bytes, bool from_pool);
  /// What `address` lies in.
  std::optional<Allocation> Find(std::uint64_t address) const;
  /// Forgets and unmaps what begins at `base`.
  std::optional<Allocation> Remove(std::uint64_t base);
  std::vector<Allocation> OwnedBy(const Context* owner) const;
  /// What a kernel of `context` may touch: everything but other contexts' device memory, unless they share a device
  /// or are among `peers`.
  exec::MemoryMap MapFor(const Context* context, const std::vector<const Context*>& peers) const;

 private:
  mutable Mutex mu_;
  std::map<std::uint64_t, Allocation> by_base_ GUARDED_BY(mu_);
  std::uint64_t ids_ GUARDED_BY(mu_) = 0;
};

}  // namespace gpuop::machine::cuda
