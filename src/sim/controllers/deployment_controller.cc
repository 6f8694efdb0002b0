#include "sim/controllers/deployment_controller.h"

#include <algorithm>

#include "kube/list_text.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

/// How long the cache may take to show a write.
constexpr Duration kLag = std::chrono::milliseconds(20);

std::string NsOf(const kube::ObjectMeta& meta) { return std::string(meta.ns.view()); }

json::object StringsJson(const std::map<std::string, std::string>& strings) {
  json::object out;
  for (const auto& [key, value] : strings) out[key] = value;
  return out;
}

json::object MapJson(const kube::StringMap& map) {
  json::object out;
  for (const auto& [key, value] : map) out[key.view()] = value.view();
  return out;
}

json::object SelectorJson(const kube::LabelSelector& selector, const std::string& hash) {
  json::object labels = MapJson(selector.match_labels);
  labels[kPodTemplateHash] = hash;
  json::object out{{"matchLabels", std::move(labels)}};
  json::array expressions;
  for (const kube::SelectorRequirement& r : selector.match_expressions) {
    json::array values;
    for (const Interned& v : r.values) values.emplace_back(v.view());
    json::object e{{"key", r.key.view()}, {"operator", r.op.view()}};
    if (!values.empty()) e["values"] = std::move(values);
    expressions.push_back(std::move(e));
  }
  if (!expressions.empty()) out["matchExpressions"] = std::move(expressions);
  return out;
}

}  // namespace

DeploymentController::DeploymentController(ControllerParts parts, SharedCaches& caches, EventWriter& events)
    : parts_(std::move(parts)),
      caches_(caches),
      events_(events),
      controller_(parts_.executor, parts_.log, {.name = "deployment", .seed = parts_.seed + 2},
                  [this](const std::string& key) { return Reconcile(key); }) {
  controller_.Needs(caches_.deployments);
  controller_.Needs(caches_.replica_sets);
  controller_.Needs(caches_.pods);
  Watch();
}

void DeploymentController::Watch() {
  caches_.deployments.OnChange([this](const kube::Change<kube::Deployment>& change) { controller_.Add(change.Key()); });
  caches_.replica_sets.OnChange([this](const kube::Change<kube::ReplicaSet>& change) {
    const auto* owner = change.any().meta.Controller();
    if (owner != nullptr && owner->kind == "Deployment")
      controller_.Add(kube::KeyOf(change.any().meta.ns, owner->name));
    if (owner != nullptr || !change.now) return;
    for (const auto& d : caches_.deployments.List())
      if (d->meta.ns == change.now->meta.ns && kube::Matches(d->spec.selector, change.now->meta.labels))
        controller_.Add(d->meta.Key());
  });
  // Strategy Recreate waits for the last old pod.
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) {
    if (change.now && !change.now->finished()) return;
    const auto* owner = change.any().meta.Controller();
    if (owner == nullptr || owner->kind != "ReplicaSet") return;
    const auto set = caches_.replica_sets.Get(change.any().meta.ns, owner->name);
    if (set == nullptr || set->meta.Controller() == nullptr) return;
    controller_.Add(kube::KeyOf(set->meta.ns, set->meta.Controller()->name));
  });
}

Result<bool> DeploymentController::Claim(const kube::Deployment& d, const std::vector<ReplicaSetPtr>& own) {
  if (d.meta.deleting()) return false;
  bool changed = false;
  const auto write = [&](const kube::ReplicaSet& set, json::array owners) {
    changed = true;
    return MergePatch(parts_.client, kube::Ref<kube::ReplicaSet>(NsOf(set.meta), set.meta.name),
                      {{"metadata", {{"uid", set.meta.uid}, {"ownerReferences", std::move(owners)}}}},
                      set.meta.resource_version);
  };
  for (const ReplicaSetPtr& set : own)
    if (!kube::Matches(d.spec.selector, set->meta.labels)) TRY(write(*set, OwnersJson(set->meta, d.meta.uid)));
  for (const ReplicaSetPtr& set : caches_.replica_sets.Find(kByNamespace, NsOf(d.meta) + "/orphan")) {
    if (set->meta.deleting() || !kube::Matches(d.spec.selector, set->meta.labels)) continue;
    ASSIGN(const bool may, MayAdopt(parts_.client, kube::Ref<kube::Deployment>(NsOf(d.meta), d.meta.name), d.meta.uid));
    if (!may) return false;
    json::array owners = OwnersJson(set->meta, {});
    owners.push_back(ControllerReference(kube::Deployment::kResource, d.meta));
    TRY(write(*set, std::move(owners)));
  }
  return changed;
}

