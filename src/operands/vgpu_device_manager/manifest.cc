#include "operands/vgpu_device_manager/manifest.h"

#include "data/yaml.h"
#include "operands/draft.h"
#include "operands/image.h"
#include "operands/references.h"
#include "operands/waits.h"

namespace gpuop::operands::vgpu_device_manager {
namespace {

constexpr const char* kName = "nvidia-vgpu-device-manager";
constexpr const char* kDefaultDevices = "default-vgpu-devices-config";

std::string CustomDevices(const api::VgpuDeviceManager& manager) { return manager.config ? manager.config->name : ""; }

/// Two virtual GPUs of half the memory on each GPU that has such a type. A name is a type of NVIDIA's vGPU software.
std::string DefaultDevices() {
  data::JsonObject types;
  for (const char* type :
       {"A10-12Q", "A16-8Q", "A2-8Q", "A30-12C", "A40-24Q", "A100-20C", "A100D-40C", "H100-40C", "H100L-47C", "L2-12Q",
        "L4-12Q", "L20-24Q", "L40-24Q", "L40S-24Q", "RTX6000-Ada-24Q", "T4-8Q", "V100-8Q", "V100D-16Q"})
    types[type] = 2;
  data::JsonObject entry{{"devices", "all"}, {"vgpu-devices", std::move(types)}};
  return data::ToYaml(data::JsonObject{
      {"version", "v1"}, {"vgpu-configs", data::JsonObject{{"default", data::JsonArray{std::move(entry)}}}}});
}

Container Main(std::string image, const api::VgpuDeviceManager& manager) {
  Container out{
      .name = kName,
      .image = std::move(image),
      .env = {FieldVar("NAMESPACE", "metadata.namespace"),
              NodeName(),
              {.name = "CONFIG_FILE", .value = "/vgpu-config/config.yaml"}},
      .security = Privileged(),
      .mounts = {{.name = "vgpu-config", .path = "/vgpu-config"},
                 {.name = "host-root", .path = "/host", .propagation = std::string(kHostToContainer)},
                 {.name = "host-sys", .path = "/sys"},
                 {.name = "driver-install-dir", .path = "/driver-root", .propagation = std::string(kHostToContainer)}}};
  out.env.Set("DEFAULT_VGPU_CONFIG", manager.config ? manager.config->default_config : "default");
  return out;
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const api::VgpuDeviceManager& manager = policy.vgpu_device_manager;
  const Paths paths = PathsOf(policy.host_paths);
  DaemonSet ds = NewDaemonSet({.name = kName, .deploy = "vgpu-device-manager", .scc = kName}, facts);
  PodSpec& pod = ds.pod.spec;
  const std::string status = std::string(kValidations) + "/";
  ASSIGN(Container wait, Waiter("vgpu-manager-validation",
                                {"wait", "--any", status + "vgpu-manager-ready", status + "host-vgpu-manager-ready"},
                                policy, facts, pod));
  wait.mounts = {ValidationsMount(kHostToContainer)};
  pod.init_containers = {std::move(wait)};
  const std::string custom = CustomDevices(manager);
  if (!custom.empty()) TRY(KeysOf(custom, "spec.vgpuDeviceManager.config.name", facts));
  pod.volumes = {Validations(), DriverInstallDir(paths), HostRoot(paths), HostVolume("host-sys", "/sys", kDirectory),
                 ConfigVolume("vgpu-config", custom.empty() ? kDefaultDevices : custom)};
  ASSIGN(std::string image, ResolveImage(manager, "VGPU_DEVICE_MANAGER_IMAGE", facts, "spec.vgpuDeviceManager"));
  Container main = Main(std::move(image), manager);
  ApplyComponent(manager, pod, main);
  pod.containers = {std::move(main)};
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) {
  return policy.sandbox_workloads.IsEnabled() && policy.vgpu_device_manager.IsEnabled();
}

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kName,
              .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "watch", "update"}}},
              .rules = {{.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list", "watch"}}},
              .reads_openshift_version = true},
             facts, out);
  AddConstraints({.account = kName}, facts, out);
  if (CustomDevices(policy.vgpu_device_manager).empty())
    out.push_back(
        ToObject(ConfigMap{.meta = Named(kDefaultDevices, facts), .data = {{"config.yaml", DefaultDevices()}}}));
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::vgpu_device_manager
