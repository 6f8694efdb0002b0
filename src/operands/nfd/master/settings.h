#pragma once
// What may be written to a node.

#include <string>

#include "operands/nfd/rules/name_rules.h"

namespace gpuop::operands::nfd {

/// What nfd-master's settings allow.
struct NodeSettings {
  NameRules names;
  /// "" or "name.": stands before the names of our notes, so that several masters share a node.
  std::string instance_prefix;
  bool enable_taints = false;
  bool labels = true, annotations = true, extended_resources = true;
  /// Labels of NodeFeature objects count, not only those of rules.
  bool node_feature_labels = true;
  /// A label that somebody else made is taken over.
  bool allow_overwrite = true;
};

}  // namespace gpuop::operands::nfd
