#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/mutex.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/meta.h"
#include "operator/node_marks.h"

namespace gpuop::op {

/// A Pod of an operand that marks its node (node_marks.h), as far as that matters.
struct MarkingPod {
  static inline const kube::Resource kResource{"", "v1", "pods", "Pod", true};
  kube::ObjectMeta meta;
  Interned node;
  /// The marks that it keeps on its node, as one text; "" when there is none, or it has ended.
  Interned marks;

  static Result<MarkingPod> FromJson(const boost::json::object& in);
  bool operator==(const MarkingPod&) const = default;
};

/// Pods that mark nodes, followed only while some node waits for one of them to end. Thread-safe.
class MarkPods {
 public:
  /// `on_change` is called with a node's name when its Pods have become known, or have changed.
  MarkPods(Executor& executor, const kube::Client& client, Log& log, std::string ns,
           std::function<void(std::string_view)> on_change)
      : executor_(executor), client_(client), log_(log), ns_(std::move(ns)), on_change_(std::move(on_change)) {}

  /// The node waits from now on. The marks that Pods on it keep; nullopt until they are known.
  std::optional<NodeMarks> Follow(const std::string& node);
  /// The same of a node that waits; nullopt of others.
  std::optional<NodeMarks> Of(const std::string& node) const;
  void Forget(const std::string& node);

 private:
  void TellAll() const;

  Executor& executor_;
  const kube::Client client_;
  Log& log_;
  const std::string ns_;
  const std::function<void(std::string_view)> on_change_;
  mutable Mutex mu_;
  std::set<std::string> waiting_ GUARDED_BY(mu_);
  std::shared_ptr<kube::Cache<MarkingPod>> cache_ GUARDED_BY(mu_);
};

}  // namespace gpuop::op
