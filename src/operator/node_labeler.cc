#include "operator/node_labeler.h"

#include <algorithm>
#include <boost/json.hpp>

#include "operator/active.h"
#include "operator/conditions.h"
#include "operator/names.h"
#include "operator/node_patch.h"
#include "operator/policy_rules.h"

namespace gpuop::op {
namespace {

/// When to ask again for an eviction that a disruption budget refused: nothing tells when it would not.
constexpr std::chrono::seconds kEvictAgain{10};

/// Whether a custom resource says something else than before: not only its status.
template <class T>
bool ChangesWish(const kube::Change<T>& c) {
  return !c.old || !c.now || c.old->meta.generation != c.now->meta.generation ||
         c.old->meta.deleting() != c.now->meta.deleting();
}

}  // namespace

NodeLabeler::NodeLabeler(Executor& executor, World& world, const kube::Client& client, kube::EventRecorder& events,
                         Log& log, Options options, std::function<void()> on_settled)
    : executor_(executor),
      world_(world),
      client_(client),
      events_(events),
      log_(log),
      shared_(std::make_shared<Shared>(world, std::move(on_settled))),
      pods_(executor, client, log, [shared = shared_](std::string_view node) { shared->again(node); }),
      mark_pods_(executor, client, log, world.ns(), [shared = shared_](std::string_view node) { shared->again(node); }),
      controller_(executor, log,
                  {.name = "nodes",
                   .concurrency = options.concurrency,
                   .back_off = {std::chrono::milliseconds(20), std::chrono::seconds(30), 0.1},
                   .seed = options.seed,
                   .metrics = options.metrics},
                  [this](const std::string& name) { return Turn(name); }) {
  const auto add = controller_.Adder();
  shared_->again = add;
  world_.nodes().OnChange([shared = shared_, add](const kube::Change<NodeState>& c) {
    if (c.old && c.now && !Differs(*c.old, *c.now)) return;
    c.now ? shared->MarkDirty(c.Key()) : shared->MarkClean(c.Key(), shared->MarkOf(c.Key()));
    add(c.Key());
  });
  world_.policies().OnChange([shared = shared_, add](const kube::Change<api::ClusterPolicy>& c) {
    if (ChangesWish(c)) shared->AllNodes(add);
  });
  world_.drivers().OnChange([shared = shared_, add](const kube::Change<api::NvidiaDriver>& c) {
    if (ChangesWish(c)) shared->AllNodes(add);
  });
  world_.driver_pods().OnChange([add](const kube::Change<DriverPod>& c) {
    if (!c.any().node.empty() && (c.any().IsOrphan() || (c.old && c.old->IsOrphan())))
      add(std::string(c.any().node.view()));
  });
  world_.driver_pods().AddIndex("node", [](const DriverPod& pod, const std::function<void(std::string_view)>& emit) {
    if (pod.IsOrphan()) emit(pod.node);
  });
}

void NodeLabeler::Start() {
  controller_.Start();
  shared_->AllNodes(controller_.Adder());
}

void NodeLabeler::Shared::AllNodes(const std::function<void(std::string_view)>& add) {
  {
    Lock l(mu);
    ++changes;
  }
  for (const auto& node : world.nodes().List()) {
    MarkDirty(node->meta.name);
    add(node->meta.name);
  }
}

std::shared_ptr<const NodeLabeler::Policy> NodeLabeler::CurrentPolicy() {
  std::uint64_t at = 0;
  {
    Lock l(shared_->mu);
    if (shared_->decided == shared_->changes) return shared_->policy;
    at = shared_->changes;
  }
  const auto active = ActivePolicy(world_.policies().List());
  const auto drivers = world_.drivers().List();
  DriverRouting routing(drivers);
  // A policy with something wrong in it decides nothing: nodes stay as they are.
  const bool readable = active == nullptr || (active->error.empty() && CheckPolicy(active->spec).empty());
  auto fresh = readable ? std::make_shared<const Policy>(
                              Policy{RulesOf(active ? &active->spec : nullptr, !routing.empty()), std::move(routing)})
                        : nullptr;
  Lock l(shared_->mu);
  if (shared_->changes == at) {
    shared_->policy = fresh;
    shared_->decided = at;
  }
  return fresh;
}

Result<kube::Next> NodeLabeler::Turn(const std::string& name) {
  if (!world_.Ready()) return kube::Next{.again = std::chrono::seconds(1)};
  const std::uint64_t mark = shared_->MarkOf(name);
  const auto node = world_.nodes().Get(name);
  const auto policy = CurrentPolicy();
  if (!node || node->meta.deleting() || !policy) {
    if (!node) {
      Lock l(mu_);
      held_.erase(name);
      told_.erase(name);
    }
    pods_.Forget(name);
    mark_pods_.Forget(name);
    shared_->MarkClean(name, mark);
    return kube::Next{};
  }
  const NodePlan plan = Plan(*node, *policy);
  Tell(*node, plan);
  if (!plan.changing_workload) pods_.Forget(name);
  if (plan.leftovers.empty()) mark_pods_.Forget(name);
  if (!plan.patch.empty()) {
    TRY(Write(*node, plan.patch));
    return kube::Next{};  // the change comes back as news, and then the node is clean
  }
  if (plan.changing_workload) return Drain(*node);
  if (!plan.leftovers.empty()) TRY(Sweep(*node, plan));
  shared_->MarkClean(name, mark);
  kube::Next next;
  if (plan.absence_pending || plan.unmet_pending) next.again = kHoldTime;
  return next;
}

NodePlan NodeLabeler::Plan(const NodeState& node, const Policy& policy) {
  const std::string& name = node.meta.name;
  const TimePoint now = executor_.Now();
  const bool orphan = !world_.driver_pods().Find("node", name).empty();
  NodeContext context{policy.rules, policy.drivers, false, false, orphan};
  if (const auto pods = pods_.Of(name)) {
    context.gpus_in_use = std::ranges::any_of(*pods, [](const auto& pod) { return pod->MustLeave(); });
    for (const auto& pod : *pods) context.running.insert(pod->operands.begin(), pod->operands.end());
  }
  Lock l(mu_);
  Held& held = held_[name];
  if (held.uid != node.meta.uid) held = {node.meta.uid, {}, {}};
  context.absence_held = held.absent && now >= *held.absent + kHoldTime;
  context.unmet_held = held.unmet && now >= *held.unmet + kHoldTime;
  NodePlan plan = PlanNode(node, context);
  // A proof that is interrupted begins anew.
  if (!plan.absence_pending && !context.absence_held) held.absent = std::nullopt;
  if (plan.absence_pending && !held.absent) held.absent = now;
  if (SignOf(node) != GpuSign::kAbsent) held.absent = std::nullopt;
  if (plan.unmet_pending && !held.unmet) held.unmet = now;
  if (!plan.unmet_pending && !context.unmet_held) held.unmet = std::nullopt;
  if (!held.absent && !held.unmet) held_.erase(name);
  return plan;
}

/// Events on the node, once for each new message.
void NodeLabeler::Tell(const NodeState& node, const NodePlan& plan) {
  std::string reason, text;
  if (!plan.bad_workload.empty()) {
    reason = "InvalidWorkloadConfig";
    text = "label " + std::string(kWorkloadConfig) + "=" + plan.bad_workload +
           " is none of container, vm-passthrough, vm-vgpu: no operand is deployed on a guess";
  } else if (!plan.rivals.empty()) {
    reason = "ConflictingNodeSelector";
    text = "several NVIDIADrivers select this node: " + NamesText(plan.rivals) + "; its driver stays as it is";
  } else if (plan.absence_pending) {
    reason = "GPUsAbsent";
    text =
        "node feature discovery finds no NVIDIA device and the kubelet offers none; operands are removed if it stays "
        "so";
  }
  if (text.empty() && plan.changing_workload) return;  // Drain tells
  TellOnce(node, reason, text);
}

void NodeLabeler::TellOnce(const NodeState& node, const std::string& reason, const std::string& text) {
  {
    Lock l(mu_);
    std::string& told = told_[node.meta.name];
    const bool same = told == text;
    told = text;
    if (text.empty()) told_.erase(node.meta.name);
    if (same || text.empty()) return;
  }
  events_.Emit(kube::ReferenceTo(node), kube::EventType::kWarning, reason, text);
}

Result<> NodeLabeler::Write(const NodeState& node, const NodePatch& patch) {
  kube::WriteOptions options;
  options.only_metadata = true;
  auto answer =
      client_.Patch(kube::Ref<NodeState>(node.meta.name), kube::PatchType::kJson, JsonPatchOf(node, patch), options);
  if (!answer && answer.error().code == Code::kNotFound) return {};
  if (!answer) return std::unexpected(std::move(answer).error().During("label node " + node.meta.name));
  log_.Info("node labelled", {{"node", node.meta.name},
                              {"labels", std::to_string(patch.labels.size())},
                              {"annotations", std::to_string(patch.annotations.size())}});
  return {};
}

/// Asks the Pods that use the node's GPUs to leave; budgets for disruption are kept. The next turn comes with their
/// news.
Result<kube::Next> NodeLabeler::Drain(const NodeState& node) {
  const auto pods = pods_.Follow(node.meta.name);
  if (!pods) return kube::Next{};
  std::vector<std::string> refused;
  for (const auto& pod : *pods) {
    if (!pod->MustLeave() || pod->meta.deleting()) continue;
    kube::DeleteOptions options;
    options.uid = pod->meta.uid;
    const auto r = client_.Evict(pod->meta.ns, pod->meta.name, options);
    if (r || r.error().code == Code::kNotFound || r.error().code == Code::kConflict) continue;
    if (r.error().code != Code::kTooManyRequests)
      return std::unexpected(Error(r.error()).During("evict " + pod->meta.Key() + " from " + node.meta.name));
    refused.push_back(pod->meta.Key());
  }
  if (refused.empty()) return kube::Next{};
  TellOnce(node, "WorkloadChangeWaits",
           "its GPUs are used by Pods that a disruption budget protects: " + NamesText(refused));
  return kube::Next{.again = kEvictAgain};
}

/// Takes the marks off the node that no Pod keeps any more. It reads the node, for once: where a taint stands among
/// others, and whether a condition is there at all, is not cached.
Result<> NodeLabeler::Sweep(const NodeState& node, const NodePlan& plan) {
  const auto kept = mark_pods_.Follow(node.meta.name);
  if (!kept) return {};  // another turn comes when it is known
  NodeMarks gone = plan.leftovers;
  for (const std::string& mark : *kept) gone.erase(mark);
  if (gone.empty()) return {};
  const auto live = client_.Get<kube::Node>(node.meta.name);
  if (!live && live.error().code == Code::kNotFound) return {};
  if (!live) return std::unexpected(Error(live.error()).During("read node " + node.meta.name));
  if (live->meta.uid != node.meta.uid) return {};
  if (!live->meta.annotations.contains(kNodeMarks)) return {};  // it was done, and the news is on its way
  MarkSweep sweep = PlanSweep(*live, gone);
  if (gone == plan.leftovers && !plan.last.empty()) {
    const auto last = JsonPatchOf(node, plan.last);
    sweep.node.insert(sweep.node.end(), last.begin(), last.end());
  }
  kube::ObjectRef ref = kube::Ref<kube::Node>(node.meta.name);
  kube::WriteOptions options;
  options.only_metadata = true;
  const auto send = [&](kube::PatchType type, const boost::json::value& patch) -> Result<> {
    const auto answer = client_.Patch(ref, type, patch, options);
    if (answer || answer.error().code == Code::kNotFound) return {};
    return std::unexpected(Error(answer.error()).During("take operands' marks off node " + node.meta.name));
  };
  ref.subresource = "status";
  if (sweep.status) TRY(send(kube::PatchType::kStrategic, *sweep.status));
  ref.subresource = {};
  if (!sweep.node.empty()) TRY(send(kube::PatchType::kJson, sweep.node));
  log_.Info("operands' marks taken off", {{"node", node.meta.name}, {"marks", TextOf(gone)}});
  return {};
}

void NodeLabeler::Preview(const NodeState& node, DryRunText& out) {
  const auto policy = CurrentPolicy();
  if (!policy) return;
  const NodePlan plan = Plan(node, *policy);
  const std::string title = "Node " + node.meta.name;
  if (!plan.patch.empty()) out.AddPatch(title, MergePatchOf(plan.patch));
  for (const std::string& mark : plan.leftovers)
    out.AddRemoval("mark " + mark + " of " + title, " when no Pod keeps it any more");
}

bool NodeLabeler::Settled() const {
  Lock l(shared_->mu);
  return shared_->dirty.empty();
}

void NodeLabeler::Shared::MarkDirty(const std::string& name) {
  Lock l(mu);
  dirty[name] = ++marks;
}

std::uint64_t NodeLabeler::Shared::MarkOf(const std::string& name) const {
  Lock l(mu);
  const auto it = dirty.find(name);
  return it == dirty.end() ? 0 : it->second;
}

void NodeLabeler::Shared::MarkClean(const std::string& name, std::uint64_t mark) {
  {
    Lock l(mu);
    const auto it = dirty.find(name);
    if (it == dirty.end() || it->second != mark) return;
    dirty.erase(it);
    if (!dirty.empty()) return;
  }
  on_settled();
}

}  // namespace gpuop::op
