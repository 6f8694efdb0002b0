#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpuop::machine::exec {

/// The device's memory as a kernel sees it: ranges of addresses and where their bytes are on the host. Built once,
/// then read by many threads.
class MemoryMap {
 public:
  struct Range {
    std::uint64_t base = 0, size = 0;
    std::byte* host = nullptr;
  };

  MemoryMap() = default;
  /// `ranges` do not overlap.
  explicit MemoryMap(std::vector<Range> ranges);
  /// The range that `address` lies in; nullptr: it is nobody's.
  const Range* Find(std::uint64_t address) const;
  std::span<const Range> ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

}  // namespace gpuop::machine::exec
