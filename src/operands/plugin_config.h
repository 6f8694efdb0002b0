#pragma once
// The device plugin's configuration that nodes choose by label (controller.md §4.5). Three DaemonSets follow it: the
// plugin's, the MPS daemon's and GPU feature discovery's.

#include <string>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/pod.h"
#include "operands/facts.h"

namespace gpuop::operands {

/// When the policy names a configuration: config-manager as init container and as side container, both of the plugin's
/// image, and CONFIG_FILE for the Pod's first container. `process` is what the side container signals. kNotFound when
/// the ConfigMap does not exist.
Result<> AddPluginConfig(const std::string& process, const api::ClusterPolicySpec& policy, const Facts& facts,
                         PodSpec& pod);

}  // namespace gpuop::operands
