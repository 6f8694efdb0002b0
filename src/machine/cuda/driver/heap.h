#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/mutex.h"

namespace gpuop::machine::cuda {

/// malloc and free of kernels, within one range of device memory. Thread-safe.
class Heap {
 public:
  Heap(std::uint64_t base, std::uint64_t size) : base_(base), size_(size) {}

  /// 16-byte aligned; 0 when there is no room.
  std::uint64_t Allocate(std::uint64_t bytes) {
    const std::uint64_t need = (std::max<std::uint64_t>(bytes, 1) + 15) & ~std::uint64_t{15};
    Lock lock(mu_);
    std::uint64_t at = base_;
    for (const auto& [begin, length] : used_) {
      if (begin - at >= need) break;
      at = begin + length;
    }
    if (bytes > size_ || at + need > base_ + size_) return 0;
    used_[at] = need;
    return at;
  }
  void Release(std::uint64_t address) {
    Lock lock(mu_);
    used_.erase(address);
  }

 private:
  const std::uint64_t base_, size_;
  Mutex mu_;
  std::map<std::uint64_t, std::uint64_t> used_ GUARDED_BY(mu_);
};

}  // namespace gpuop::machine::cuda
