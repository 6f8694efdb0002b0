#pragma once
// GPU nodes fall into parts that need DaemonSets of their own: by container engine, by OS. One part has the DaemonSet
// of NVIDIA's plain name, the others a name of their own; a part that comes or goes changes no other part's DaemonSet.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/kinds.h"
#include "operands/facts.h"
#include "operands/labels.h"

namespace gpuop::operands {

/// Nodes with one value of a group label.
struct Part {
  std::string value;
  bool primary = false;
  /// One of its groups, for what all of them share.
  NodeGroup group = {};
};

/// By kRuntimeLabel. A group whose engine is unknown counts as containerd.
std::vector<Part> PartsByRuntime(const Facts& facts);
/// By kOsLabel, of the groups that `wanted` takes. Groups without an OS are passed over.
std::vector<Part> PartsByOs(const Facts& facts, const std::function<bool(const NodeGroup&)>& wanted);

/// Makes a DaemonSet of the plain name the part's own: its nodes are those with the label; unless it is the primary
/// part, name and selector tell it apart.
void Narrow(const Part& part, const char* label, DaemonSet& ds);

using RenderFunction = Result<std::vector<Object>> (*)(const api::ClusterPolicySpec& policy, const Facts& facts);

/// `render`'s objects, its DaemonSets for each engine apart wherever there is Docker. Docker's nodes know no
/// RuntimeClasses: Pods that name one do not start there (Facts::engine says where they are).
Result<std::vector<Object>> RenderByEngine(RenderFunction render, const api::ClusterPolicySpec& policy,
                                           const Facts& facts);

}  // namespace gpuop::operands
