#pragma once

#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "sim/kubelet/hollow_node.h"
#include "sim/options.h"

namespace gpuop::sim {

/// Runs hollow nodes against the API server that `options.join` (a kubeconfig) names, until SIGINT or SIGTERM: nodes
/// without machines for a real control plane. Its kubelets are those of the embedded cluster, over HTTP.
Result<> RunJoined(const SimOptions& options, std::vector<HollowPool> pools, Log& log);

}  // namespace gpuop::sim
