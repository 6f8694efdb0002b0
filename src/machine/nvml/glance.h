#pragma once

#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "machine/nvml/library.h"

namespace gpuop::machine::nvml {

/// A call that needs so little of the machine that it can do without its lock, which costs system calls: programs ask
/// again and again which devices there are. Only while nothing is out of the ordinary; a Call finds out what is.
class Glance {
 public:
  Glance();
  /// The machine has its driver, and nothing hangs.
  bool ok() const { return ok_; }
  const std::vector<std::uint32_t>& visible() const { return library_.visible; }
  /// Of the device with this index in the machine.
  std::uint32_t FaultsOf(std::uint32_t device) const;

 private:
  Library& library_;
  std::shared_lock<std::shared_mutex> lock_;
  bool ok_ = false;
};

}  // namespace gpuop::machine::nvml
