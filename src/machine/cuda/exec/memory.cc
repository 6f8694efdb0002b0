#include "machine/cuda/exec/memory.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuop::machine::exec {

MemoryMap::MemoryMap(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
  std::ranges::sort(ranges_, {}, &Range::base);
}

const MemoryMap::Range* MemoryMap::Find(std::uint64_t address) const {
  auto it = std::ranges::upper_bound(ranges_, address, {}, &Range::base);
  if (it == ranges_.begin()) return nullptr;
  --it;
  return address - it->base < it->size ? &*it : nullptr;
}

}  // namespace gpuop::machine::exec
