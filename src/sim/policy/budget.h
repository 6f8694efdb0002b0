#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace gpuop::sim {

/// A PodDisruptionBudget's status as the disruption controller computes it from the pods that it selects.
struct BudgetInput {
  /// What wants the pods of an owner in the end, and how many.
  struct Scale {
    std::string uid;
    std::int64_t replicas = 0;
  };

  const boost::json::object& budget;
  const std::vector<boost::json::object>& pods;
  /// The scale behind an owner reference; nullopt when it has none (a DaemonSet, a Job).
  std::function<std::optional<Scale>(const boost::json::object& owner)> scale_of;
  WallTime now;
};
boost::json::object BudgetStatus(const BudgetInput& input);

/// Whether the Pod's condition Ready is True.
bool IsPodReady(const boost::json::object& pod);

/// How long an evicted Pod counts as disrupted while nobody has seen it go.
inline constexpr std::chrono::minutes kDisruptedFor{2};

}  // namespace gpuop::sim
