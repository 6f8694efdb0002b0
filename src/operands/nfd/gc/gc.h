#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/metrics.h"
#include "kube/cache.h"
#include "kube/controller.h"
#include "operands/nfd/master/records.h"

namespace gpuop::operands::nfd {

/// Deletes NodeFeature objects (and NodeResourceTopology objects, where there are any) whose node is gone: some time
/// after a Node was deleted, and in a look at all of them every `interval`. Before anything is deleted the API server
/// is asked whether the node is there; without a clear no nothing happens.
class GarbageCollector {
 public:
  struct Options {
    Duration interval = std::chrono::hours(1);
    /// A node that comes back within this time keeps what is known of it.
    Duration grace = std::chrono::minutes(1);
    int page = 200;
    std::uint64_t seed = 1;
  };

  GarbageCollector(Executor& executor, const kube::Client& client, Options options, Log& log, MetricRegistry& metrics);
  void Start();
  bool Idle() const { return controller_.Idle(); }

 private:
  /// A Node, of which only its name counts.
  struct NodeName {
    static inline const kube::Resource& kResource = NodeRecord::kResource;
    RecordMeta meta;
    static Result<NodeName> FromJson(const data::JsonObject& object) { return NodeName{RecordMeta::FromJson(object)}; }
  };

  Result<kube::Next> Reconcile(const std::string& key);
  Result<> LookAtAll();
  Result<> Collect(const std::string& node);
  Result<> Delete(const kube::Resource& resource, const RecordMeta& object);
  Result<bool> IsGone(const std::string& node) const;

  Executor& executor_;
  const kube::Client client_;
  const Options options_;
  Log& log_;
  Counter& deleted_;
  /// Gives a key a turn. The cache's handlers call it, which go on a little longer than the controller.
  std::function<void(std::string_view)> add_;
  kube::Cache<NodeName> nodes_;
  kube::Controller controller_;
};

}  // namespace gpuop::operands::nfd
