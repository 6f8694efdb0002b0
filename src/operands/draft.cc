#include "operands/draft.h"

#include <algorithm>
#include <charconv>

#include "data/writer.h"
#include "operands/gate_manifest.h"
#include "operands/image.h"
#include "operands/labels.h"

namespace gpuop::operands {
namespace {

constexpr const char* kDefaultPriorityClass = "system-node-critical";

std::vector<Toleration> TolerationsOf(const std::vector<api::Toleration>& in) {
  std::vector<Toleration> out;
  for (const api::Toleration& t : in)
    out.push_back({.key = t.key, .op = t.op, .value = t.value, .effect = t.effect, .seconds = t.seconds});
  return out;
}

StringMap Quantities(const std::map<std::string, data::Quantity>& in) {
  StringMap out;
  for (const auto& [name, quantity] : in) out[name] = quantity.ToString();
  return out;
}

/// "1" and "25%" as the API takes them.
Result<data::IntOrString> MaxUnavailable(const std::string& text) {
  static constexpr const char* kField = "spec.daemonsets.rollingUpdate.maxUnavailable";
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0 || (percent && number > 100))
    return Fail(Code::kInvalid, std::string(kField) + ": \"" + text + "\" is neither a number nor a percentage");
  return percent ? data::IntOrString{text} : data::IntOrString{number};
}

Result<UpdateStrategy> StrategyOf(const api::DaemonSets& policy) {
  if (policy.update_strategy == "OnDelete") return UpdateStrategy{.type = "OnDelete"};
  UpdateStrategy out{.type = "RollingUpdate"};
  if (policy.rolling_update && !policy.rolling_update->max_unavailable.empty()) {
    ASSIGN(auto most, MaxUnavailable(policy.rolling_update->max_unavailable));
    out.rolling = RollingUpdate{.max_unavailable = std::move(most)};
  }
  return out;
}

/// Labels that a user may not change: the selector's, and those that tell whose part an operand is.
bool IsOwnLabel(const DaemonSet& ds, const std::string& key) {
  return key == "app" || key == "app.kubernetes.io/part-of" || ds.selector.match_labels.contains(key);
}

void SetHostRoot(PodSpec& pod, const std::string& root) {
  if (root == "/" || pod.FindVolume("host-root") == nullptr) return;
  for (auto* containers : {&pod.init_containers, &pod.containers})
    for (Container& c : *containers)
      if (!c.env.contains("HOST_ROOT") && !c.env.vars().empty()) c.env.Set("HOST_ROOT", root);
}

/// NVIDIA's images run as root by themselves: what starts from them stays as it is.
void RunAsRoot(PodSpec& pod, const std::string& own_image) {
  for (auto* containers : {&pod.init_containers, &pod.containers})
    for (Container& c : *containers) {
      if (c.image != own_image) continue;
      if (!c.security) c.security.emplace();
      if (!c.security->run_as_user) c.security->run_as_user = 0;
    }
}

}  // namespace

Paths PathsOf(const api::HostPaths& policy) {
  const auto or_else = [](const std::string& set, const char* otherwise) { return set.empty() ? otherwise : set; };
  return {.host_root = or_else(policy.root_fs, "/"),
          .driver_install_dir = or_else(policy.driver_install_dir, kDefaultDriverInstallDir),
          .kubelet_root = or_else(policy.kubelet_root_dir, "/var/lib/kubelet")};
}

DaemonSet NewDaemonSet(const Identity& identity, const Facts& facts) {
  DaemonSet ds;
  const StringMap selector = identity.labels.empty() ? StringMap{{"app", identity.name}} : identity.labels;
  ds.meta = Named(identity.name, facts, selector);
  ds.meta.labels["app"] = identity.name;
  if (!identity.scc.empty()) ds.meta.annotations["openshift.io/scc"] = identity.scc;
  ds.selector.match_labels = selector;
  ds.pod.meta.labels = selector;
  PodSpec& pod = ds.pod.spec;
  pod.service_account = identity.account.empty() ? identity.name : identity.account;
  pod.priority_class = kDefaultPriorityClass;
  pod.tolerations = {{.key = "nvidia.com/gpu", .op = "Exists", .effect = "NoSchedule"}};
  if (!identity.deploy.empty()) pod.node_selector[DeployLabel(identity.deploy)] = "true";
  return ds;
}

