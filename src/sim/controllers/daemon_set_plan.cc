#include "sim/controllers/daemon_set_plan.h"

#include <algorithm>

namespace gpuop::sim {

namespace {

using PodsByNode = std::map<std::string, std::vector<PodPtr>>;

bool IsUpdated(const kube::Pod& pod, std::string_view hash) {
  return pod.meta.labels.Get("controller-revision-hash") == hash;
}

/// Bound pods first, then the older ones, then by name.
void SortByAge(std::vector<PodPtr>& pods) {
  std::ranges::sort(pods, {}, [](const PodPtr& p) {
    return std::tuple(p->spec.node_name.empty(), p->meta.created, std::string_view(p->meta.name));
  });
}

class Planner {
 public:
  explicit Planner(const DaemonView& view) : view_(view), set_(*view.set), min_ready_(set_.spec.min_ready_seconds) {}

  DaemonPlan Run() {
    Group();
    ReadSurge();
    for (const NodePtr& node : view_.nodes) Manage(node->meta.name);
    RemoveStranded();
    if (plan_.create_on.empty() && plan_.remove.empty() && set_.spec.strategy.type != "OnDelete") Update();
    CountStatus();
    return std::move(plan_);
  }

 private:
  void Group() {
    for (const NodePtr& node : view_.nodes) fits_[node->meta.name] = view_.fitter->Check(*node);
    for (const PodPtr& pod : view_.pods) {
      if (pod->meta.deleting() && pod->finished()) continue;
      by_node_[TargetNode(*pod)].push_back(pod);
    }
    for (auto& [node, pods] : by_node_) SortByAge(pods);
    for (const auto& [name, fit] : fits_) desired_ += fit.should_run ? 1 : 0;
  }

  void ReadSurge() {
    const kube::RollingUpdate& rolling = set_.spec.strategy.rolling;
    surge_ = rolling.max_surge ? Scaled(*rolling.max_surge, desired_, true).value_or(0) : 0;
    allows_surge_ = rolling.max_surge && (rolling.max_surge->number > 0 || !rolling.max_surge->text.empty()) &&
                    Scaled(*rolling.max_surge, 100, true).value_or(0) > 0 && set_.spec.strategy.type != "OnDelete";
    unavailable_ = rolling.max_unavailable ? Scaled(*rolling.max_unavailable, desired_, true).value_or(1) : 1;
    if (surge_ == 0 && unavailable_ == 0) unavailable_ = 1;
  }

  std::string Where(const kube::Pod& pod, const std::string& node) const { return pod.meta.Key() + " on node " + node; }

  void Manage(const std::string& node) {
    const DaemonFit fit = fits_.at(node);
    const auto found = by_node_.find(node);
    if (fit.should_run && found == by_node_.end()) return plan_.create_on.push_back(node);
    if (found == by_node_.end()) return;
    if (!fit.may_stay) {
      for (const PodPtr& pod : found->second)
        if (!pod->meta.deleting()) plan_.remove.push_back({pod, {}, {}, {}});
      return;
    }
    std::vector<PodPtr> running;
    for (const PodPtr& pod : found->second) {
      if (pod->meta.deleting()) continue;
      if (pod->status.phase == "Failed") {
        ReplaceFailed(pod, node);
      } else if (pod->status.phase == "Succeeded") {
        plan_.remove.push_back({pod, "Normal", "SucceededDaemonPod",
                                "Found succeeded daemon pod " + Where(*pod, node) + ", will try to delete it"});
      } else {
        running.push_back(pod);
      }
    }
    if (running.size() > 1) RemoveExtra(running);
  }

  void ReplaceFailed(const PodPtr& pod, const std::string& node) {
    if (const auto until = view_.failed_until.find(node);
        until != view_.failed_until.end() && until->second > view_.now)
      return LookAgain(until->second);
    plan_.remove.push_back(
        {pod, "Warning", "FailedDaemonPod", "Found failed daemon pod " + Where(*pod, node) + ", will try to kill it"});
  }

  void RemoveExtra(const std::vector<PodPtr>& running) {
    if (!allows_surge_) {
      for (std::size_t i = 1; i < running.size(); ++i) plan_.remove.push_back({running[i], {}, {}, {}});
      return;
    }
    PodPtr fresh, old;
    for (const PodPtr& pod : running) {
      PodPtr& slot = IsUpdated(*pod, view_.hash) ? fresh : old;
      slot == nullptr ? void(slot = pod) : plan_.remove.push_back({pod, {}, {}, {}});
    }
    if (fresh == nullptr || old == nullptr) return;
    if (!old->ready() || Available(*fresh)) plan_.remove.push_back({old, {}, {}, {}});
  }

