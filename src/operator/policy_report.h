#pragma once
// What a ClusterPolicy's status says, put together from what became of each operand. Pure.

#include <optional>
#include <string>
#include <vector>

#include "operator/conditions.h"
#include "operator/fleet.h"

namespace gpuop::op {

/// What became of one operand in one turn.
struct OperandReport {
  enum class Kind {
    kReady,
    kDisabled,  ///< not asked for; `message` may say why
    kWaiting,   ///< on its way
    kFailed,    ///< something must be done about it
  };
  std::string state, condition;
  Kind kind = Kind::kReady;
  std::string reason, message;
  std::int64_t desired = 0, available = 0;
};

/// The whole status but its namespace.
struct StatusReport {
  std::string state;
  std::vector<api::Condition> conditions;
};

/// What holds besides the operands.
struct PolicyFindings {
  const FleetSummary* fleet = nullptr;
  bool labels_settled = true;  ///< nodes carry the labels that the policy asks for
  bool drivers_by_crd = false;
  bool sandbox = false;  ///< nodes say what they are set up for
  std::vector<std::string> unknown_fields, missing_fields;
  /// Definitions that the policy counts on and the cluster does not serve.
  std::vector<std::string> missing_definitions;
  /// Nodes that cannot pull their driver's image ("nvcr.io/nvidia/driver:… on gpu-3").
  std::vector<std::string> missing_images;
  bool precompiled = false;  ///< one of them is of a driver that is built beforehand
  /// Tags of operating systems that NVIDIA publishes no driver for, with the number of nodes ("fedora43 on 2 nodes").
  std::vector<std::string> without_driver_image;
};

StatusReport ReportOperands(const std::vector<OperandReport>& operands, const PolicyFindings& findings,
                            Conditions conditions);

}  // namespace gpuop::op
