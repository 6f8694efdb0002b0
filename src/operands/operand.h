#pragma once
// What the operator knows of an operand's manifests: a name, a switch and a pure function.

#include <span>
#include <string_view>
#include <vector>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/driver_pool.h"
#include "operands/facts.h"

namespace gpuop::operands {

/// In the order in which they are written.
using Objects = std::vector<Object>;

/// One state of a ClusterPolicy.
struct Operand {
  /// NVIDIA's name of it, and the value of kStateLabel: "state-driver".
  std::string_view state;
  /// What it is called in the status: "Driver" has the condition DriverReady.
  std::string_view condition;
  /// Whether policy and cluster ask for it.
  bool (*enabled)(const api::ClusterPolicySpec& policy, const Facts& facts) = nullptr;
  /// All its objects. kInvalid names the policy's field, kNotFound a ConfigMap or Secret that must be there first: then
  /// nothing of the operand is changed.
  Result<Objects> (*render)(const api::ClusterPolicySpec& policy, const Facts& facts) = nullptr;
};

/// All states, in order.
std::span<const Operand> Operands();

/// The objects of one pool of an NVIDIADriver; errors as with Operand::render.
Result<Objects> RenderDriverPool(const api::NvidiaDriver& driver, const DriverPool& pool, const Facts& facts);

}  // namespace gpuop::operands