Resources ResourcesOf(const std::optional<api::Resources>& in) {
  if (!in) return {};
  return {.limits = Quantities(in->limits), .requests = Quantities(in->requests)};
}

std::vector<EnvVar> EnvOf(const std::vector<api::EnvVar>& in) {
  std::vector<EnvVar> out;
  for (const api::EnvVar& var : in) out.push_back({.name = var.name, .value = var.value});
  return out;
}

void AddPullSecrets(const std::vector<std::string>& names, PodSpec& pod) {
  for (const std::string& name : names)
    if (std::ranges::find(pod.pull_secrets, name, &LocalRef::name) == pod.pull_secrets.end())
      pod.pull_secrets.push_back({.name = name});
}

void ApplyComponent(const api::Container& component, PodSpec& pod, Container& main) {
  main.pull_policy = PullPolicy(component.pull_policy);
  AddPullSecrets(component.pull_secrets, pod);
  if (component.resources && !component.resources->empty()) main.resources = ResourcesOf(component.resources);
  if (!component.args.empty()) main.args = component.args;
  main.env.Set(EnvOf(component.env));
  if (component.host_network.value_or(false)) {
    pod.host_network = true;
    pod.dns_policy = "ClusterFirstWithHostNet";
  }
}

Result<Object> FinishDaemonSet(DaemonSet ds, const api::ClusterPolicySpec& policy, const Facts& facts) {
  const api::DaemonSets& all = policy.daemonsets;
  PodSpec& pod = ds.pod.spec;
  for (const auto& [key, value] : all.labels) {
    if (IsOwnLabel(ds, key)) continue;
    ds.meta.labels[key] = value;
    ds.pod.meta.labels[key] = value;
  }
  for (const auto& [key, value] : all.annotations) {
    ds.meta.annotations[key] = value;
    ds.pod.meta.annotations[key] = value;
  }
  if (!all.tolerations.empty()) pod.tolerations = TolerationsOf(all.tolerations);
  TRY(TolerateGate(policy, pod));
  if (!all.priority_class_name.empty()) pod.priority_class = all.priority_class_name;
  if (all.pod_security_context) pod.security = data::WriteValue(*all.pod_security_context);
  if (ds.strategy.type.empty()) {
    ASSIGN(ds.strategy, StrategyOf(all));
  }
  SetHostRoot(pod, PathsOf(policy.host_paths).host_root);
  if (!facts.operator_image.empty()) RunAsRoot(pod, facts.operator_image);
  return ToObject(ds);
}

bool CrioByHooks(const api::ClusterPolicySpec& policy, const Facts& facts) {
  if (policy.cdi.enabled || facts.groups.empty()) return false;
  return std::ranges::all_of(facts.groups, [](const NodeGroup& g) { return g.runtime == kCrio; });
}

std::string GpuRuntimeClass(const api::ClusterPolicySpec& policy, const Facts& facts) {
  if (policy.cdi.nri_plugin || CrioByHooks(policy, facts) || facts.engine == kDocker) return {};
  return policy.operator_.runtime_class.empty() ? "nvidia" : policy.operator_.runtime_class;
}

void UseGpuRuntime(DaemonSet& ds, std::string_view main, const api::ClusterPolicySpec& policy, const Facts& facts) {
  ds.pod.spec.runtime_class = GpuRuntimeClass(policy, facts);
  if (policy.cdi.nri_plugin)
    ds.pod.meta.annotations[std::string("nvidia.cdi.k8s.io/container.").append(main)] = "management.nvidia.com/gpu=all";
}

void SetMigEnv(const api::ClusterPolicySpec& policy, Env& env) {
  const std::string& strategy = policy.mig.strategy;
  if (!strategy.empty()) env.Set("MIG_STRATEGY", strategy);
  if (strategy != "none") env.Set("NVIDIA_MIG_MONITOR_DEVICES", "all");
}

Volume HostRoot(const Paths& paths) { return HostVolume("host-root", paths.host_root); }
Volume DriverInstallDir(const Paths& paths) {
  return HostVolume("driver-install-dir", paths.driver_install_dir, kDirectoryOrCreate);
}
Volume Validations() { return HostVolume("run-nvidia-validations", kValidations, kDirectoryOrCreate); }

}  // namespace gpuop::operands
