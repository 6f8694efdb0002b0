#include "sim/controllers/deployment_plan.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "data/json.h"
#include "kube/list_text.h"

namespace gpuop::sim {

namespace {

std::int64_t RevisionOf(const kube::ReplicaSet& set) {
  return ParseInt(set.meta.annotations.Get(kRevision)).value_or(0);
}

auto Age(const ReplicaSetPtr& set) { return std::tuple(set->meta.created, std::string_view(set->meta.name)); }

/// Annotations of the Deployment that are its own affair and not copied to its sets.
bool IsCopied(std::string_view annotation) {
  static constexpr std::string_view kOwn[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                              kRevision,
                                              kRevisionHistory,
                                              kDesiredReplicas,
                                              kMaxReplicas,
                                              "deprecated.deployment.rollback.to"};
  return std::ranges::find(kOwn, annotation) == std::end(kOwn);
}

class Planner {
 public:
  explicit Planner(const DeploymentView& view) : view_(view), d_(*view.deployment), bounds_(BoundsOf(d_)) {
    for (const ReplicaSetPtr& set : view.sets)
      if (HasTemplate(*set, d_.spec.pod_template) && (fresh_ == nullptr || Age(set) < Age(fresh_))) fresh_ = set;
    for (const ReplicaSetPtr& set : view.sets) {
      size_[set->meta.name] = set->spec.replicas;
      if (set != fresh_) old_.push_back(set);
    }
    std::ranges::sort(old_, {}, Age);
  }

  DeploymentPlan Run() {
    plan_.status = DeploymentStatusOf(view_, fresh_);
    if (d_.meta.deleting()) return std::move(plan_);
    NotePause();
    if (d_.spec.paused || IsScaling()) {
      if (fresh_ != nullptr) SyncFresh();
      ScaleAll();
    } else if (d_.spec.strategy.type == "Recreate") {
      Recreate();
    } else {
      Roll();
    }
    if (!d_.spec.paused) plan_.again = JudgeProgress(view_, fresh_, plan_.status);
    TrimHistory();
    EmitSizes();
    return std::move(plan_);
  }

 private:
  std::int32_t SizeOf(const ReplicaSetPtr& set) const { return size_.at(set->meta.name); }
  std::int32_t TotalSize() const {
    std::int32_t total = 0;
    for (const auto& [name, size] : size_) total += size;
    return total;
  }

  void NotePause() {
    const kube::Condition* have = kube::FindCondition(plan_.status.conditions, "Progressing");
    if (have != nullptr && have->reason == "ProgressDeadlineExceeded") return;
    const bool noted = have != nullptr && have->reason == "DeploymentPaused";
    if (d_.spec.paused && !noted) Note("Unknown", "DeploymentPaused", "Deployment is paused");
    if (!d_.spec.paused && noted) Note("Unknown", "DeploymentResumed", "Deployment is resumed");
  }

  void Note(std::string_view status, std::string_view reason, const std::string& message) {
    kube::Condition c;
    c.type = "Progressing";
    c.status = status;
    c.reason = reason;
    c.message = std::string_view(message);
    c.last_transition = c.last_update = view_.now;
    SetDeploymentCondition(plan_.status, std::move(c));
  }

  /// spec.replicas has changed since the sets were last sized.
  bool IsScaling() const {
    return std::ranges::any_of(view_.sets, [&](const ReplicaSetPtr& set) {
      const auto noted = ParseInt(set->meta.annotations.Get(kDesiredReplicas));
      return set->spec.replicas > 0 && noted && *noted != d_.spec.replicas;
    });
  }

  std::string NextRevision() const {
    std::int64_t most = 0;
    for (const ReplicaSetPtr& set : old_) most = std::max(most, RevisionOf(*set));
    return std::to_string(most + 1);
  }

  std::map<std::string, std::string> SizeAnnotations() const {
    return {{std::string(kDesiredReplicas), std::to_string(d_.spec.replicas)},
            {std::string(kMaxReplicas), std::to_string(d_.spec.replicas + bounds_.surge)}};
  }

  std::map<std::string, std::string> CopiedAnnotations() const {
    std::map<std::string, std::string> out;
    for (const auto& [key, value] : d_.meta.annotations)
      if (IsCopied(key)) out.emplace(key.view(), value.view());
    return out;
  }

  ReplicaSetChange& ChangeOf(const ReplicaSetPtr& set) {
    for (ReplicaSetChange& change : plan_.change)
      if (change.set == set) return change;
    return plan_.change.emplace_back(
        ReplicaSetChange{.set = set, .replicas = {}, .annotations = {}, .min_ready_seconds = {}});
  }

