#include "operands/gate_manifest.h"

#include <algorithm>

namespace gpuop::operands {

Result<GateSettings> GateOf(const api::ClusterPolicySpec& policy) {
  std::string taint, condition;
  for (const api::EnvVar& var : policy.device_plugin.env) {
    if (var.name == GateSettings::kTaintVariable) taint = var.value;
    if (var.name == GateSettings::kConditionVariable) condition = var.value;
  }
  auto gate = ParseGateSettings(taint, condition);
  if (!gate) return std::unexpected(std::move(gate).error().During("spec.devicePlugin.env"));
  return gate;
}

Result<> TolerateGate(const api::ClusterPolicySpec& policy, PodSpec& pod) {
  ASSIGN(const GateSettings gate, GateOf(policy));
  if (!gate.taint) return {};
  const std::string key(gate.taint->key.view()), effect(gate.taint->effect.view());
  const bool tolerated = std::ranges::any_of(pod.tolerations, [&](const Toleration& t) {
    return t.op == "Exists" && (t.key.empty() || t.key == key) && (t.effect.empty() || t.effect == effect);
  });
  if (!tolerated) pod.tolerations.push_back({.key = key, .op = "Exists", .effect = effect});
  return {};
}

}  // namespace gpuop::operands
