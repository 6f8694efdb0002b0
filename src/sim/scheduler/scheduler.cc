#include "sim/scheduler/scheduler.h"

#include "sim/scheduler/read.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

constexpr std::size_t kPodsPerTask = 32;

/// What a change of a node can help against.
Obstacles HelpOf(const NodeInfo* before, const NodeInfo& now) {
  if (before == nullptr || !before->known)
    return {Obstacle::kNodeUnschedulable,
            Obstacle::kNodeName,
            Obstacle::kTaint,
            Obstacle::kNodeAffinity,
            Obstacle::kPorts,
            Obstacle::kResources,
            Obstacle::kSpread,
            Obstacle::kPodAffinity,
            Obstacle::kNoNodes};
  Obstacles out;
  if (before->unschedulable && !now.unschedulable) out.Add(Obstacle::kNodeUnschedulable);
  if (before->taints != now.taints) out.Add(Obstacles{Obstacle::kTaint, Obstacle::kSpread});
  if (before->labels != now.labels)
    out.Add(Obstacles{Obstacle::kNodeAffinity, Obstacle::kPodAffinity, Obstacle::kSpread});
  for (const auto& [resource, amount] : now.allocatable)
    if (amount > AmountOf(before->allocatable, resource)) out.Add(Obstacle::kResources);
  return out;
}

bool SameForPlacing(const PodInfo& a, const PodInfo& b) {
  return a.uid == b.uid && a.labels == b.labels && a.node_selector == b.node_selector && a.affinity == b.affinity &&
         a.tolerations == b.tolerations && a.requests == b.requests && a.gated == b.gated && a.priority == b.priority;
}

json::object ScheduledCondition(const PodInfo& pod, std::string_view reason, std::string_view message, WallTime now) {
  json::object c{{"type", "PodScheduled"}, {"status", "False"}, {"reason", reason}, {"message", message}};
  c["lastProbeTime"] = nullptr;
  const bool stays = pod.scheduled.status == "False" && pod.scheduled.last_transition != WallTime{};
  c["lastTransitionTime"] = FormatTime(stays ? pod.scheduled.last_transition : now);
  if (pod.generation != 0) c["observedGeneration"] = pod.generation;
  return c;
}

}  // namespace

struct Scheduler::State : std::enable_shared_from_this<State> {
  explicit State(Parts p) : parts(std::move(p)) {}

  void OnNode(const kube::Change<kube::Node>& change) {
    if (!change.now) return cache.RemoveNode(change.old->meta.name);
    if (change.old && !kube::DiffersBeyondHeartbeat(*change.old, *change.now)) return;
    NodeInfo now = ReadNode(*change.now);
    const auto before = cache.nodes().find(now.name);
    const Obstacles help = HelpOf(before == cache.nodes().end() ? nullptr : &before->second, now);
    cache.SetNode(std::move(now));
    Wake(help);
  }

  void OnPod(const kube::Change<kube::Pod>& change) {
    const std::string key = change.Key();
    if (!change.now) return Forget(key);
    auto info = ReadPod(*change.now);
    if (!info) return parts.log.Error("pod cannot be scheduled", {{"pod", key}, {"error", info.error().text}});
    const PodInfo& pod = **info;
    if (pod.terminal) return Forget(key);
    if (!pod.node.empty()) return OnBound(key, *info);
    if (pod.deleting || pod.scheduler_name != kName) return queue.Remove(key);
    const PodInfoPtr waiting = queue.Find(key);
    if (waiting != nullptr && SameForPlacing(*waiting, pod)) return queue.Refresh(*info);
    queue.Add(*info);
    Pump();
  }

  void OnBound(const std::string& key, const PodInfoPtr& pod) {
    queue.Remove(key);
    const PodInfoPtr before = cache.FindPod(key);
    cache.SetPod(pod);
    if (before == nullptr || before->labels != pod->labels) Wake({Obstacle::kPodAffinity, Obstacle::kSpread});
  }

  void Forget(const std::string& key) {
    queue.Remove(key);
    if (cache.FindPod(key) == nullptr) return;
    cache.RemovePod(key);
    Wake({Obstacle::kResources, Obstacle::kPorts, Obstacle::kPodAffinity, Obstacle::kSpread});
  }

  void Wake(Obstacles help) {
    if (help.empty()) return;
    queue.Wake(help, parts.executor.Now());
    Pump();
  }

