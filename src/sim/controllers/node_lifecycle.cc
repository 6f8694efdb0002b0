#include "sim/controllers/node_lifecycle.h"

#include <algorithm>

#include "sim/controllers/node_health.h"
#include "sim/controllers/pod_control.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

std::string NsOf(const kube::ObjectMeta& meta) { return std::string(meta.ns.view()); }

/// As of kube-controller-manager's --node-monitor-period.
constexpr Duration kMonitorPeriod = std::chrono::seconds(5);

/// Whether the kubelet itself has written: a heartbeat or another address of the truth.
bool HasBeaten(const kube::Node* before, const kube::Node& now) {
  const kube::Condition* c = kube::FindCondition(now.status.conditions, "Ready");
  const kube::Condition* old = before == nullptr ? nullptr : kube::FindCondition(before->status.conditions, "Ready");
  return c != nullptr && (old == nullptr || old->last_heartbeat != c->last_heartbeat);
}

json::array TaintsJson(const std::vector<kube::Taint>& taints) {
  json::array out;
  for (const kube::Taint& t : taints) {
    json::object o{{"key", t.key.view()}, {"effect", t.effect.view()}};
    if (!t.value.empty()) o["value"] = t.value.view();
    if (t.time_added) o["timeAdded"] = FormatTime(*t.time_added);
    out.push_back(std::move(o));
  }
  return out;
}

json::array ConditionsJson(const std::vector<kube::Condition>& conditions) {
  json::array out;
  for (const kube::Condition& c : conditions) out.push_back(ConditionJson(c));
  return out;
}

Result<> Tolerant(Result<> r) {
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

}  // namespace

NodeLifecycle::NodeLifecycle(ControllerParts parts, SharedCaches& caches, EventWriter& events)
    : parts_(std::move(parts)),
      caches_(caches),
      events_(events),
      controller_(parts_.executor, parts_.log, {.name = "node-lifecycle", .seed = parts_.seed + 6},
                  [this](const std::string& key) { return Reconcile(key); }) {
  controller_.Needs(caches_.nodes);
  controller_.Needs(caches_.pods);
  controller_.Needs(caches_.node_leases);
  Watch();
}

void NodeLifecycle::Watch() {
  caches_.nodes.OnChange([this](const kube::Change<kube::Node>& change) {
    const std::string& name = change.any().meta.name;
    if (!change.now) {
      heard_.erase(name);
      gone_[name] = parts_.executor.Now();
      return controller_.Add(name);
    }
    if (!change.old)
      events_.Emit(
          ReferenceTo(*change.now),
          {"Normal", "RegisteredNode", {}, "Node " + name + " event: Registered Node " + name + " in Controller"});
    gone_.erase(name);
    if (!heard_.contains(name) || HasBeaten(change.old.get(), *change.now)) heard_[name] = parts_.executor.Now();
    if (!change.old || kube::DiffersBeyondHeartbeat(*change.old, *change.now)) controller_.Add(name);
  });
  caches_.node_leases.OnChange([this](const kube::Change<kube::Lease>& change) {
    if (change.now && (!change.old || change.old->spec.renewed != change.now->spec.renewed))
      heard_[change.now->meta.name] = parts_.executor.Now();
  });
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) {
    if (!change.now || change.now->spec.node_name.empty()) return;
    if (change.old && change.old->spec.node_name == change.now->spec.node_name &&
        change.old->spec.tolerations == change.now->spec.tolerations)
      return;
    const auto node = caches_.nodes.Get(change.now->spec.node_name);
    const bool evicts = node != nullptr && std::ranges::any_of(node->spec.taints, [](const kube::Taint& t) {
                          return t.effect == "NoExecute";
                        });
    if (node == nullptr || evicts) controller_.Add(change.now->spec.node_name);
  });
}

Result<kube::Next> NodeLifecycle::Reconcile(const std::string& name) {
  const auto node = caches_.nodes.Get(name);
  return node == nullptr ? CleanUp(name) : Tend(*node);
}

Result<kube::Next> NodeLifecycle::Tend(const kube::Node& node) {
  const WallTime now = parts_.executor.Wall();
  const TimePoint heard = heard_.try_emplace(node.meta.name, parts_.executor.Now()).first->second;
  Duration silent = parts_.executor.Now() - heard;
  if (silent >= kNodeGrace) {
    ASSIGN(silent, AskLease(node.meta.name, silent));
    heard_[node.meta.name] = parts_.executor.Now() - silent;
  }
  if (const auto conditions = ConditionsAfterSilence(node, silent, now)) {
    kube::ObjectRef ref = kube::Ref<kube::Node>(node.meta.name);
    ref.subresource = "status";
    TRY(Tolerant(MergePatch(parts_.client, ref, {{"status", {{"conditions", ConditionsJson(*conditions)}}}},
                            node.meta.resource_version)));
    if (node.ready()) {
      events_.Emit(ReferenceTo(node),
                   {"Normal", "NodeNotReady", {}, "Node " + node.meta.name + " status is now: NodeNotReady"});
      TRY(MarkPodsNotReady(node));
    }
    // The changed node comes back by itself, unless its kubelet speaks before anybody could listen.
    return kube::Next{.again = kMonitorPeriod};
  }
  const auto changed = TaintsFor(node, now);
  if (changed) TRY(WriteTaints(node, *changed));
  ASSIGN(const auto eviction, EvictPods(node, changed ? *changed : node.spec.taints));
  const auto kUnknown = [&](std::string_view type) {
    const kube::Condition* c = kube::FindCondition(node.status.conditions, type);
    return c != nullptr && c->status == "Unknown";
  };
  kube::Next next;
  if (!kUnknown("Ready")) next.again = std::max<Duration>(kNodeGrace - silent, std::chrono::milliseconds(1));
  if (eviction) {
    const Duration until = std::max<Duration>(*eviction - now, std::chrono::milliseconds(1));
    next.again = std::min(next.again.value_or(until), until);
  }
  return next;
}

