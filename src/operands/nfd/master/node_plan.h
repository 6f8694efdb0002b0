#pragma once
// From what is known of a node to what is written to it. Pure.

#include <optional>
#include <string>
#include <vector>

#include "api/nfd.h"
#include "data/json.h"
#include "operands/nfd/features.h"
#include "operands/nfd/master/settings.h"
#include "operands/nfd/rules/rule.h"

namespace gpuop::operands::nfd {

/// A Node, as far as it counts here.
struct NodeState {
  std::string name, resource_version;
  TextMap labels, annotations, capacity;
  std::vector<api::NfdTaint> taints;

  /// kInvalid for what has no name.
  static Result<NodeState> FromJson(const data::JsonObject& node);
};

/// A Node's taints.
std::vector<api::NfdTaint> ReadTaints(const data::JsonObject& node);

/// What a node shall have from us: full names, checked.
struct NodeWish {
  TextMap labels, annotations, extended_resources;
  std::vector<api::NfdTaint> taints;
  /// What was refused, and why: "label x: …".
  std::vector<std::string> problems;
};

/// What features, the labels that NodeFeature objects ask for, and rules give. `features` gets rule.matched.
NodeWish WishFor(Features& features, const TextMap& object_labels, const std::vector<const RuleList*>& rules,
                 const NodeSettings& settings);

/// What must be sent. Each part is null when nothing differs.
struct NodePatch {
  /// A merge patch of the Node: labels, annotations (our notes among them) and taints.
  std::optional<data::JsonObject> node;
  /// A merge patch of its status: extended resources.
  std::optional<data::JsonObject> status;

  bool empty() const { return !node && !status; }
};

/// Only what our notes on the node list is ever removed.
NodePatch PlanNode(const NodeState& node, const NodeWish& wish, const NodeSettings& settings);

/// The annotation that lists the extended resources that are ours.
std::string ResourcesNote(const NodeSettings& settings);

/// Whether anything on the node is noted as ours.
bool HasOurs(const NodeState& node, const NodeSettings& settings);

}  // namespace gpuop::operands::nfd