  /// The set of the current template carries the newest revision, the Deployment's annotations and minReadySeconds.
  void SyncFresh() {
    const std::int64_t have = RevisionOf(*fresh_);
    const std::string next = NextRevision();
    auto wanted = CopiedAnnotations();
    if (have < ParseInt(next)) {
      wanted[std::string(kRevision)] = next;
      if (have > 0) {
        const std::string_view history = fresh_->meta.annotations.Get(kRevisionHistory);
        wanted[std::string(kRevisionHistory)] =
            std::string(history) + (history.empty() ? "" : ",") + std::to_string(have);
      }
    }
    std::erase_if(wanted, [&](const auto& e) { return fresh_->meta.annotations.Get(e.first) == e.second; });
    if (!wanted.empty()) ChangeOf(fresh_).annotations = std::move(wanted);
    if (fresh_->spec.min_ready_seconds != d_.spec.min_ready_seconds)
      ChangeOf(fresh_).min_ready_seconds = d_.spec.min_ready_seconds;
    SetRevision(have < ParseInt(next) ? next : std::to_string(have));
    if (kube::FindCondition(plan_.status.conditions, "Progressing") == nullptr)
      Note("True", "FoundNewReplicaSet", "Found new replica set " + Quote(fresh_->meta.name));
  }

  void SetRevision(const std::string& revision) {
    if (d_.meta.annotations.Get(kRevision) != revision) plan_.revision = revision;
  }

  void Create(std::int32_t replicas) {
    const std::int32_t collisions = d_.status.collision_count.value_or(0);
    NewReplicaSet set;
    set.hash = TemplateHash(d_.spec.pod_template.whole.text, collisions);
    set.name = d_.meta.name + "-" + set.hash;
    set.replicas = replicas;
    set.annotations = CopiedAnnotations();
    set.annotations.merge(SizeAnnotations());
    set.annotations[std::string(kRevision)] = NextRevision();
    SetRevision(NextRevision());
    Note("True", "NewReplicaSetCreated", "Created new replica set " + Quote(set.name));
    plan_.create = std::move(set);
  }

  std::int32_t RoomToGrow(std::int32_t fresh_size) const {
    const std::int32_t room = d_.spec.replicas + bounds_.surge - TotalSize();
    return fresh_size + std::clamp(room, 0, std::max(0, d_.spec.replicas - fresh_size));
  }

  void Roll() {
    if (fresh_ == nullptr) return Create(RoomToGrow(0));
    SyncFresh();
    const std::int32_t size = SizeOf(fresh_);
    const std::int32_t wanted = size > d_.spec.replicas ? d_.spec.replicas : RoomToGrow(size);
    if (wanted != size) return void(size_[fresh_->meta.name] = wanted);
    ShrinkOld();
  }

  void ShrinkOld() {
    const std::int32_t least_available = d_.spec.replicas - bounds_.unavailable;
    const std::int32_t fresh_unavailable = fresh_->spec.replicas - fresh_->status.available;
    std::int32_t spare = TotalSize() - least_available - fresh_unavailable;
    if (spare <= 0) return;
    std::int32_t available = fresh_->status.available;
    for (const ReplicaSetPtr& set : old_) {  // first those that serve nobody
      available += set->status.available;
      const std::int32_t idle = std::clamp(SizeOf(set) - set->status.available, 0, spare);
      size_[set->meta.name] -= idle;
      spare -= idle;
    }
    std::int32_t dispensable = available - least_available;
    for (const ReplicaSetPtr& set : old_) {
      if (dispensable <= 0) return;
      const std::int32_t down = std::min(SizeOf(set), dispensable);
      size_[set->meta.name] -= down;
      dispensable -= down;
    }
  }

  void Recreate() {
    bool shrinking = false;
    for (const ReplicaSetPtr& set : old_) {
      shrinking = shrinking || SizeOf(set) > 0;
      size_[set->meta.name] = 0;
    }
    if (fresh_ != nullptr) SyncFresh();
    if (shrinking || view_.old_pods_running) return;
    if (fresh_ == nullptr) return Create(d_.spec.replicas);
    size_[fresh_->meta.name] = d_.spec.replicas;
  }

  std::vector<ReplicaSetPtr> Active() const {
    std::vector<ReplicaSetPtr> out;
    for (const ReplicaSetPtr& set : view_.sets)
      if (set->spec.replicas > 0) out.push_back(set);
    return out;
  }

  void ScaleAll() {
    const std::vector<ReplicaSetPtr> active = Active();
    if (active.size() <= 1) {
      const ReplicaSetPtr only = !active.empty()                     ? active.front()
                                 : fresh_ != nullptr || old_.empty() ? fresh_
                                                                     : old_.back();
      if (only != nullptr) size_[only->meta.name] = d_.spec.replicas;
      if (only != nullptr) resized_.insert(only->meta.name);
      return;
    }
    const auto noted = fresh_ == nullptr ? std::nullopt : ParseInt(fresh_->meta.annotations.Get(kDesiredReplicas));
    if (fresh_ != nullptr && fresh_->spec.replicas == d_.spec.replicas && noted == d_.spec.replicas &&
        fresh_->status.available == d_.spec.replicas) {
      for (const ReplicaSetPtr& set : old_) size_[set->meta.name] = 0;
      return;
    }
    if (d_.spec.strategy.type != "Recreate") ScaleInProportion(active);
  }