bool DeploymentController::OldPodsRun(const kube::Deployment& d, const std::vector<ReplicaSetPtr>& sets) const {
  if (d.spec.strategy.type != "Recreate") return false;
  return std::ranges::any_of(sets, [&](const ReplicaSetPtr& set) {
    if (HasTemplate(*set, d.spec.pod_template)) return false;
    return std::ranges::any_of(caches_.pods.Find(kByController, set->meta.uid),
                               [](const PodPtr& pod) { return !pod->finished(); });
  });
}

Result<kube::Next> DeploymentController::Reconcile(const std::string& key) {
  const auto d = caches_.deployments.Get(key);
  if (d == nullptr) return kube::Next{};
  if (d->spec.selector.empty()) {
    events_.Emit(
        ReferenceTo(*d),
        {"Warning", "SelectingAll", {}, "This deployment is selecting all pods. A non-empty selector is required."});
    return kube::Next{};
  }
  DeploymentView view{.deployment = d.get(),
                      .sets = caches_.replica_sets.Find(kByController, d->meta.uid),
                      .old_pods_running = false,
                      .now = parts_.executor.Wall()};
  const auto claimed = Claim(*d, view.sets);
  if (!claimed && claimed.error().code != Code::kConflict && claimed.error().code != Code::kNotFound)
    return std::unexpected(claimed.error());
  if (!claimed || *claimed) return kube::Next{.again = kLag};  // the cache will catch up
  view.old_pods_running = OldPodsRun(*d, view.sets);
  const DeploymentPlan plan = PlanDeployment(view);
  Result<> acted = Act(*d, plan);
  if (!acted && acted.error().code == Code::kConflict) return kube::Next{.again = kLag};  // the cache will catch up
  TRY(std::move(acted));
  TRY(WriteStatus(*d, plan.status));
  kube::Next next;
  if (plan.again) next.again = *plan.again - view.now + std::chrono::seconds(1);
  return next;
}

Result<> DeploymentController::Act(const kube::Deployment& d, const DeploymentPlan& plan) {
  if (plan.create) TRY(Create(d, *plan.create));
  for (const ReplicaSetChange& change : plan.change) TRY(Change(d, change));
  for (const ReplicaSetPtr& set : plan.remove) {
    auto r = parts_.client.Delete(kube::Ref<kube::ReplicaSet>(NsOf(set->meta), set->meta.name), {.uid = set->meta.uid});
    if (!r && r.error().code != Code::kNotFound) return std::unexpected(std::move(r).error());
  }
  if (plan.revision) {
    kube::ObjectRef ref = kube::Ref<kube::Deployment>(NsOf(d.meta), d.meta.name);
    ref.subresource = "status";  // an annotation written to the Deployment itself would count as a new generation
    TRY(MergePatch(parts_.client, ref,
                   {{"metadata", {{"uid", d.meta.uid}, {"annotations", {{kRevision, *plan.revision}}}}}}));
  }
  return {};
}

Result<> DeploymentController::Create(const kube::Deployment& d, const NewReplicaSet& set) {
  ASSIGN(json::object pod_template, kube::ParseObject(d.spec.pod_template.whole.text));
  json::value& meta = pod_template["metadata"];
  if (!meta.is_object()) meta.emplace_object();
  json::value& labels = meta.get_object()["labels"];
  if (!labels.is_object()) labels.emplace_object();
  labels.get_object()[kPodTemplateHash] = set.hash;
  json::object spec{
      {"replicas", set.replicas}, {"selector", SelectorJson(d.spec.selector, set.hash)}, {"template", pod_template}};
  if (d.spec.min_ready_seconds > 0) spec["minReadySeconds"] = d.spec.min_ready_seconds;
  const json::object object{
      {"apiVersion", "apps/v1"},
      {"kind", "ReplicaSet"},
      {"metadata",
       {{"name", set.name},
        {"namespace", d.meta.ns.view()},
        {"labels", labels},
        {"annotations", StringsJson(set.annotations)},
        {"ownerReferences", json::array{ControllerReference(kube::Deployment::kResource, d.meta)}}}},
      {"spec", std::move(spec)}};
  auto made = parts_.client.Create(kube::ReplicaSet::kResource, object);
  if (!made && made.error().code == Code::kAlreadyExists) return ResolveCollision(d, set.name);
  if (!made) {
    events_.Emit(ReferenceTo(d), {"Warning",
                                  "ReplicaSetCreateError",
                                  {},
                                  "Failed to create new replica set \"" + set.name + "\": " + made.error().text});
    return std::unexpected(std::move(made).error().During("create replica set"));
  }
  if (set.replicas > 0) NoteScaling(d, set.name, 0, set.replicas);
  return {};
}

