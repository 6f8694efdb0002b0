#include "sim/controllers/node_health.h"

#include <algorithm>

#include "kube/placement.h"

namespace gpuop::sim {

namespace {

struct ConditionTaint {
  std::string_view condition, status, key;
};

constexpr ConditionTaint kConditionTaints[] = {
    {"Ready", "False", "node.kubernetes.io/not-ready"},
    {"Ready", "Unknown", "node.kubernetes.io/unreachable"},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
};
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

bool EvictsBy(std::string_view key) { return key == kConditionTaints[0].key || key == kConditionTaints[1].key; }

/// Whether the controller sets and removes this taint.
bool IsOurs(const kube::Taint& taint) {
  const auto named = [&](const ConditionTaint& t) { return taint.key == t.key; };
  const bool known = taint.key == kUnschedulable || std::ranges::any_of(kConditionTaints, named);
  return known && (taint.effect == "NoSchedule" || (taint.effect == "NoExecute" && EvictsBy(taint.key)));
}

kube::Taint Make(std::string_view key, std::string_view effect) { return {key, "", effect, {}}; }

std::vector<kube::Taint> Wanted(const kube::Node& node) {
  std::vector<kube::Taint> out;
  for (const ConditionTaint& t : kConditionTaints) {
    const kube::Condition* c = kube::FindCondition(node.status.conditions, t.condition);
    if (c == nullptr || c->status != t.status) continue;
    out.push_back(Make(t.key, "NoSchedule"));
    if (t.condition == "Ready") out.push_back(Make(t.key, "NoExecute"));
  }
  if (node.spec.unschedulable) out.push_back(Make(kUnschedulable, "NoSchedule"));
  return out;
}

bool SameTaint(const kube::Taint& a, const kube::Taint& b) { return a.key == b.key && a.effect == b.effect; }

}  // namespace

std::optional<std::vector<kube::Condition>> ConditionsAfterSilence(const kube::Node& node, Duration silent,
                                                                   WallTime now) {
  if (silent < kNodeGrace) return std::nullopt;
  std::vector<kube::Condition> out = node.status.conditions;
  bool changed = false;
  for (const std::string_view type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
    auto c = std::ranges::find_if(out, [&](const kube::Condition& have) { return have.type == type; });
    if (c == out.end()) {
      kube::Condition never;
      never.type = type;
      never.status = "Unknown";
      never.reason = "NodeStatusNeverUpdated";
      never.message = "Kubelet never posted node status.";
      never.last_heartbeat = node.meta.created;
      never.last_transition = now;
      out.push_back(std::move(never));
      changed = true;
    } else if (c->status != "Unknown") {
      c->status = "Unknown";
      c->reason = "NodeStatusUnknown";
      c->message = "Kubelet stopped posting node status.";
      c->last_transition = now;
      changed = true;
    }
  }
  return changed ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::vector<kube::Taint>> TaintsFor(const kube::Node& node, WallTime now) {
  const std::vector<kube::Taint> wanted = Wanted(node);
  std::vector<kube::Taint> out;
  bool changed = false;
  for (const kube::Taint& have : node.spec.taints) {
    const bool keep =
        !IsOurs(have) || std::ranges::any_of(wanted, [&](const kube::Taint& w) { return SameTaint(have, w); });
    changed = changed || !keep;
    if (keep) out.push_back(have);
  }
  for (const kube::Taint& w : wanted) {
    if (std::ranges::any_of(out, [&](const kube::Taint& have) { return SameTaint(have, w); })) continue;
    out.push_back(w);
    out.back().time_added = now;
    changed = true;
  }
  return changed ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<WallTime> EvictionTime(const kube::Pod& pod, const std::vector<kube::Taint>& taints) {
  std::optional<WallTime> earliest;
  for (const kube::Taint& taint : taints) {
    if (taint.effect != "NoExecute") continue;
    const WallTime since = taint.time_added.value_or(WallTime{});
    std::optional<std::int64_t> shortest;
    bool tolerated = false;
    for (const kube::Toleration& t : pod.spec.tolerations) {
      if (!Tolerates(t, taint)) continue;
      tolerated = true;
      if (t.seconds) shortest = std::min(shortest.value_or(*t.seconds), *t.seconds);
    }
    if (tolerated && !shortest) continue;
    const WallTime at = since + std::chrono::seconds(tolerated ? std::max<std::int64_t>(0, *shortest) : 0);
    earliest = std::min(earliest.value_or(at), at);
  }
  return earliest;
}

}  // namespace gpuop::sim
