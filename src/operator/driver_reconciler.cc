#include "operator/driver_reconciler.h"

#include <boost/json.hpp>

#include "operands/draft.h"
#include "operands/operand.h"
#include "operator/active.h"
#include "operator/driver_routing.h"
#include "operator/names.h"
#include "operator/policy_rules.h"

namespace gpuop::op {
namespace {

using Kind = OperandReport::Kind;

constexpr const char* kState = "state-driver";

/// "ubuntu22.04", or "ubuntu22.04-5.15.0-70-generic": what a pool's condition is called by.
std::string PoolTitle(const operands::DriverPool& pool) {
  if (!pool.kernel.empty()) return pool.os_tag + "-" + pool.kernel_sanitized;
  return pool.rhcos_version.empty() ? pool.os_tag : pool.os_tag + "-" + pool.rhcos_version;
}

}  // namespace

DriverReconciler::DriverReconciler(Parts parts) : p_(std::move(parts)) {
  p_.world.nodes().AddLabelIndex(std::string(kDriverOwner));
}

Result<kube::Next> DriverReconciler::Turn(const std::string& name) {
  if (!p_.world.Ready()) return kube::Next{.again = std::chrono::seconds(1)};
  const auto driver = p_.world.drivers().Get(name);
  if (const auto known = uids_.find(name);
      known != uids_.end() && (!driver || driver->meta.deleting() || driver->meta.uid != known->second)) {
    p_.keeper.Forget(known->second);
    made_.erase(known->second);
    uids_.erase(known);
  }
  if (!driver || driver->meta.deleting()) return kube::Next{};
  uids_[name] = driver->meta.uid;
  const auto policy = ActivePolicy(p_.world.policies().List());
  // A policy that cannot be read says nothing about drivers: they stay as they are.
  if (policy && policy->error.empty() && !policy->spec.driver.UsesNvidiaDriverCrd()) return Disable(*driver);
  return TurnEnabled(*driver, policy.get());
}

Result<kube::Next> DriverReconciler::Disable(const api::NvidiaDriver& driver) {
  Inputs none;
  none.enabled = false;
  if (Made& made = made_[driver.meta.uid]; made.inputs != none) {
    p_.keeper.Want(driver.meta.uid, {});
    made = {};
    made.inputs = std::move(none);
  }
  return Say(
      driver, "disabled", "Reconciled",
      "the ClusterPolicy describes drivers itself: set spec.driver.useNvidiaDriverCRD for NVIDIADrivers to count");
}

Result<kube::Next> DriverReconciler::TurnEnabled(const api::NvidiaDriver& driver, const api::ClusterPolicy* policy) {
  if (!driver.error.empty()) return Say(driver, "notReady", "ReconcileFailed", "invalid driver: " + driver.error);
  const Problems problems = CheckDriver(driver.spec);
  if (!problems.empty())
    return Say(driver, "notReady", "ReconcileFailed", "invalid driver: " + NamesText(problems, 20));
  const Ground& ground = CurrentGround(policy);
  const DriverPools pools = PoolsFor(driver, ground);
  const Made& made = Make(driver, pools, ground);
  if (!made.problems.empty())
    return Say(driver, "notReady", "ReconcileFailed", NamesText(made.problems, 20), Look(made, pools));
  // What was not looked at yet is not spoken of: the keeper gives another turn.
  if (!driver.status.state.empty() && !Known(made)) return kube::Next{};
  const std::vector<OperandReport> reports = Look(made, pools);
  if (std::string conflict = Conflict(driver); !conflict.empty())
    return Say(driver, "notReady",
               conflict.starts_with("multiple default") ? "ReconcileFailed" : "ConflictingNodeSelector",
               std::move(conflict), reports);
  std::vector<std::string> waiting;
  for (const OperandReport& report : reports)
    if (report.kind != Kind::kReady) waiting.push_back(report.state + ": " + report.message);
  // Without its nodes' labels it has no pools, and would be ready at once.
  if (driver.status.state != "ready" && !p_.labels_settled()) waiting.emplace_back("node labels are being written");
  if (!pools.unknown_nodes.empty())
    waiting.push_back("no operating system or kernel is known of " + NamesText(pools.unknown_nodes));
  if (!waiting.empty())
    return Say(driver, "notReady", "DriverNotReady", "driver is not ready: " + NamesText(waiting, 20), reports);
  return Say(driver, "ready", "Reconciled", "all drivers of " + std::to_string(pools.pools.size()) + " pools are ready",
             reports);
}

Result<> DriverReconciler::Preview(const api::NvidiaDriver& driver) {
  const auto policy = ActivePolicy(p_.world.policies().List());
  if (policy && policy->error.empty() && !policy->spec.driver.UsesNvidiaDriverCrd()) {
    p_.keeper.Want(driver.meta.uid, {});
    return {};
  }
  if (!driver.error.empty()) return Fail(Code::kInvalid, driver.error);
  if (const Problems problems = CheckDriver(driver.spec); !problems.empty())
    return Fail(Code::kInvalid, NamesText(problems, 20));
  const Ground& ground = CurrentGround(policy.get());
  const Made& made = Make(driver, PoolsFor(driver, ground), ground);
  if (!made.problems.empty()) return Fail(Code::kInvalid, NamesText(made.problems, 20));
  return {};
}

DriverPools DriverReconciler::PoolsFor(const api::NvidiaDriver& driver, const Ground& ground) const {
  return PoolsOf(driver, p_.world.nodes().Find(kDriverOwner, driver.meta.name), ground.driver_toolkit,
                 ground.host_root);
}

const DriverReconciler::Ground& DriverReconciler::CurrentGround(const api::ClusterPolicy* policy) {
  Ground fresh;
  // Before what it numbers: news in between is then seen again, not passed over.
  fresh.cluster = p_.world.version();
  if (policy != nullptr) {
    fresh.policy_uid = policy->meta.uid;
    fresh.policy_generation = policy->meta.generation;
  }
  if (ground_number_ > 0 && fresh.cluster == ground_.cluster && fresh.policy_uid == ground_.policy_uid &&
      fresh.policy_generation == ground_.policy_generation)
    return ground_;
  fresh.facts = GatherFacts(p_.world, p_.fleet.Summary(), p_.surroundings);
  if (policy != nullptr) fresh.host_root = operands::PathsOf(policy->spec.host_paths).host_root;
  fresh.driver_toolkit = fresh.facts.openshift.present && !fresh.facts.openshift.driver_toolkit_images.empty() &&
                         (policy == nullptr || policy->spec.operator_.use_ocp_driver_toolkit.value_or(true));
  ground_ = std::move(fresh);
  ++ground_number_;
  return ground_;
}

/// Renders the driver's pools and wants them, where something that they rest on has changed.
const DriverReconciler::Made& DriverReconciler::Make(const api::NvidiaDriver& driver, const DriverPools& pools,
                                                     const Ground& ground) {
  Inputs inputs{true, driver.meta.generation, ground_number_, pools.pools};
  for (operands::DriverPool& pool : inputs.pools) pool.nodes = 0;
  Made& made = made_[driver.meta.uid];
  if (made.inputs == inputs) return made;
  made = {};
  made.inputs = std::move(inputs);
  operands::Facts facts = ground.facts;
  facts.owner = OwnerRefTo(driver);
  Wish wish;
  for (const operands::DriverPool& pool : pools.pools) {
    MadePool& out = made.pools.emplace_back();
    out.title = PoolTitle(pool);
    auto objects = operands::RenderDriverPool(driver, pool, facts);
    if (objects) {
      std::ranges::copy(*objects, std::back_inserter(wish.objects));
      out.objects = *std::move(objects);
    } else if (objects.error().code == Code::kInvalid) {
      made.problems.push_back(objects.error().text);
    } else {
      // What runs goes on as it is until the missing part is there.
      wish.held_states.insert(kState);
      out.missing = objects.error().text;
    }
  }
  if (!made.problems.empty()) return made;
  p_.keeper.Want(driver.meta.uid, std::move(wish));
  return made;
}

bool DriverReconciler::Known(const Made& made) const {
  return std::ranges::all_of(made.pools, [this](const MadePool& pool) { return p_.lookout.Known(pool.objects); });
}

std::vector<OperandReport> DriverReconciler::Look(const Made& made, const DriverPools& pools) {
  std::vector<OperandReport> out;
  for (std::size_t i = 0; i < made.pools.size(); ++i) {
    const MadePool& pool = made.pools[i];
    OperandReport& report = out.emplace_back();
    report.state = pool.title;
    report.condition = "Pool-" + pool.title;
    report.reason = "Ready";
    report.message = std::to_string(pools.pools[i].nodes) + (pools.pools[i].nodes == 1 ? " node" : " nodes");
    if (!pool.missing.empty()) Worsen(report, Kind::kFailed, "PrerequisiteNotMet", pool.missing);
    for (const operands::Object& object : pool.objects) p_.lookout.Look(object, report);
  }
  return out;
}

/// Goes through all nodes once for all drivers, and only when one of either has changed.
void DriverReconciler::CountRivals() {
  decltype(rivals_of_) of{p_.fleet.version(), {}};
  const auto drivers = p_.world.drivers().List();
  for (const auto& driver : drivers) of.second.emplace_back(driver->meta.uid, driver->meta.generation);
  if (of == rivals_of_) return;
  rivals_of_ = std::move(of);
  rivals_.clear();
  const DriverRouting routing(drivers);
  defaults_ = routing.defaults();
  if (drivers.size() < 2) return;
  for (const auto& node : p_.world.nodes().List()) {
    if (!IsGpuNode(*node)) continue;
    const std::vector<std::string> claims = routing.OwnerOf(node->meta.labels).rivals;
    for (const std::string& name : claims) {
      Rivals& rivals = rivals_[name];
      rivals.names.insert(claims.begin(), claims.end());
      rivals.nodes.push_back(node->meta.name);
    }
  }
}

/// Which other drivers claim nodes of this one, in a sentence; "" when none does.
std::string DriverReconciler::Conflict(const api::NvidiaDriver& driver) {
  CountRivals();
  if (driver.spec.is_default && defaults_.size() > 1)
    return "multiple default NVIDIADrivers found: " + NamesText(defaults_);
  const auto it = rivals_.find(driver.meta.name);
  if (driver.spec.is_default || it == rivals_.end()) return {};
  const Rivals& rivals = it->second;
  return "multiple NVIDIADrivers match the same node: " + NamesText({rivals.names.begin(), rivals.names.end()}) +
         " on " + NamesText(rivals.nodes) + "; these nodes keep the driver that they have";
}

Result<kube::Next> DriverReconciler::Say(const api::NvidiaDriver& driver, std::string_view state,
                                         std::string_view reason, std::string message,
                                         const std::vector<OperandReport>& pools) {
  Conditions conditions(driver.status.conditions, driver.meta.generation, p_.executor.Wall());
  const api::Condition* before = FindCondition(driver.status.conditions, "Error");
  if (state != "ready" && reason != "DriverNotReady" && reason != "Reconciled" &&
      (before == nullptr || before->message != message))
    p_.events.Emit(kube::ReferenceTo(driver), kube::EventType::kWarning, reason, message);
  if (state == "ready") {
    conditions.SetReady(reason, std::move(message));
  } else {
    conditions.SetError(reason, std::move(message));
  }
  for (const OperandReport& pool : pools)
    conditions.Set(pool.condition, pool.kind == Kind::kReady, pool.reason, pool.message);
  if (!driver.unknown.empty())
    conditions.Set("UnknownFields", true, "UnknownFields",
                   "fields that this version does not know have no effect: " + NamesText(driver.unknown, 20));
  const StatusReport report{std::string(state), conditions.list()};
  ASSIGN(const auto again, p_.statuses.Write(kube::Ref<api::NvidiaDriver>(driver.meta.name), driver.meta,
                                             driver.status.state, driver.status.ns, driver.status.conditions, report));
  return kube::Next{.again = again};
}

}  // namespace gpuop::op
