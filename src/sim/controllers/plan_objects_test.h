#pragma once
// Pods and nodes for tests of plans.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::sim {

constexpr WallTime kNow = FakeClock::kStart + std::chrono::hours(1);

/// A Pod of a while ago; `hash` is its template's.
inline std::shared_ptr<kube::Pod> Pod(const std::string& name, std::string_view node, bool ready,
                                      std::string_view hash = "new") {
  auto pod = std::make_shared<kube::Pod>();
  pod->meta.ns = "ns";
  pod->meta.name = name;
  pod->meta.uid = "uid-" + name;
  pod->meta.created = FakeClock::kStart;
  pod->meta.labels = {{"controller-revision-hash", hash}};
  pod->spec.node_name = node;
  pod->status.phase = ready ? "Running" : "Pending";
  kube::Condition c;
  c.type = "Ready";
  c.status = ready ? "True" : "False";
  c.last_transition = kNow - std::chrono::seconds(5);
  pod->status.conditions = {c};
  return pod;
}

/// A node with GPUs.
inline std::shared_ptr<const kube::Node> Node(const std::string& name, std::vector<kube::Taint> taints = {}) {
  auto node = std::make_shared<kube::Node>();
  node->meta.name = name;
  node->meta.labels = {{"gpu", "true"}};
  node->spec.taints = std::move(taints);
  return node;
}

}  // namespace gpuop::sim