Result<> DeploymentController::ResolveCollision(const kube::Deployment& d, const std::string& name) {
  ASSIGN(const auto there, parts_.client.Get<kube::ReplicaSet>(NsOf(d.meta), name));
  const auto* owner = there.meta.Controller();
  if (owner != nullptr && owner->uid == d.meta.uid && HasTemplate(there, d.spec.pod_template)) return {};
  kube::ObjectRef ref = kube::Ref<kube::Deployment>(NsOf(d.meta), d.meta.name);
  ref.subresource = "status";
  TRY(MergePatch(parts_.client, ref, {{"status", {{"collisionCount", d.status.collision_count.value_or(0) + 1}}}},
                 d.meta.resource_version));
  return Fail(Code::kConflict, "hash collision of replica set " + name);
}

Result<> DeploymentController::Change(const kube::Deployment& d, const ReplicaSetChange& change) {
  const kube::ReplicaSet& set = *change.set;
  json::object patch;
  if (!change.annotations.empty()) patch["metadata"] = json::object{{"annotations", StringsJson(change.annotations)}};
  json::object spec;
  if (change.replicas) spec["replicas"] = *change.replicas;
  if (change.min_ready_seconds) spec["minReadySeconds"] = OrNull(*change.min_ready_seconds);
  if (!spec.empty()) patch["spec"] = std::move(spec);
  auto r = MergePatch(parts_.client, kube::Ref<kube::ReplicaSet>(NsOf(set.meta), set.meta.name), std::move(patch),
                      set.meta.resource_version);
  if (!r) return std::unexpected(std::move(r).error().During("change replica set " + set.meta.name));
  if (change.replicas) NoteScaling(d, set.meta.name, set.spec.replicas, *change.replicas);
  return {};
}

void DeploymentController::NoteScaling(const kube::Deployment& d, const std::string& set, std::int32_t from,
                                       std::int32_t to) {
  events_.Emit(ReferenceTo(d), {"Normal",
                                "ScalingReplicaSet",
                                {},
                                std::string("Scaled ") + (to > from ? "up" : "down") + " replica set " + set +
                                    " from " + std::to_string(from) + " to " + std::to_string(to)});
}

Result<> DeploymentController::WriteStatus(const kube::Deployment& d, const kube::DeploymentStatus& s) {
  if (s == d.status) return {};
  json::array conditions;
  for (const kube::Condition& c : s.conditions) conditions.push_back(ConditionJson(c));
  json::object status{{"replicas", OrNull(s.replicas)},
                      {"updatedReplicas", OrNull(s.updated)},
                      {"readyReplicas", OrNull(s.ready)},
                      {"availableReplicas", OrNull(s.available)},
                      {"unavailableReplicas", OrNull(s.unavailable)},
                      {"terminatingReplicas", s.terminating},
                      {"observedGeneration", OrNull(s.observed_generation)},
                      {"conditions", std::move(conditions)}};
  kube::ObjectRef ref = kube::Ref<kube::Deployment>(NsOf(d.meta), d.meta.name);
  ref.subresource = "status";
  // Progress is judged against the status that is replaced: it must be the one that was read. Its own change of
  // the revision annotation moves the resourceVersion, so the UID and the next turn have to do.
  auto r = MergePatch(parts_.client, ref, {{"metadata", {{"uid", d.meta.uid}}}, {"status", std::move(status)}});
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

}  // namespace gpuop::sim
