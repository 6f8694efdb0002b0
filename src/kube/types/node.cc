#include "kube/types/node.h"

namespace gpuop::kube {

bool DiffersBeyondHeartbeat(const Node& a, const Node& b) {
  // The parts that can be compared without a copy first: most real changes show there.
  if (a.meta.labels != b.meta.labels || a.spec != b.spec) return true;
  Node other = b;
  other.meta.resource_version = a.meta.resource_version;
  if (a.status.conditions.size() == b.status.conditions.size()) {
    for (std::size_t i = 0; i < a.status.conditions.size(); ++i)
      other.status.conditions[i].last_heartbeat = a.status.conditions[i].last_heartbeat;
  }
  return a != other;
}

}  // namespace gpuop::kube
