#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/events.h"
#include "operands/operand.h"
#include "operator/facts_gather.h"
#include "operator/fleet.h"
#include "operator/keeper.h"
#include "operator/lookout.h"
#include "operator/operator_metrics.h"
#include "operator/policy_report.h"
#include "operator/policy_rules.h"
#include "operator/status_writer.h"
#include "operator/world.h"

namespace gpuop::op {

/// Turns one ClusterPolicy into what the keeper keeps, and says in its status what became of it. Writes nothing but
/// that status. One turn at a time.
class PolicyReconciler {
 public:
  struct Parts {
    Executor& executor;
    World& world;
    Keeper& keeper;
    Lookout& lookout;
    Fleet& fleet;
    StatusWriter& statuses;
    kube::EventRecorder& events;
    OperatorMetrics& metrics;
    Log& log;
    std::span<const operands::Operand> operands;
    Surroundings surroundings;
    std::function<bool()> labels_settled;
  };

  /// Registers with the world: make it before the world starts.
  explicit PolicyReconciler(Parts parts);

  Result<kube::Next> Turn(const std::string& name);

  /// What the policy wants now, without keeping it: for a dry run. kInvalid says why it cannot be acted on.
  Result<Wish> Preview(const api::ClusterPolicy& policy);

 private:
  struct Rendered {
    std::vector<OperandReport> reports;
    /// Objects by state, as rendered: to look after them.
    std::map<std::string, std::vector<operands::Object>> objects;
    Wish wish;
    /// As the fleet's summary names them.
    std::vector<operands::NodeGroup> without_driver_image;
  };
  /// What a rendering rests on: equal inputs give equal manifests.
  struct Inputs {
    std::string uid;
    std::int64_t generation = 0;
    std::uint64_t groups = 0, cluster = 0;
    bool operator==(const Inputs&) const = default;
  };

  Result<kube::Next> TurnActive(const std::shared_ptr<const api::ClusterPolicy>& policy);
  Result<kube::Next> Refuse(const api::ClusterPolicy& policy, std::string_view reason, std::string message,
                            std::int64_t metric);
  Result<kube::Next> Ignore(const api::ClusterPolicy& policy, const api::ClusterPolicy& active);
  Result<kube::Next> Report(const api::ClusterPolicy& policy, const StatusReport& report);
  operands::Facts FactsFor(const api::ClusterPolicy& policy, const FleetSummary& fleet);
  Rendered Render(const api::ClusterPolicy& policy, const operands::Facts& facts, Problems& problems) const;
  OperandReport Disabled(const api::ClusterPolicy& policy, const operands::Operand& operand,
                         const FleetSummary& fleet) const;
  StatusReport Assess(const api::ClusterPolicy& policy, const FleetSummary& fleet);
  std::vector<std::string> MissingImages() const;
  void Announce(const api::ClusterPolicy& policy, const StatusReport& report);
  void CountToolkit(const api::ClusterPolicy& policy, const operands::Facts& facts);

  const Parts p_;
  // Touched by one turn at a time.
  std::map<std::string, std::string> uids_;  ///< of policies seen, by name
  std::optional<Inputs> inputs_;
  Rendered rendered_;
};

}  // namespace gpuop::op
