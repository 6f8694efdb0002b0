#pragma once
// What every kubelet writes: its Node's status and lease, its Pods' statuses, and the last word on a deletion.

#include <boost/json/object.hpp>
#include <string>

#include "base/log.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::sim {

/// Merges `status` into the Node's; conditions that others keep there stay.
Result<> PatchNodeStatus(const kube::Client& client, const std::string& node, boost::json::object status);
/// Renews the node's lease, which is made if it is not there and the Node is.
void RenewNodeLease(const kube::Client& client, const kube::Cache<kube::Node>& nodes, Log& log, const std::string& node,
                    WallTime now);
/// Writes the Pod's status; the resourceVersion that it then has, 0 when the Pod has gone.
Result<std::int64_t> PatchPodStatus(const kube::Client& client, const kube::Pod& pod, boost::json::object status);
/// Lets a deleted Pod go. A Pod that is another one by now, or gone, is no error.
Result<> LetPodGo(const kube::Client& client, const kube::Pod& pod);

}  // namespace gpuop::sim
