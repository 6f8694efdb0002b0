#include "operands/validator/workload_pod.h"

#include "operands/validator/compute.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;
using data::JsonArray;
using data::JsonObject;

constexpr const char* kAllGpus = "management.nvidia.com/gpu=all";

struct Kind {
  const char *app, *container;
};
constexpr Kind KindOf(Workload workload) {
  return workload == Workload::kCuda ? Kind{"nvidia-cuda-validator", "cuda-validation"}
                                     : Kind{"nvidia-device-plugin-validator", "plugin-validation"};
}

JsonObject Variable(const char* name, std::string value) { return {{"name", name}, {"value", std::move(value)}}; }

JsonObject MakeContainer(const WorkloadPlan& plan) {
  const Kind kind = KindOf(plan.workload);
  JsonObject out{{"name", kind.container}, {"image", plan.options.image}, {"command", JsonArray{"vectorAdd"}}};
  const auto limit = std::chrono::duration_cast<std::chrono::seconds>(plan.options.device_limit).count();
  JsonArray env{Variable(kDeviceLimit, std::to_string(limit))};
  if (!plan.options.pull_policy.empty()) out["imagePullPolicy"] = plan.options.pull_policy;
  if (plan.workload == Workload::kCuda) {
    env.insert(env.begin(), Variable("NVIDIA_VISIBLE_DEVICES", "all"));
    out["securityContext"] = JsonObject{{"privileged", true}};
  } else {
    out["securityContext"] = JsonObject{{"allowPrivilegeEscalation", false}};
    out["resources"] = JsonObject{{"limits", JsonObject{{plan.resource, "1"}}}};
  }
  out["env"] = std::move(env);
  return out;
}

JsonObject Owner(const JsonObject& daemon_set) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "DaemonSet"},
          {"name", data::StringOr(daemon_set, "metadata.name")},
          {"uid", data::StringOr(daemon_set, "metadata.uid")}};
}

/// The state of the one container, whichever way the Pod was made.
const kube::ContainerStatus* StatusOf(const kube::Pod& pod) {
  return pod.status.containers.empty() ? nullptr : &pod.status.containers.front();
}

api::Finding FindingOfEnd(const kube::ContainerStateTerminated& end) {
  if (auto told = ReadFinding(end.message.view())) return *std::move(told);
  if (end.exit_code == 0) return {kProved, "the workload ended well"};
  std::string evidence = "exit status " + std::to_string(end.exit_code) + ", " + std::string(end.reason.view());
  if (!end.message.view().empty()) evidence.append(": ").append(end.message.view());
  if (end.reason == "StartError" || end.reason == "ContainerCannotRun") return FindingOfEngine(evidence);
  return {kCudaPodFailed, std::move(evidence)};
}

bool Contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

}  // namespace

JsonObject MakeWorkloadPod(const WorkloadPlan& plan) {
  const Kind kind = KindOf(plan.workload);
  JsonObject meta{{"generateName", std::string(kind.app) + "-"},
                  {"namespace", plan.options.ns},
                  {"labels", JsonObject{{"app", kind.app}}},
                  {"ownerReferences", JsonArray{Owner(plan.daemon_set)}}};
  if (plan.workload == Workload::kCuda)
    meta["annotations"] = JsonObject{{std::string("nvidia.cdi.k8s.io/container.") + kind.container, kAllGpus}};
  JsonObject spec{{"nodeName", plan.options.node},
                  {"restartPolicy", "Never"},
                  {"serviceAccountName", "nvidia-operator-validator"},
                  {"automountServiceAccountToken", false},
                  {"containers", JsonArray{MakeContainer(plan)}}};
  if (!plan.options.runtime_class.empty()) spec["runtimeClassName"] = plan.options.runtime_class;
  if (const data::Json* tolerations = data::Find(plan.daemon_set, "spec.template.spec.tolerations"))
    spec["tolerations"] = *tolerations;
  JsonArray secrets;
  for (const std::string& name : plan.options.pull_secrets) secrets.push_back(JsonObject{{"name", name}});
  if (!secrets.empty()) spec["imagePullSecrets"] = std::move(secrets);
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
}

api::Finding FindingOfEngine(std::string_view words) {
  std::string evidence(words);
  if (Contains(words, "no runtime for") || Contains(words, "failed to find runtime handler"))
    return {kRuntimeHandlerMissing, std::move(evidence)};
  if (Contains(words, "unresolvable CDI devices")) return {kCdiSpecMissing, std::move(evidence)};
  if (Contains(words, "CDI") && (Contains(words, "no such file") || Contains(words, "stat ")))
    return {kCdiSpecStale, std::move(evidence)};
  if (Contains(words, "CDI")) return {kCdiSpecInvalid, std::move(evidence)};
  if (Contains(words, "nvidia-container-runtime") || Contains(words, "nvidia-container-cli"))
    return {kToolkitNotReady, std::move(evidence)};
  return {kCudaPodFailed, std::move(evidence)};
}

PodVerdict Judge(const kube::Pod& pod, const std::string& complaint) {
  const kube::ContainerStatus* const status = StatusOf(pod);
  const bool ended = status != nullptr && status->state.terminated.has_value();
  if (pod.status.phase == "Succeeded") {
    api::Finding proved{kProved, "the workload ended well"};
    if (ended) proved = FindingOfEnd(*status->state.terminated);
    return {true, std::move(proved)};
  }
  if (pod.status.phase == "Failed") {
    if (ended) return {true, FindingOfEnd(*status->state.terminated)};
    std::string evidence(pod.status.reason.view());
    evidence.append(evidence.empty() ? "" : ": ").append(pod.status.message.view());
    // The kubelet gave the devices to somebody else, or does not know them yet.
    if (pod.status.reason == "UnexpectedAdmissionError") return {true, {kDeviceUnhealthy, std::move(evidence)}};
    return {true, {kCudaPodFailed, std::move(evidence)}};
  }
  if (status != nullptr && status->state.waiting) {
    const auto& waiting = *status->state.waiting;
    if (!waiting.message.view().empty()) {
      std::string words(waiting.reason.view());
      words.append(": ").append(waiting.message.view());
      return {false, FindingOfEngine(words)};
    }
  }
  if (!complaint.empty()) return {false, FindingOfEngine(complaint)};
  return {false, {kProved, "the Pod " + pod.meta.name + " is under way"}};
}

}  // namespace gpuop::operands::validator
