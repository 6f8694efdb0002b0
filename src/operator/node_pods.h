#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/meta.h"

namespace gpuop::op {

/// A Pod as far as a node's change of workload cares.
struct NodePod {
  static inline const kube::Resource kResource{"", "v1", "pods", "Pod", true};
  kube::ObjectMeta meta;
  /// Whether a container asks for a resource of nvidia.com, and the Pod has not ended.
  bool uses_gpus = false;
  bool of_daemon_set = false;
  /// What stands behind nvidia.com/gpu.deploy. in its nodeSelector: operands' Pods have it.
  std::vector<std::string> operands;

  /// It must leave before the node's GPUs can serve something else. DaemonSets' Pods leave by their labels.
  bool MustLeave() const { return uses_gpus && !of_daemon_set; }

  static Result<NodePod> FromJson(const boost::json::object& in);
  bool operator==(const NodePod&) const = default;
};

/// The Pods of single nodes, followed only while somebody needs them: of all nodes they would be most of what a cluster
/// has. Thread-safe.
class NodePods {
 public:
  /// `on_change` is called with a node's name when its Pods have become known, or have changed; it may be called a
  /// little longer than this lives.
  NodePods(Executor& executor, const kube::Client& client, Log& log, std::function<void(std::string_view)> on_change)
      : executor_(executor), client_(client), log_(log), on_change_(std::move(on_change)) {}

  using List = std::vector<std::shared_ptr<const NodePod>>;
  /// Follows the node's Pods from now on. nullopt until they are known.
  std::optional<List> Follow(const std::string& node);
  /// What is known of a node that is followed; nullopt of others.
  std::optional<List> Of(const std::string& node) const;
  void Forget(const std::string& node);

 private:
  Executor& executor_;
  const kube::Client client_;
  Log& log_;
  const std::function<void(std::string_view)> on_change_;
  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<kube::Cache<NodePod>>> caches_ GUARDED_BY(mu_);
};

}  // namespace gpuop::op