  /// One task at a time works the queue off, a few pods in each, so that others get their turn.
  void Pump() {
    if (!synced || pumping || (!queue.HasReady() && !queue.NextDue())) return;
    if (!queue.HasReady()) return SetTimer(*queue.NextDue());
    pumping = true;
    parts.executor.Post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Work();
    });
  }

  void SetTimer(TimePoint due) {
    if (timer && *timer <= due) return;
    timer = due;
    parts.executor.PostAt(due, [weak = weak_from_this(), due] {
      const auto self = weak.lock();
      if (!self || self->timer != due) return;
      self->timer.reset();
      self->queue.Release(self->parts.executor.Now());
      self->Pump();
    });
  }

  void Work() {
    pumping = false;
    queue.Release(parts.executor.Now());
    for (std::size_t i = 0; i < kPodsPerTask; ++i) {
      const PodInfoPtr pod = queue.Pop();
      if (pod == nullptr) break;
      Schedule(pod);
    }
    Pump();
  }

  void Schedule(const PodInfoPtr& pod) {
    const auto chosen = cache.Choose(*pod);
    if (!chosen) return Refuse(pod, chosen.error());
    if (auto bound = Bind(*pod, *chosen); !bound) {
      if (bound.error().code == Code::kNotFound) return;  // deleted meanwhile: the watch will say so
      parts.log.Warn("binding failed", {{"pod", pod->Key()}, {"node", *chosen}, {"error", bound.error().text}});
      queue.Again(pod->Key(), parts.executor.Now());
      return;
    }
    // Counted at once: the next pod must not take the same room before the watch tells of this one.
    auto assumed = std::make_shared<PodInfo>(*pod);
    assumed->node = *chosen;
    OnBound(pod->Key(), assumed);
    parts.events.Emit(Reference(*pod),
                      {"Normal", "Scheduled", "Binding", "Successfully assigned " + pod->Key() + " to " + *chosen});
  }

  Result<> Bind(const PodInfo& pod, const std::string& node) {
    kube::ObjectRef ref = kube::Ref<kube::Pod>(std::string(pod.ns.view()), pod.name);
    ref.subresource = "binding";
    const json::object binding{{"apiVersion", "v1"},
                               {"kind", "Binding"},
                               {"metadata", {{"name", pod.name}, {"namespace", pod.ns.view()}, {"uid", pod.uid}}},
                               {"target", {{"kind", "Node"}, {"name", node}}}};
    TRY(parts.client.Post(ref, binding));
    return {};
  }

  void Refuse(const PodInfoPtr& pod, const NoFit& why) {
    queue.NoNode(pod->Key(), why.obstacles, parts.executor.Now());
    parts.events.Emit(Reference(*pod), {"Warning", "FailedScheduling", "Scheduling", why.message});
    if (pod->scheduled.status == "False" && pod->scheduled.message == why.message) return;
    kube::ObjectRef ref = kube::Ref<kube::Pod>(std::string(pod->ns.view()), pod->name);
    ref.subresource = "status";
    const json::object condition = ScheduledCondition(*pod, "Unschedulable", why.message, parts.executor.Wall());
    const json::object patch{{"metadata", {{"uid", pod->uid}}}, {"status", {{"conditions", json::array{condition}}}}};
    if (auto r = parts.client.Patch(ref, kube::PatchType::kStrategic, patch); !r && r.error().code != Code::kNotFound)
      parts.log.Warn("pod condition not written", {{"pod", pod->Key()}, {"error", r.error().text}});
  }

  static kube::ObjectReference Reference(const PodInfo& pod) {
    kube::ObjectReference ref;
    ref.api_version = "v1";
    ref.kind = "Pod";
    ref.ns = pod.ns;
    ref.name = pod.name;
    ref.uid = pod.uid;
    return ref;
  }

  Parts parts;
  NodeCache cache;
  SchedulingQueue queue;
  bool synced = false, pumping = false;
  std::optional<TimePoint> timer;
};

Scheduler::Scheduler(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {
  const std::weak_ptr<State> weak = state_;
  Parts& p = state_->parts;
  p.nodes.OnChange([weak](const kube::Change<kube::Node>& change) {
    if (const auto self = weak.lock()) self->OnNode(change);
  });
  p.pods.OnChange([weak](const kube::Change<kube::Pod>& change) {
    if (const auto self = weak.lock()) self->OnPod(change);
  });
  // Nothing is placed before both are complete: a node would look empty.
  p.nodes.OnSynced([weak] {
    const auto self = weak.lock();
    if (!self) return;
    self->parts.pods.OnSynced([weak] {
      const auto inner = weak.lock();
      if (!inner) return;
      inner->synced = true;
      inner->Pump();
    });
  });
}

Scheduler::~Scheduler() = default;

}  // namespace gpuop::sim
