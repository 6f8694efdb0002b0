#include "operands/readiness_gate_plan.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "data/names.h"
#include "operands/node_condition.h"

namespace gpuop::operands {
namespace {

namespace json = boost::json;

constexpr std::string_view kReady = "Ready";

std::int64_t Allocatable(const kube::Node& node, const std::string& resource) {
  const Interned* const text = node.status.allocatable.Find(resource);
  return text == nullptr ? 0 : ParseInt(text->view()).value_or(0);
}

/// Whether the kubelet has written its node's status since `since`. Its times have whole seconds.
bool HeardSince(const kube::Node& node, WallTime since) {
  const kube::Condition* const ready = kube::FindCondition(node.status.conditions, kReady);
  return ready != nullptr && ready->last_heartbeat >= std::chrono::floor<std::chrono::seconds>(since);
}

/// "nvidia.com/gpu: 8 advertised, 0 allocatable; …", of all resources or of those that differ.
std::string Amounts(const kube::Node& node, const Advertised& advertised, bool all) {
  std::vector<std::string> parts;
  for (const auto& [resource, healthy] : advertised.healthy) {
    const std::int64_t allocatable = Allocatable(node, resource);
    if (all || healthy != allocatable)
      parts.push_back(resource + ": " + std::to_string(healthy) + " advertised, " + std::to_string(allocatable) +
                      " allocatable");
  }
  return Join(parts, "; ");
}

GateVerdict Closed(std::string reason, std::string message) { return {false, std::move(reason), std::move(message)}; }

std::optional<json::array> PlanTaint(const kube::Node& node, bool wanted, const kube::Taint& taint) {
  const auto& taints = node.spec.taints;
  const auto it = std::ranges::find_if(
      taints, [&](const kube::Taint& t) { return t.key == taint.key && t.effect == taint.effect; });
  const bool there = it != taints.end();
  if (there == wanted) return std::nullopt;
  if (!wanted) {
    const std::string path = "/spec/taints/" + std::to_string(it - taints.begin());
    return json::array{{{"op", "test"}, {"path", path + "/key"}, {"value", taint.key.view()}},
                       {{"op", "test"}, {"path", path + "/effect"}, {"value", taint.effect.view()}},
                       {{"op", "remove"}, {"path", path}}};
  }
  json::object value{{"key", taint.key.view()}, {"effect", taint.effect.view()}};
  if (!taint.value.empty()) value["value"] = taint.value.view();
  if (!taints.empty()) return json::array{{{"op", "add"}, {"path", "/spec/taints/-"}, {"value", std::move(value)}}};
  return json::array{{{"op", "test"}, {"path", "/spec/taints"}, {"value", nullptr}},
                     {{"op", "add"}, {"path", "/spec/taints"}, {"value", json::array{std::move(value)}}}};
}

}  // namespace

Result<GateSettings> ParseGateSettings(std::string_view taint, std::string_view condition) {
  GateSettings out;
  if (taint == "true") taint = GateSettings::kTaint;
  if (condition == "true") condition = GateSettings::kCondition;
  if (!taint.empty() && taint != "false") {
    const auto bad = [&](std::string_view why) {
      return Fail(Code::kInvalid, "readiness taint " + Quote(taint) + ": " + std::string(why));
    };
    const auto parts = Cut(taint, ':');
    if (!parts) return bad("expected KEY:EFFECT or KEY=VALUE:EFFECT");
    if (parts->second != "NoSchedule" && parts->second != "PreferNoSchedule")
      return bad("the effect must be NoSchedule or PreferNoSchedule");
    const auto pair = Cut(parts->first, '=');
    kube::Taint read;
    read.key = pair ? pair->first : parts->first;
    read.value = pair ? pair->second : std::string_view();
    read.effect = parts->second;
    if (const auto why = data::CheckQualifiedName(read.key); !why.empty()) return bad("key: " + why.front());
    if (const auto why = data::CheckLabelValue(read.value); !why.empty()) return bad("value: " + why.front());
    out.taint = std::move(read);
  }
  if (!condition.empty() && condition != "false") {
    if (const auto why = data::CheckQualifiedName(condition); !why.empty())
      return Fail(Code::kInvalid, "readiness condition " + Quote(condition) + ": " + why.front());
    out.condition = condition;
  }
  return out;
}

GateVerdict Judge(const kube::Node& node, const GateFacts& facts) {
  const Advertised& advertised = facts.advertised;
  if (facts.ending) return Closed("PluginEnding", "the device plugin is ending; its devices go with it");
  if (!advertised.live)
    return Closed("KubeletNotConnected",
                  "the kubelet does not listen to the device plugin: it restarts, or the plugin "
                  "has not been registered yet");
  if (std::ranges::none_of(advertised.healthy, [](const auto& r) { return r.second > 0; }))
    return Closed("NoHealthyDevice", "the device plugin has no healthy device to offer");
  const std::string differences = Amounts(node, advertised, false);
  if (!differences.empty()) return Closed("AllocatableDiffers", differences);
  if (!HeardSince(node, facts.live_since))
    return Closed("KubeletNotHeardSince",
                  "the kubelet has not written its node's status since it began to listen to the device plugin");
  return {true, "DevicesAllocatable", Amounts(node, advertised, true)};
}

GateWrites PlanGate(const kube::Node& node, const GateVerdict& verdict, const GateSettings& settings, WallTime now) {
  GateWrites out;
  if (settings.taint) out.taint = PlanTaint(node, !verdict.open, *settings.taint);
  if (!settings.condition.empty())
    out.condition = PlanNodeCondition(node,
                                      {.type = settings.condition,
                                       .status = verdict.open ? "True" : "False",
                                       .reason = verdict.reason,
                                       .message = verdict.message},
                                      now);
  return out;
}

}  // namespace gpuop::operands
