#include "operands/driver_manager/gpu_pods.h"

#include <algorithm>

namespace gpuop::operands::driver_manager {
namespace {

bool IsGpu(std::string_view resource) {
  return resource.starts_with("nvidia.com/gpu") || resource.starts_with("nvidia.com/mig-");
}

bool AsksForGpus(const data::JsonObject& pod, const char* containers) {
  const data::JsonArray* const list = data::GetArray(pod, containers);
  if (list == nullptr) return false;
  for (const data::Json& container : *list)
    for (const char* const kind : {"resources.limits", "resources.requests"})
      if (const data::JsonObject* const amounts = data::GetObject(container, kind))
        for (const auto& entry : *amounts)
          if (IsGpu(entry.key())) return true;
  return false;
}

void ReadOwner(const data::JsonObject& pod, PodOnNode& out) {
  const data::JsonArray* const owners = data::GetArray(pod, "metadata.ownerReferences");
  if (owners == nullptr) return;
  for (const data::Json& owner : *owners) {
    if (!data::BoolOr(owner, "controller")) continue;
    out.has_controller = true;
    out.of_daemon_set = data::StringOr(owner, "kind") == "DaemonSet";
  }
}

bool HasEmptyDir(const data::JsonObject& pod) {
  const data::JsonArray* const volumes = data::GetArray(pod, "spec.volumes");
  return volumes != nullptr && std::ranges::any_of(*volumes, [](const data::Json& volume) {
           return data::GetObject(volume, "emptyDir") != nullptr;
         });
}

void Refuse(std::string& refusal, const PodOnNode& pod, const char* why) {
  refusal.append(refusal.empty() ? "" : "; ").append(pod.Called()).append(" ").append(why);
}

}  // namespace

std::optional<PodOnNode> AsPod(const data::JsonObject& pod) {
  const std::string_view phase = data::StringOr(pod, "status.phase");
  if (phase == "Succeeded" || phase == "Failed") return std::nullopt;
  const data::JsonObject* const annotations = data::GetObject(pod, "metadata.annotations");
  if (annotations != nullptr && annotations->contains("kubernetes.io/config.mirror")) return std::nullopt;
  PodOnNode out{.ns = std::string(data::StringOr(pod, "metadata.namespace")),
                .name = std::string(data::StringOr(pod, "metadata.name")),
                .uid = std::string(data::StringOr(pod, "metadata.uid"))};
  ReadOwner(pod, out);
  out.has_empty_dir = HasEmptyDir(pod);
  return out;
}

std::optional<PodOnNode> AsGpuPod(const data::JsonObject& pod) {
  if (!AsksForGpus(pod, "spec.containers") && !AsksForGpus(pod, "spec.initContainers")) return std::nullopt;
  return AsPod(pod);
}

EvictionPlan PlanEviction(std::span<const PodOnNode> pods, bool allowed, const Options& options) {
  EvictionPlan out;
  for (const PodOnNode& pod : pods) {
    if (pod.of_daemon_set) continue;
    if (!allowed) {
      Refuse(out.refusal, pod, "uses GPUs and may not be evicted (ENABLE_GPU_POD_EVICTION)");
    } else if (!pod.has_controller && !options.force) {
      Refuse(out.refusal, pod, "would not be made again (DRAIN_USE_FORCE=true evicts it)");
    } else if (pod.has_empty_dir && !options.delete_empty_dir) {
      Refuse(out.refusal, pod, "would lose its emptyDir (DRAIN_DELETE_EMPTYDIR_DATA=true evicts it)");
    } else {
      out.evict.push_back(pod);
    }
  }
  if (!out.refusal.empty()) out.evict.clear();
  return out;
}

}  // namespace gpuop::operands::driver_manager