Result<Duration> NodeLifecycle::AskLease(const std::string& node, Duration otherwise) {
  auto lease = parts_.client.Get<kube::Lease>("kube-node-lease", node);
  if (!lease && lease.error().code == Code::kNotFound) return otherwise;
  if (!lease) return std::unexpected(std::move(lease).error().During("lease of " + node));
  return std::min<Duration>(otherwise, parts_.executor.Wall() - lease->spec.renewed);
}

Result<> NodeLifecycle::MarkPodsNotReady(const kube::Node& node) {
  for (const auto& pod : caches_.pods.Find(kByNode, node.meta.name)) {
    if (!pod->ready()) continue;
    std::vector<kube::Condition> conditions = pod->status.conditions;
    for (kube::Condition& c : conditions) {
      if (c.type != "Ready") continue;
      c.status = "False";
      c.last_transition = parts_.executor.Wall();
    }
    kube::ObjectRef ref = kube::Ref<kube::Pod>(NsOf(pod->meta), pod->meta.name);
    ref.subresource = "status";
    TRY(Tolerant(MergePatch(parts_.client, ref, {{"status", {{"conditions", ConditionsJson(conditions)}}}},
                            pod->meta.resource_version)));
    events_.Emit(ReferenceTo(*pod), {"Warning", "NodeNotReady", {}, "Node is not ready"});
  }
  return {};
}

Result<> NodeLifecycle::WriteTaints(const kube::Node& node, const std::vector<kube::Taint>& taints) {
  json::value list = taints.empty() ? json::value(nullptr) : json::value(TaintsJson(taints));
  return Tolerant(MergePatch(parts_.client, kube::Ref<kube::Node>(node.meta.name),
                             {{"spec", {{"taints", std::move(list)}}}}, node.meta.resource_version));
}

Result<std::optional<WallTime>> NodeLifecycle::EvictPods(const kube::Node& node,
                                                         const std::vector<kube::Taint>& taints) {
  std::optional<WallTime> next;
  if (std::ranges::none_of(taints, [](const kube::Taint& t) { return t.effect == "NoExecute"; })) return next;
  const WallTime now = parts_.executor.Wall();
  for (const auto& pod : caches_.pods.Find(kByNode, node.meta.name)) {
    if (pod->meta.deleting()) continue;
    const auto at = EvictionTime(*pod, taints);
    if (!at) continue;
    if (*at > now) {
      next = std::min(next.value_or(*at), *at);
      continue;
    }
    events_.Emit(ReferenceTo(*pod),
                 {"Normal", "TaintManagerEviction", {}, "Marking for deletion Pod " + pod->meta.Key()});
    TRY(Disrupt(*pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", false));
    TRY(Delete(*pod, std::nullopt));
  }
  return next;
}

Result<kube::Next> NodeLifecycle::CleanUp(const std::string& name) {
  const auto pods = caches_.pods.Find(kByNode, name);
  if (pods.empty()) {
    gone_.erase(name);
    return kube::Next{};
  }
  const TimePoint since = gone_.try_emplace(name, parts_.executor.Now()).first->second;
  const Duration left = since + kQuarantine - parts_.executor.Now();
  if (left > Duration{}) return kube::Next{.again = left};
  const auto live = parts_.client.Get(kube::Ref<kube::Node>(name));
  if (live) return kube::Next{};  // the cache will show it
  if (live.error().code != Code::kNotFound) return std::unexpected(live.error());
  for (const auto& pod : pods) {
    if (!pod->finished()) TRY(Disrupt(*pod, "DeletionByPodGC", "PodGC: node no longer exists", true));
    TRY(Delete(*pod, 0));
  }
  return kube::Next{};
}

Result<> NodeLifecycle::Disrupt(const kube::Pod& pod, std::string_view reason, std::string_view message, bool fail) {
  std::vector<kube::Condition> conditions = pod.status.conditions;
  std::erase_if(conditions, [](const kube::Condition& c) { return c.type == "DisruptionTarget"; });
  kube::Condition& c = conditions.emplace_back();
  c.type = "DisruptionTarget";
  c.status = "True";
  c.reason = reason;
  c.message = message;
  c.last_transition = parts_.executor.Wall();
  json::object status{{"conditions", ConditionsJson(conditions)}};
  if (fail) status["phase"] = "Failed";
  kube::ObjectRef ref = kube::Ref<kube::Pod>(NsOf(pod.meta), pod.meta.name);
  ref.subresource = "status";
  return Tolerant(
      MergePatch(parts_.client, ref, {{"metadata", {{"uid", pod.meta.uid}}}, {"status", std::move(status)}}));
}

Result<> NodeLifecycle::Delete(const kube::Pod& pod, std::optional<std::int64_t> grace) {
  kube::DeleteOptions options;
  options.uid = pod.meta.uid;
  options.grace_seconds = grace;
  auto r = parts_.client.Delete(kube::Ref<kube::Pod>(NsOf(pod.meta), pod.meta.name), options);
  if (r || r.error().code == Code::kNotFound || r.error().code == Code::kConflict) return {};
  return std::unexpected(std::move(r).error());
}

}  // namespace gpuop::sim
