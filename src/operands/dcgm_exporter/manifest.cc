#include "operands/dcgm_exporter/manifest.h"

#include <algorithm>

#include "base/text.h"
#include "operands/draft.h"
#include "operands/image.h"
#include "operands/references.h"
#include "operands/waits.h"

namespace gpuop::operands::dcgm_exporter {
namespace {

constexpr const char* kName = "nvidia-dcgm-exporter";
constexpr const char* kReadPods = "nvidia-dcgm-exporter-read-pods";
constexpr std::int32_t kPort = 9400;
constexpr const char* kEngine = "DCGM_REMOTE_HOSTENGINE_INFO";

std::string CustomMetrics(const api::DcgmExporter& exporter) { return exporter.config ? exporter.config->name : ""; }

/// The folder of job mapping files, or "".
std::string JobMapping(const api::DcgmExporter& exporter) {
  if (!exporter.hpc_job_mapping || !exporter.hpc_job_mapping->IsEnabled()) return {};
  const std::string& set = exporter.hpc_job_mapping->directory;
  return set.empty() ? "/var/lib/dcgm-exporter/job-mapping" : set;
}

/// Whether Pods' labels or UIDs are asked for, by field or by environment.
bool ReadsPods(const api::DcgmExporter& exporter) {
  if (exporter.enable_pod_labels.value_or(false) || exporter.enable_pod_uid.value_or(false)) return true;
  return std::ranges::any_of(exporter.env, [](const api::EnvVar& var) {
    return EqualsIgnoreCase(var.value, "true") &&
           (var.name.contains("ENABLE_POD_LABELS") || var.name.contains("ENABLE_POD_UID"));
  });
}

bool ReadsConfigMap(const api::DcgmExporter& exporter) {
  return std::ranges::any_of(exporter.env, [](const api::EnvVar& var) {
    return var.name == "DCGM_EXPORTER_CONFIGMAP_DATA" && !var.value.empty() && var.value != "none";
  });
}

Env MainEnv(const api::ClusterPolicySpec& policy) {
  const api::DcgmExporter& exporter = policy.dcgm_exporter;
  const char* metrics = CustomMetrics(exporter).empty() ? "dcp-metrics-included.csv" : "dcgm-metrics.csv";
  Env env{{.name = "DCGM_EXPORTER_LISTEN", .value = ":9400"},
          {.name = "DCGM_EXPORTER_KUBERNETES", .value = "true"},
          {.name = "DCGM_EXPORTER_COLLECTORS", .value = std::string("/etc/dcgm-exporter/") + metrics},
          NodeName()};
  if (policy.dcgm.IsEnabled()) env.Set(kEngine, "nvidia-dcgm:5555");
  if (const std::string mapping = JobMapping(exporter); !mapping.empty()) env.Set("DCGM_HPC_JOB_MAPPING_DIR", mapping);
  if (exporter.enable_pod_labels.value_or(false)) env.Set("DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS", "true");
  if (exporter.enable_pod_uid.value_or(false)) env.Set("DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID", "true");
  std::string allowed;
  for (const std::string& regex : exporter.pod_label_allowlist) allowed += (allowed.empty() ? "" : ",") + regex;
  if (!allowed.empty()) env.Set("DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", std::move(allowed));
  return env;
}

Probe Health(std::int32_t period) {
  return {.http_get = HttpGet{.path = "/health", .port = kPort}, .initial_delay = 45, .period = period};
}

Result<> AddFiles(const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod, Container& main) {
  pod.AddVolume(HostVolume("pod-gpu-resources", PathsOf(policy.host_paths).kubelet_root + "/pod-resources"));
  main.mounts.push_back({.name = "pod-gpu-resources", .path = "/var/lib/kubelet/pod-resources", .read_only = true});
  if (const std::string mapping = JobMapping(policy.dcgm_exporter); !mapping.empty()) {
    pod.AddVolume(HostVolume("hpc-job-mapping", mapping, kDirectoryOrCreate));
    main.mounts.push_back({.name = "hpc-job-mapping", .path = mapping, .read_only = true});
  }
  if (const std::string metrics = CustomMetrics(policy.dcgm_exporter); !metrics.empty()) {
    TRY(KeysOf(metrics, "spec.dcgmExporter.config.name", facts));
    pod.AddVolume(
        ConfigVolume("metrics-config", metrics, 0, {{.key = "dcgm-metrics.csv", .path = "dcgm-metrics.csv"}}));
    main.mounts.push_back({.name = "metrics-config",
                           .path = "/etc/dcgm-exporter/dcgm-metrics.csv",
                           .read_only = true,
                           .sub_path = "dcgm-metrics.csv"});
  }
  return {};
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const api::DcgmExporter& exporter = policy.dcgm_exporter;
  DaemonSet ds = NewDaemonSet({.name = kName, .deploy = "dcgm-exporter", .scc = kName}, facts);
  PodSpec& pod = ds.pod.spec;
  pod.automount_token = ReadsPods(exporter) || ReadsConfigMap(exporter);
  const Mount run{.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(kHostToContainer)};
  ASSIGN(Container wait, WaitForToolkit(run, false, policy, facts, pod));
  pod.init_containers = {std::move(wait)};
  pod.AddVolume(HostVolume("run-nvidia", "/run/nvidia"));
  ASSIGN(std::string image, ResolveImage(exporter, "DCGM_EXPORTER_IMAGE", facts, "spec.dcgmExporter"));
  Container main{.name = kName,
                 .image = std::move(image),
                 .env = MainEnv(policy),
                 .ports = {{.name = "metrics", .container_port = kPort}},
                 .liveness_probe = Health(5),
                 .readiness_probe = Health(10),
                 .security = Privileged()};
  TRY(AddFiles(policy, facts, pod, main));
  ApplyComponent(exporter, pod, main);
  pod.host_pid = exporter.host_pid.value_or(false);
  if (main.env.Get(kEngine).starts_with("localhost")) {  // the engine runs on the host
    pod.host_network = true;
    pod.dns_policy = "ClusterFirstWithHostNet";
  }
  pod.containers = {std::move(main)};
  UseGpuRuntime(ds, kName, policy, facts);
  for (const auto& [key, value] : exporter.annotations) ds.pod.meta.annotations[key] = value;
  return FinishDaemonSet(std::move(ds), policy, facts);
}

/// The names under which OpenShift's console shows accelerators of any maker.
Object Accelerators(const Facts& facts) {
  const auto record = [](const char* name, const char* expr) {
    return PrometheusRuleItem{.record = name, .expr = expr, .labels = {{"vendor_id", "10de"}}};
  };
  return ToObject(PrometheusRule{
      .meta = Named(kName, facts, {{"app", kName}}),
      .group = "accelerator",
      .rules = {record("accelerator_gpu_utilization", "DCGM_FI_DEV_GPU_UTIL / 100"),
                record("accelerator_memory_used_bytes", "DCGM_FI_DEV_FB_USED * 1048576"),
                record("accelerator_memory_total_bytes", "(DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) * 1048576"),
                record("accelerator_power_usage_watts", "DCGM_FI_DEV_POWER_USAGE"),
                record("accelerator_temperature_celsius", "DCGM_FI_DEV_GPU_TEMP"),
                record("accelerator_sm_clock_hertz", "DCGM_FI_DEV_SM_CLOCK * 1000000"),
                record("accelerator_memory_clock_hertz", "DCGM_FI_DEV_MEM_CLOCK * 1000000")}});
}

void AddReader(const api::DcgmExporter& exporter, const Facts& facts, std::vector<Object>& out) {
  if (!ReadsPods(exporter)) return;
  const Meta meta{.name = kReadPods, .labels = {{"app", kName}}};
  out.push_back(ToObject(
      Role{.meta = meta, .rules = {{.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list", "watch"}}}}));
  out.push_back(ToObject(Binding{.meta = meta, .account = kName, .account_ns = facts.ns}));
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.dcgm_exporter.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const api::DcgmExporter& exporter = policy.dcgm_exporter;
  const StringMap app{{"app", kName}};
  std::vector<Object> out;
  AddAccount({.name = kName,
              .rules = {{.groups = {""}, .resources = {"configmaps"}, .verbs = {"get", "list"}}},
              .labels = app},
             facts, out);
  AddReader(exporter, facts, out);
  AddConstraints({.account = kName, .host_network = true, .host_pid = true}, facts, out);
  Service service{
      .meta = {.name = kName, .ns = facts.ns, .labels = app, .annotations = {{"prometheus.io/scrape", "true"}}},
      .selector = app,
      .ports = {{.name = "gpu-metrics", .port = kPort}}};
  if (exporter.service) {
    if (!exporter.service->type.empty()) service.type = exporter.service->type;
    service.internal_traffic = exporter.service->internal_traffic_policy;
  }
  out.push_back(ToObject(service));
  if (exporter.service_monitor.IsEnabled())
    AddServiceMonitor(kName, "gpu-metrics", "app", exporter.service_monitor, facts, out);
  if (facts.openshift.present && facts.prometheus_rules) out.push_back(Accelerators(facts));
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::dcgm_exporter