  /// Pods that wait for a node that is gone.
  void RemoveStranded() {
    for (const auto& [node, pods] : by_node_)
      if (!node.empty() && !fits_.contains(node))
        for (const PodPtr& pod : pods)
          if (pod->spec.node_name.empty() && !pod->meta.deleting()) plan_.remove.push_back({pod, {}, {}, {}});
  }

  struct NodeState {
    PodPtr fresh, old;
    bool clear = true;  ///< at most one of each
  };
  NodeState StateOf(const std::string& node) const {
    NodeState state;
    const auto found = by_node_.find(node);
    if (found == by_node_.end()) return state;
    for (const PodPtr& pod : found->second) {
      if (pod->meta.deleting()) continue;
      PodPtr& slot = IsUpdated(*pod, view_.hash) ? state.fresh : state.old;
      if (slot != nullptr) state.clear = false;
      slot = pod;
    }
    return state;
  }

  void Update() { allows_surge_ ? UpdateBySurge() : UpdateInPlace(); }

  void UpdateInPlace() {
    std::int32_t down = 0;
    std::vector<PodPtr> broken, candidates;
    for (const std::string& node : UpdateOrder()) {
      const NodeState s = StateOf(node);
      if (!s.clear || (s.fresh == nullptr && s.old == nullptr)) {
        ++down;
      } else if (s.fresh != nullptr) {
        down += Available(*s.fresh) ? 0 : 1;
      } else if (!Available(*s.old)) {
        broken.push_back(s.old);
      } else {
        candidates.push_back(s.old);
      }
    }
    for (const PodPtr& pod : broken) plan_.remove.push_back({pod, {}, {}, {}});
    const auto allowed = static_cast<std::size_t>(std::max(0, unavailable_ - down));
    for (std::size_t i = 0; i < std::min(allowed, candidates.size()); ++i)
      plan_.remove.push_back({candidates[i], {}, {}, {}});
  }

  void UpdateBySurge() {
    std::int32_t surging = 0;
    std::vector<std::string> at_once, candidates;
    for (const std::string& node : UpdateOrder()) {
      const NodeState s = StateOf(node);
      if (!s.clear) {
        ++surging;
      } else if (s.old == nullptr) {
        continue;
      } else if (s.fresh == nullptr) {
        (Available(*s.old) ? candidates : at_once).push_back(node);
      } else if (!Available(*s.fresh)) {
        ++surging;
      } else {
        plan_.remove.push_back({s.old, {}, {}, {}});
      }
    }
    plan_.create_on.insert(plan_.create_on.end(), at_once.begin(), at_once.end());
    const auto allowed = static_cast<std::size_t>(std::max(0, surge_ - surging));
    for (std::size_t i = 0; i < std::min(allowed, candidates.size()); ++i) plan_.create_on.push_back(candidates[i]);
  }

  /// Nodes that should run a pod or have one.
  std::set<std::string> UpdateOrder() const {
    std::set<std::string> out;
    for (const auto& [node, fit] : fits_)
      if (fit.should_run || by_node_.contains(node)) out.insert(node);
    return out;
  }

  void CountStatus() {
    kube::DaemonSetStatus& s = plan_.status;
    s.observed_generation = set_.meta.generation;
    s.collision_count = set_.status.collision_count;
    s.conditions = set_.status.conditions;
    s.desired = desired_;
    for (const auto& [node, fit] : fits_) {
      const auto found = by_node_.find(node);
      if (found == by_node_.end()) continue;
      if (!fit.should_run) {
        ++s.misscheduled;
        continue;
      }
      const kube::Pod& pod = *found->second.front();
      ++s.current;
      s.ready += pod.ready() ? 1 : 0;
      s.available += Available(pod) ? 1 : 0;
      s.updated += IsUpdated(pod, view_.hash) ? 1 : 0;
    }
    s.unavailable = s.desired - s.available;
  }

  bool Available(const kube::Pod& pod) {
    if (const auto at = AvailableAt(pod, min_ready_, view_.now)) LookAgain(*at);
    return IsAvailable(pod, min_ready_, view_.now);
  }
  void LookAgain(WallTime at) { plan_.again = std::min(plan_.again.value_or(at), at); }

  const DaemonView& view_;
  const kube::DaemonSet& set_;
  const std::int32_t min_ready_;
  std::map<std::string, DaemonFit> fits_;
  PodsByNode by_node_;
  std::int32_t desired_ = 0, surge_ = 0, unavailable_ = 1;
  bool allows_surge_ = false;
  DaemonPlan plan_;
};

}  // namespace

DaemonPlan PlanDaemonSet(const DaemonView& view) { return Planner(view).Run(); }

}  // namespace gpuop::sim
