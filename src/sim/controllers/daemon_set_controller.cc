#include "sim/controllers/daemon_set_controller.h"

#include <algorithm>

#include "data/json.h"
#include "kube/list_text.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

/// Pods come and go in crowds: one turn for all that happens within this time, longer where a turn looks at more nodes.
Duration Gather(std::size_t nodes) {
  return std::chrono::milliseconds(20) + static_cast<std::int64_t>(nodes) * std::chrono::microseconds(50);
}
constexpr std::size_t kMostAtOnce = 250;

/// A revision's data: what `kubectl rollout undo` merges into the DaemonSet.
std::string RevisionData(const kube::DaemonSet& set) {
  auto whole = kube::ParseObject(set.spec.pod_template.whole.text);
  if (!whole) return {};
  json::object marked{{"$patch", "replace"}};
  for (auto& [name, value] : *whole) marked[name] = std::move(value);
  return data::ToJson(json::object{{"spec", {{"template", std::move(marked)}}}});
}

bool SameData(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = data::ParseJson(a), y = data::ParseJson(b);
  return x && y && data::JsonEqual(*x, *y);
}

}  // namespace

DaemonSetController::DaemonSetController(ControllerParts parts, SharedCaches& caches, PodControl& pods,
                                         EventWriter& events)
    : parts_(std::move(parts)),
      caches_(caches),
      pods_(pods),
      events_(events),
      controller_(parts_.executor, parts_.log, {.name = "daemon-set", .seed = parts_.seed},
                  [this](const std::string& key) { return Reconcile(key); }) {
  controller_.Needs(caches_.daemon_sets);
  controller_.Needs(caches_.nodes);
  controller_.Needs(caches_.pods);
  controller_.Needs(caches_.revisions);
  Watch();
}

void DaemonSetController::Watch() {
  caches_.daemon_sets.OnChange([this](const kube::Change<kube::DaemonSet>& change) {
    if (!change.now) failures_.erase(change.old->meta.uid);
    controller_.Add(change.Key());
  });
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) {
    const auto wake = [&](const kube::Pod& pod) {
      const kube::OwnerReference* owner = pod.meta.Controller();
      if (owner != nullptr && owner->kind == "DaemonSet")
        controller_.AddAfter(kube::KeyOf(pod.meta.ns, owner->name), Gather(caches_.nodes.size()));
      if (owner != nullptr) return;
      for (const SetPtr& set : caches_.daemon_sets.List())
        if (set->meta.ns == pod.meta.ns && kube::Matches(set->spec.selector, pod.meta.labels))
          controller_.AddAfter(set->meta.Key(), Gather(caches_.nodes.size()));
    };
    if (change.old) wake(*change.old);
    if (change.now) wake(*change.now);
  });
  caches_.nodes.OnChange([this](const kube::Change<kube::Node>& change) {
    if (change.old && change.now && change.old->meta.labels == change.now->meta.labels &&
        change.old->spec == change.now->spec)
      return;
    for (const SetPtr& set : caches_.daemon_sets.List())
      controller_.AddAfter(set->meta.Key(), Gather(caches_.nodes.size()));
  });
}

Result<kube::Next> DaemonSetController::Reconcile(const std::string& key) {
  const SetPtr set = caches_.daemon_sets.Get(key);
  if (set == nullptr || set->meta.deleting()) return kube::Next{};
  if (set->spec.selector.empty()) {
    events_.Emit(
        ReferenceTo(*set),
        {"Warning", "SelectingAll", {}, "This daemon set is selecting all pods. A non-empty selector is required."});
    return kube::Next{};
  }
  ASSIGN(const std::string hash, SyncRevision(*set));
  ASSIGN(const std::vector<PodPtr> pods, pods_.Claim(*set, set->spec.selector));
  ASSIGN(const DaemonFitter fitter, DaemonFitter::For(*set));
  DaemonView view{.set = set.get(),
                  .fitter = &fitter,
                  .hash = hash,
                  .nodes = caches_.nodes.List(),
                  .pods = pods,
                  .now = parts_.executor.Wall(),
                  .failed_until = {}};
  for (const auto& [node, f] : failures_[set->meta.uid]) view.failed_until[node] = f.until;
  const DaemonPlan plan = PlanDaemonSet(view);
  const bool settled = pods_.Settled(set->meta.uid);
  Result<> acted = settled ? Act(*set, plan, hash) : Result<>();
  TRY(WriteStatus(*set, plan.status));
  TRY(std::move(acted));
  TRY(TrimHistory(*set, hash, pods));
  kube::Next next;
  if (plan.again) next.again = std::max<Duration>(*plan.again - view.now, std::chrono::milliseconds(1));
  if (!settled || plan.create_on.size() > kMostAtOnce || plan.remove.size() > kMostAtOnce)
    next.again = std::chrono::seconds(1);
  return next;
}

Result<> DaemonSetController::Act(const kube::DaemonSet& set, const DaemonPlan& plan, const std::string& hash) {
  std::size_t left = kMostAtOnce;
  for (const PodRemoval& removal : plan.remove) {
    if (left-- == 0) break;
    if (!removal.event_reason.empty())
      events_.Emit(ReferenceTo(set), {removal.event_type, removal.event_reason, {}, removal.event_message});
    if (removal.event_reason == "FailedDaemonPod") {
      Failures& f = failures_[set.meta.uid][TargetNode(*removal.pod)];
      const Duration wait =
          std::min<Duration>(std::chrono::seconds(1LL << std::min(f.count++, 10)), std::chrono::minutes(15));
      f.until = parts_.executor.Wall() + wait;
    }
    TRY(pods_.Delete(set, *removal.pod));
  }
  left = kMostAtOnce;
  for (const std::string& node : plan.create_on) {
    if (left-- == 0) break;
    ASSIGN(const json::object pod, DaemonPod(set, node, hash));
    TRY(pods_.Create(set, pod));
  }
  return {};
}