  /// Each set keeps its share of the whole; what rounding leaves over goes to the largest.
  void ScaleInProportion(std::vector<ReplicaSetPtr> active) {
    const std::int32_t allowed = d_.spec.replicas > 0 ? d_.spec.replicas + bounds_.surge : 0;
    const std::int32_t to_add = allowed - TotalSize();
    std::ranges::sort(active, [&](const ReplicaSetPtr& a, const ReplicaSetPtr& b) {
      if (a->spec.replicas != b->spec.replicas) return a->spec.replicas > b->spec.replicas;
      return to_add > 0 ? Age(b) < Age(a) : Age(a) < Age(b);
    });
    std::int32_t added = 0;
    for (const ReplicaSetPtr& set : active) {
      const std::int32_t left = to_add - added;
      const std::int32_t share = Share(*set);
      const std::int32_t change = to_add > 0 ? std::clamp(share, 0, left) : std::clamp(share, left, 0);
      size_[set->meta.name] += change;
      added += change;
      resized_.insert(set->meta.name);
    }
    std::int32_t& largest = size_[active.front()->meta.name];
    largest = std::max(0, largest + to_add - added);
  }

  std::int32_t Share(const kube::ReplicaSet& set) const {
    if (d_.spec.replicas == 0) return -set.spec.replicas;
    const auto noted = ParseInt(set.meta.annotations.Get(kMaxReplicas));
    const double before = static_cast<double>(noted.value_or(d_.status.replicas));
    if (before <= 0) return 0;
    const double size = set.spec.replicas * static_cast<double>(d_.spec.replicas + bounds_.surge) / before;
    return static_cast<std::int32_t>(std::lround(size)) - set.spec.replicas;
  }

  void TrimHistory() {
    const bool complete = plan_.status.updated == d_.spec.replicas && plan_.status.replicas == d_.spec.replicas &&
                          plan_.status.available == d_.spec.replicas;
    if (!complete || d_.spec.paused) return;
    std::vector<ReplicaSetPtr> empty;
    for (const ReplicaSetPtr& set : old_)
      if (set->status.replicas == 0 && SizeOf(set) == 0 && set->spec.replicas == 0 &&
          set->status.observed_generation >= set->meta.generation && !set->meta.deleting())
        empty.push_back(set);
    const auto excess = static_cast<std::ptrdiff_t>(old_.size()) - d_.spec.revision_history_limit;
    std::ranges::sort(empty, {}, [](const ReplicaSetPtr& s) { return RevisionOf(*s); });
    for (std::ptrdiff_t i = 0; i < std::min(excess, std::ssize(empty)); ++i)
      plan_.remove.push_back(empty[static_cast<std::size_t>(i)]);
  }

  /// Sizes that differ become changes; a set that is sized also notes for which size of the whole.
  void EmitSizes() {
    for (const ReplicaSetPtr& set : view_.sets) {
      const bool resize = SizeOf(set) != set->spec.replicas;
      if (!resize && !resized_.contains(set->meta.name) && set != fresh_) continue;
      auto notes = SizeAnnotations();
      std::erase_if(notes, [&](const auto& e) { return set->meta.annotations.Get(e.first) == e.second; });
      if (!resize && notes.empty()) continue;
      ReplicaSetChange& change = ChangeOf(set);
      if (resize) change.replicas = SizeOf(set);
      change.annotations.merge(notes);
    }
  }

  const DeploymentView& view_;
  const kube::Deployment& d_;
  const RollingBounds bounds_;
  ReplicaSetPtr fresh_;
  std::vector<ReplicaSetPtr> old_;  // oldest first
  std::map<std::string, std::int32_t> size_;
  std::set<std::string> resized_;
  DeploymentPlan plan_;
};

boost::json::value WithoutHash(const kube::RawJson& whole) {
  auto parsed = kube::ParseObject(whole.text);
  if (!parsed) return nullptr;
  boost::json::value value = std::move(*parsed);
  if (auto* labels = data::Find(value, "metadata.labels"); labels != nullptr && labels->is_object()) {
    labels->get_object().erase(kPodTemplateHash);
    if (labels->get_object().empty()) data::Erase(value, "metadata.labels");
  }
  return value;
}

}  // namespace

RollingBounds BoundsOf(const kube::Deployment& d) {
  if (d.spec.strategy.type == "Recreate") return {};
  const kube::RollingUpdate& rolling = d.spec.strategy.rolling;
  const kube::IntOrString quarter{.number = 0, .text = "25%"};
  RollingBounds b{.surge = Scaled(rolling.max_surge.value_or(quarter), d.spec.replicas, true).value_or(1),
                  .unavailable = Scaled(rolling.max_unavailable.value_or(quarter), d.spec.replicas, false).value_or(0)};
  if (b.surge == 0 && b.unavailable == 0) b.unavailable = 1;
  b.unavailable = std::min(b.unavailable, d.spec.replicas);
  return b;
}

bool HasTemplate(const kube::ReplicaSet& set, const kube::PodTemplate& wanted) {
  return data::JsonEqual(WithoutHash(set.spec.pod_template.whole), WithoutHash(wanted.whole));
}

DeploymentPlan PlanDeployment(const DeploymentView& view) { return Planner(view).Run(); }

}  // namespace gpuop::sim
