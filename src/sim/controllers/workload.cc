#include "sim/controllers/workload.h"

#include <algorithm>

#include "base/text.h"
#include "kube/list_text.h"

namespace gpuop::sim {

namespace json = boost::json;

json::object ControllerReference(const kube::Resource& kind, const kube::ObjectMeta& owner) {
  return {{"apiVersion", kind.ApiVersion()},
          {"kind", kind.kind},
          {"name", owner.name},
          {"uid", owner.uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

json::array OwnersJson(const kube::ObjectMeta& meta, std::string_view without) {
  json::array out;
  for (const kube::OwnerReference& o : meta.owners)
    if (o.uid != without)
      out.push_back({{"apiVersion", o.api_version.view()},
                     {"kind", o.kind.view()},
                     {"name", o.name},
                     {"uid", o.uid},
                     {"controller", o.controller},
                     {"blockOwnerDeletion", o.block_owner_deletion}});
  return out;
}

Result<json::object> PodFromTemplate(const kube::RawJson& whole, const kube::Resource& kind,
                                     const kube::ObjectMeta& owner) {
  auto pod = kube::ParseObject(whole.text);
  if (!pod) return std::unexpected(std::move(pod).error().During("pod template of " + owner.Key()));
  json::object meta;
  meta["generateName"] = owner.name + "-";
  meta["namespace"] = std::string_view(owner.ns);
  if (const auto* from = pod->if_contains("metadata"); from != nullptr && from->is_object())
    for (const char* field : {"labels", "annotations", "finalizers"})
      if (const auto* v = from->get_object().if_contains(field); v != nullptr && !v->is_null()) meta[field] = *v;
  meta["ownerReferences"] = json::array{ControllerReference(kind, owner)};
  (*pod)["apiVersion"] = "v1";
  (*pod)["kind"] = "Pod";
  (*pod)["metadata"] = std::move(meta);
  return pod;
}

bool IsAvailable(const kube::Pod& pod, std::int32_t min_ready_seconds, WallTime now) {
  return pod.ready() && !AvailableAt(pod, min_ready_seconds, now);
}

std::optional<WallTime> AvailableAt(const kube::Pod& pod, std::int32_t min_ready_seconds, WallTime now) {
  const kube::Condition* ready = kube::FindCondition(pod.status.conditions, "Ready");
  if (ready == nullptr || !ready->is_true()) return std::nullopt;
  const WallTime at = ready->last_transition + std::chrono::seconds(min_ready_seconds);
  return min_ready_seconds == 0 || at <= now ? std::nullopt : std::optional(at);
}

std::string TemplateHash(std::string_view text, std::int32_t collisions) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  const std::uint64_t wide = Hash64(text, Hash64(collisions == 0 ? "" : std::to_string(collisions)));
  const auto narrow = static_cast<std::uint32_t>(wide ^ (wide >> 32U));
  std::string out;
  for (const char digit : std::to_string(narrow)) out += kLetters[static_cast<unsigned char>(digit) % kLetters.size()];
  return out;
}

std::optional<std::int32_t> Scaled(const kube::IntOrString& value, std::int32_t total, bool round_up) {
  if (value.text.empty()) return static_cast<std::int32_t>(value.number);
  std::string_view text = value.text;
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const auto percent = ParseInt(text);
  if (!percent) return std::nullopt;
  return static_cast<std::int32_t>((*percent * total + (round_up ? 99 : 0)) / 100);
}

json::object ConditionJson(const kube::Condition& c) {
  json::object out{{"type", std::string_view(c.type)}, {"status", std::string_view(c.status)}};
  if (c.last_heartbeat != WallTime{}) out["lastHeartbeatTime"] = FormatTime(c.last_heartbeat);
  if (c.last_probe != WallTime{}) out["lastProbeTime"] = FormatTime(c.last_probe);
  if (c.last_update != WallTime{}) out["lastUpdateTime"] = FormatTime(c.last_update);
  if (c.last_transition != WallTime{}) out["lastTransitionTime"] = FormatTime(c.last_transition);
  if (c.observed_generation != 0) out["observedGeneration"] = c.observed_generation;
  if (!c.reason.empty()) out["reason"] = std::string_view(c.reason);
  if (!c.message.empty()) out["message"] = std::string_view(c.message);
  return out;
}

}  // namespace gpuop::sim
