#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "sim/api_server.h"
#include "sim/policy/budget.h"

namespace gpuop::sim {

/// pods/eviction (policy/v1) under PodDisruptionBudgets, and the upkeep of the budgets' status.
class Evictions {
 public:
  /// Plugs itself into the server, which outlives it or takes no more requests.
  explicit Evictions(ApiServer& server);

 private:
  void Wake(std::string ns);
  void SyncNamespace(const std::string& ns);
  void SyncBudget(const boost::json::object& budget);
  std::vector<boost::json::object> PodsOf(const boost::json::object& budget) const;
  std::optional<BudgetInput::Scale> ScaleOf(std::string_view ns, const boost::json::object& owner) const;

  Answer<Response> Evict(Request& request);
  /// Whether the pod may go now by the budgets of its namespace; a disruption is then taken from the one that covers
  /// it.
  Answer<> Spend(const boost::json::object& pod, bool dry_run);
  Answer<> SpendFrom(boost::json::object budget, const boost::json::object& pod, bool dry_run);

  ApiServer& server_;
  std::set<std::string> woken_;
  std::shared_ptr<Evictions*> self_ = std::make_shared<Evictions*>(this);
};

}  // namespace gpuop::sim
