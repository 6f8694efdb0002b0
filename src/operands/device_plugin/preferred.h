#pragma once
// Which of the free devices a container should best get.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/inventory.h"
#include "operands/device_plugin/resources.h"

namespace gpuop::operands::device_plugin {

/// How well GPUs work together, pair by pair; asked of the driver when the devices change and not for each container.
class Affinity {
 public:
  Affinity() = default;
  /// 100 for each NVLink between two GPUs, and 10 to 60 for their way over PCIe. GPUs of one NUMA node whose way is not
  /// known count as such.
  explicit Affinity(const gpu::Inventory& inventory);

  /// 0 for GPUs that it does not know.
  int Between(std::string_view gpu, std::string_view other) const;
  bool operator==(const Affinity&) const = default;

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<int> scores_;
};

/// What the kubelet asks.
struct PreferredRequest {
  std::vector<std::string> available, required;
  int size = 0;
};

/// The devices of a resource as this choice needs them; made once for many requests.
class Chooser {
 public:
  Chooser(const Resource& resource, const Affinity& affinity, Spread spread);

  /// Whole GPUs: `size` of `available` that hold all of `required` and belong together most; among equals those whose
  /// removal costs the remaining ones least, so that pairs stay whole; then the first. Nothing when there is no such
  /// set. kIo ("no device with uuid: X") for an unknown device.
  ///
  /// Shares and MIG devices: `required`, and the rest from the GPUs that are used least (distributed) or most (packed).
  /// Devices that it does not know are passed over; kIo when too few are available.
  ///
  /// The same question always has the same answer.
  Result<std::vector<std::string>> Choose(const PreferredRequest& request) const;

 private:
  struct Place {
    std::size_t gpu = 0;    ///< into gpus_
    std::size_t order = 0;  ///< of the device among all
  };

  Result<std::vector<std::string>> Aligned(const PreferredRequest& request) const;
  Result<std::vector<std::string>> Spreading(const PreferredRequest& request) const;

  const Spread spread_;
  std::map<std::string, Place, std::less<>> places_;
  std::vector<std::string> gpus_;
  /// Devices of each GPU.
  std::vector<unsigned> totals_;
  /// Pairs of gpus_.
  std::vector<int> scores_;
  bool whole_gpus_ = false;
};

/// The set of exactly `size` of the `count` elements in `scores` (count x count, symmetric) that holds all of
/// `required`, as bits; best as Chooser has it. Up to 64 elements; every set is looked at where that takes no more than
/// some milliseconds, else the best set is grown and mended by exchange.
std::uint64_t BestSet(std::span<const int> scores, std::size_t count, std::uint64_t required, std::size_t size);

}  // namespace gpuop::operands::device_plugin
