#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/events.h"
#include "operator/driver_pools.h"
#include "operator/facts_gather.h"
#include "operator/keeper.h"
#include "operator/lookout.h"
#include "operator/status_writer.h"
#include "operator/world.h"

namespace gpuop::op {

/// Turns one NVIDIADriver into DaemonSets for its pools of nodes, and says in its status what became of them. What is
/// wrong with one driver never touches another. One turn at a time.
class DriverReconciler {
 public:
  struct Parts {
    Executor& executor;
    World& world;
    Keeper& keeper;
    Lookout& lookout;
    Fleet& fleet;
    StatusWriter& statuses;
    kube::EventRecorder& events;
    Surroundings surroundings;
    /// Whether nodes carry the labels that they should: who owns their drivers is one of them.
    std::function<bool()> labels_settled;
  };

  /// Registers with the world: make it before the world starts.
  explicit DriverReconciler(Parts parts);

  Result<kube::Next> Turn(const std::string& name);
  /// Tells the keeper what the driver wants, and writes nothing. kInvalid says what is wrong with the driver.
  Result<> Preview(const api::NvidiaDriver& driver);

 private:
  /// What all drivers are rendered from besides their own specs and nodes, made anew when the cluster or the policy has
  /// changed.
  struct Ground {
    std::uint64_t cluster = 0;
    std::string policy_uid;
    std::int64_t policy_generation = 0;
    operands::Facts facts;
    std::string host_root = "/";
    bool driver_toolkit = false;
  };
  /// What one driver's objects rest on: equal inputs give equal objects.
  struct Inputs {
    bool enabled = true;
    std::int64_t generation = 0;
    std::uint64_t ground = 0;
    std::vector<operands::DriverPool> pools;  ///< without the numbers of their nodes
    bool operator==(const Inputs&) const = default;
  };
  struct MadePool {
    std::string title;
    std::vector<operands::Object> objects;
    std::string missing;  ///< why there are none
  };
  struct Made {
    std::optional<Inputs> inputs;
    std::vector<MadePool> pools;
    std::vector<std::string> problems;
  };
  /// Who claims the same nodes as one driver does.
  struct Rivals {
    std::set<std::string> names;
    std::vector<std::string> nodes;
  };

  Result<kube::Next> TurnEnabled(const api::NvidiaDriver& driver, const api::ClusterPolicy* policy);
  const Ground& CurrentGround(const api::ClusterPolicy* policy);
  DriverPools PoolsFor(const api::NvidiaDriver& driver, const Ground& ground) const;
  const Made& Make(const api::NvidiaDriver& driver, const DriverPools& pools, const Ground& ground);
  bool Known(const Made& made) const;
  std::vector<OperandReport> Look(const Made& made, const DriverPools& pools);
  std::string Conflict(const api::NvidiaDriver& driver);
  void CountRivals();
  Result<kube::Next> Say(const api::NvidiaDriver& driver, std::string_view state, std::string_view reason,
                         std::string message, const std::vector<OperandReport>& pools = {});
  Result<kube::Next> Disable(const api::NvidiaDriver& driver);

  const Parts p_;
  // Touched by one turn at a time.
  std::map<std::string, std::string> uids_;  ///< of drivers seen, by name
  std::map<std::string, Made> made_;         ///< by uid
  Ground ground_;
  std::uint64_t ground_number_ = 0;
  std::vector<std::string> defaults_;
  std::map<std::string, Rivals> rivals_;  ///< by driver, as of `rivals_of_`
  std::pair<std::uint64_t, std::vector<std::pair<std::string, std::int64_t>>> rivals_of_;
};

}  // namespace gpuop::op