Result<> DaemonSetController::WriteStatus(const kube::DaemonSet& set, const kube::DaemonSetStatus& s) {
  if (s == set.status) return {};
  json::object status{{"currentNumberScheduled", s.current},
                      {"desiredNumberScheduled", s.desired},
                      {"numberMisscheduled", s.misscheduled},
                      {"numberReady", s.ready},
                      {"observedGeneration", OrNull(s.observed_generation)},
                      {"updatedNumberScheduled", OrNull(s.updated)},
                      {"numberAvailable", OrNull(s.available)},
                      {"numberUnavailable", OrNull(s.unavailable)}};
  if (s.collision_count) status["collisionCount"] = *s.collision_count;
  kube::ObjectRef ref = kube::Ref<kube::DaemonSet>(std::string(set.meta.ns.view()), set.meta.name);
  ref.subresource = "status";
  auto r = MergePatch(parts_.client, ref, {{"metadata", {{"uid", set.meta.uid}}}, {"status", std::move(status)}});
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

Result<std::string> DaemonSetController::SyncRevision(const kube::DaemonSet& set) {
  const std::string wanted = RevisionData(set);
  std::int64_t newest = 0;
  RevisionPtr current;
  for (const RevisionPtr& r : caches_.revisions.Find(kByController, set.meta.uid)) {
    newest = std::max(newest, r->revision);
    if (SameData(r->data.text, wanted) && (current == nullptr || r->revision > current->revision)) current = r;
  }
  if (current == nullptr) return CreateRevision(set, wanted, newest + 1);
  if (current->revision < newest) {  // an old template is back: rollout undo
    auto r = MergePatch(parts_.client,
                        kube::Ref<kube::ControllerRevision>(std::string(set.meta.ns.view()), current->meta.name),
                        {{"revision", newest + 1}}, current->meta.resource_version);
    if (!r) return std::unexpected(std::move(r).error().During("renumber revision " + current->meta.name));
  }
  return std::string(current->meta.labels.Get("controller-revision-hash"));
}

Result<std::string> DaemonSetController::CreateRevision(const kube::DaemonSet& set, const std::string& data,
                                                        std::int64_t number) {
  const std::string hash = TemplateHash(data, set.status.collision_count.value_or(0));
  json::object labels;
  for (const auto& [key, value] : set.spec.pod_template.labels) labels[key.view()] = value.view();
  labels["controller-revision-hash"] = hash;
  ASSIGN(json::value parsed, data::ParseJson(data));
  const json::object revision{
      {"apiVersion", "apps/v1"},
      {"kind", "ControllerRevision"},
      {"metadata",
       {{"name", set.meta.name + "-" + hash},
        {"namespace", set.meta.ns.view()},
        {"labels", std::move(labels)},
        {"annotations", {{"deprecated.daemonset.template.generation", std::to_string(set.meta.generation)}}},
        {"ownerReferences", json::array{ControllerReference(kube::DaemonSet::kResource, set.meta)}}}},
      {"data", std::move(parsed)},
      {"revision", number}};
  auto made = parts_.client.Create(kube::ControllerRevision::kResource, revision);
  if (made) return hash;
  if (made.error().code != Code::kAlreadyExists)
    return std::unexpected(std::move(made).error().During("create revision"));
  const std::string ns(set.meta.ns.view());
  ASSIGN(const auto there, parts_.client.Get<kube::ControllerRevision>(ns, set.meta.name + "-" + hash));
  if (SameData(there.data.text, data)) return hash;  // made by us; the cache lags behind
  kube::ObjectRef ref = kube::Ref<kube::DaemonSet>(ns, set.meta.name);
  ref.subresource = "status";
  TRY(MergePatch(parts_.client, ref, {{"status", {{"collisionCount", set.status.collision_count.value_or(0) + 1}}}}));
  return Fail(Code::kConflict, "hash collision of revision " + there.meta.Key());
}

Result<> DaemonSetController::TrimHistory(const kube::DaemonSet& set, const std::string& current,
                                          const std::vector<PodPtr>& pods) {
  std::set<std::string, std::less<>> live{current};
  for (const PodPtr& pod : pods) live.emplace(pod->meta.labels.Get("controller-revision-hash"));
  std::vector<RevisionPtr> old;
  for (const RevisionPtr& r : caches_.revisions.Find(kByController, set.meta.uid))
    if (r->meta.labels.Get("controller-revision-hash") != current) old.push_back(r);
  std::ranges::sort(old, {}, [](const RevisionPtr& r) { return r->revision; });
  std::ptrdiff_t excess = std::ssize(old) - set.spec.revision_history_limit;
  for (const RevisionPtr& r : old) {
    if (excess <= 0) break;
    if (live.contains(r->meta.labels.Get("controller-revision-hash"))) continue;
    --excess;
    auto gone =
        parts_.client.Delete(kube::Ref<kube::ControllerRevision>(std::string(set.meta.ns.view()), r->meta.name));
    if (!gone && gone.error().code != Code::kNotFound) return std::unexpected(std::move(gone).error());
  }
  return {};
}

}  // namespace gpuop::sim
