#pragma once
// From API objects to what the scheduler keeps.

#include <memory>

#include "kube/types/node.h"
#include "kube/types/pod.h"
#include "sim/scheduler/pod_info.h"

namespace gpuop::sim {

/// kInvalid when the affinity or the spread constraints cannot be read.
Result<PodInfoPtr> ReadPod(const kube::Pod& pod);
NodeInfo ReadNode(const kube::Node& node);

}  // namespace gpuop::sim
