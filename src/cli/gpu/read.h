#pragma once
// Fetches what verdicts rest on, and decodes no more of it than that.

#include <string>

#include "base/result.h"
#include "cli/gpu/facts.h"
#include "kube/client.h"

namespace gpuop::cli::kubectl_gpu {

/// Policy, nodes and Pods. `ns`: the operands' namespace, empty to take the one that the ClusterPolicy names. Pods are
/// read page by page, and only those parsed that hold GPUs or are operands. Errors name what could not be listed; what
/// the user may not list is left out, and `sees_…` says so.
Result<ClusterFacts> ReadCluster(const kube::Client& client, std::string ns);

/// One Pod, its Events and its containers' last words. kNotFound as the server says it.
Result<PodFacts> ReadPod(const kube::Client& client, const std::string& ns, const std::string& name);

/// What may be meant by a Pod that is not there: one of that name in another namespace, or one that a controller could
/// not make (a quota, an admission webhook). "; …" for the end of a sentence, empty when nothing is known.
std::string WhereIs(const kube::Client& client, const std::string& ns, const std::string& name);

}  // namespace gpuop::cli::kubectl_gpu
