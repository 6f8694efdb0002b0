#include "operator/rollout_state.h"

#include <algorithm>
#include <boost/json.hpp>

#include "data/json.h"
#include "kube/placement.h"

namespace gpuop::op {
namespace {

Interned Text(const data::Json& in, std::string_view path) { return Interned(data::StringOr(in, path)); }

bool Selects(const Placement& placement, const NodeState& node) {
  return std::ranges::all_of(placement.selector,
                             [&](const auto& label) { return node.meta.labels.Get(label.first) == label.second; });
}

bool Bears(const Placement& placement, const kube::Taint& taint) {
  if (taint.effect == "PreferNoSchedule") return true;
  if (placement.host_network && taint.key == "node.kubernetes.io/network-unavailable") return true;
  return kube::Tolerated(taint, placement.tolerations);
}

std::string Count(std::int32_t of, std::int32_t all, const char* what) {
  return std::to_string(of) + " of " + std::to_string(all) + " Pods " + what;
}

}  // namespace

Placement Placement::Of(const boost::json::object& daemon_set) {
  Placement out;
  const data::Json* spec = data::Find(daemon_set, "spec.template.spec");
  if (spec == nullptr) return out;
  if (const data::JsonObject* selector = data::GetObject(*spec, "nodeSelector"))
    for (const auto& [key, value] : *selector)
      if (value.is_string()) out.selector.emplace_back(key, data::AsView(value.get_string()));
  std::ranges::sort(out.selector);
  if (const data::JsonArray* tolerations = data::GetArray(*spec, "tolerations"))
    for (const data::Json& t : *tolerations)
      out.tolerations.push_back({Text(t, "key"), Text(t, "operator"), Text(t, "value"), Text(t, "effect"), {}});
  out.host_network = data::BoolOr(*spec, "hostNetwork");
  out.has_affinity = data::Find(*spec, "affinity.nodeAffinity") != nullptr;
  return out;
}

bool Places(const Placement& placement, const NodeState& node) {
  return Selects(placement, node) &&
         std::ranges::all_of(node.taints, [&](const kube::Taint& taint) { return Bears(placement, taint); });
}

bool Keeps(const Placement& placement, const NodeState& node) {
  return Selects(placement, node) && !Places(placement, node) &&
         std::ranges::all_of(node.taints, [&](const kube::Taint& taint) {
           return taint.effect == "NoSchedule" || Bears(placement, taint);
         });
}

std::string WaitingFor(const OwnObject& daemon_set, std::optional<std::int64_t> expected, std::int64_t kept) {
  const Rollout& r = daemon_set.rollout;
  if (r.observed_generation < daemon_set.meta.generation) return "its controller has not seen the last change";
  if (r.updated < r.desired) return Count(r.updated, r.desired, "run the wanted version");
  if (r.available < r.desired) return Count(r.available, r.desired, "available");
  if (r.misscheduled > kept)
    return std::to_string(r.misscheduled - kept) + " Pods still on nodes that no longer ask for them";
  // Kubernetes' controller goes on counting a node that was tainted since, until something else makes it look again.
  if (expected && (r.desired < *expected || r.desired > *expected + kept))
    return "its controller counts " + std::to_string(r.desired) + " nodes, not " + std::to_string(*expected);
  return {};
}

}  // namespace gpuop::op
