#include "operands/sandbox_device_plugin/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/waits.h"

namespace gpuop::operands::sandbox_device_plugin {
namespace {

/// What differs between the two plugins.
struct Kind {
  const char *name, *account, *deploy, *container;
  const api::DefaultOff& component;
  const char *image_env, *field;
  bool kata;
};

Kind Kubevirt(const api::ClusterPolicySpec& policy) {
  return {"nvidia-sandbox-device-plugin-daemonset",
          "nvidia-sandbox-device-plugin",
          "sandbox-device-plugin",
          "nvidia-sandbox-device-plugin-ctr",
          policy.sandbox_device_plugin,
          "SANDBOX_DEVICE_PLUGIN_IMAGE",
          "spec.sandboxDevicePlugin",
          false};
}

Kind Kata(const api::ClusterPolicySpec& policy) {
  return {"nvidia-kata-sandbox-device-plugin-daemonset",
          "nvidia-kata-sandbox-device-plugin",
          "kata-sandbox-device-plugin",
          "nvidia-kata-sandbox-device-plugin-ctr",
          policy.kata_sandbox_device_plugin,
          "KATA_SANDBOX_DEVICE_PLUGIN_IMAGE",
          "spec.kataSandboxDevicePlugin",
          true};
}

/// Waits for a status file on nodes of one workload, and for nothing on others.
Result<Container> WaitFor(const char* name, const char* workload, const char* file,
                          const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod) {
  const std::string folder = std::string(kValidations) + "/";
  ASSIGN(Container out,
         Waiter(name, {"wait", "--if=" + folder + "workload-type:" + workload, folder + file}, policy, facts, pod));
  out.env.Set("NVIDIA_VISIBLE_DEVICES", "void");
  out.mounts = {ValidationsMount(kHostToContainer)};
  return out;
}

Container Main(std::string image, const Kind& kind) {
  Container out{.name = kind.container,
                .image = std::move(image),
                .env = {NodeName(), FieldVar("POD_NAMESPACE", "metadata.namespace")},
                .security = Privileged(),
                .mounts = {{.name = "device-plugin", .path = "/var/lib/kubelet/device-plugins"},
                           {.name = "cdi-root", .path = "/var/run/cdi"}}};
  if (kind.kata) {
    out.env.Set(FieldVar("POD_SERVICE_ACCOUNT", "spec.serviceAccountName"));
  } else {
    out.mounts.push_back({.name = "vfio", .path = "/dev/vfio"});
  }
  return out;
}

Result<Object> MakeDaemonSet(const Kind& kind, const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds =
      NewDaemonSet({.name = kind.name, .account = kind.account, .deploy = kind.deploy, .scc = kind.account}, facts);
  PodSpec& pod = ds.pod.spec;
  ASSIGN(Container vfio, WaitFor("vfio-pci-validation", "vm-passthrough", "vfio-pci-ready", policy, facts, pod));
  pod.init_containers = {std::move(vfio)};
  pod.volumes = {Validations(),
                 HostVolume("device-plugin", PathsOf(policy.host_paths).kubelet_root + "/device-plugins"),
                 HostVolume("cdi-root", "/var/run/cdi", kDirectoryOrCreate)};
  if (!kind.kata) {
    ASSIGN(Container vgpu, WaitFor("vgpu-devices-validation", "vm-vgpu", "vgpu-devices-ready", policy, facts, pod));
    pod.init_containers.push_back(std::move(vgpu));
    pod.AddVolume(HostVolume("vfio", "/dev/vfio"));
  }
  ASSIGN(std::string image, ResolveImage(kind.component, kind.image_env, facts, kind.field));
  Container main = Main(std::move(image), kind);
  ApplyComponent(kind.component, pod, main);
  pod.containers = {std::move(main)};
  return FinishDaemonSet(std::move(ds), policy, facts);
}

Result<std::vector<Object>> RenderKind(const Kind& kind, const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kind.account,
              .cluster_rules = {{.groups = {""}, .resources = {"nodes", "pods"}, .verbs = {"get"}}},
              .rules = {{.groups = {""}, .resources = {"pods"}, .verbs = {"create", "get", "list", "watch", "delete"}},
                        {.groups = {"nfd.k8s-sigs.io"},
                         .resources = {"nodefeatures"},
                         .verbs = {"get", "list", "watch", "create", "update"}}},
              .reads_openshift_version = true},
             facts, out);
  AddConstraints({.account = kind.account}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(kind, policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace

bool KubevirtEnabled(const api::ClusterPolicySpec& policy, const Facts&) {
  return policy.sandbox_workloads.IsEnabled() && policy.sandbox_workloads.mode == "kubevirt" &&
         policy.sandbox_device_plugin.IsEnabled();
}

Result<std::vector<Object>> RenderKubevirt(const api::ClusterPolicySpec& policy, const Facts& facts) {
  return RenderKind(Kubevirt(policy), policy, facts);
}

bool KataEnabled(const api::ClusterPolicySpec& policy, const Facts&) {
  return policy.sandbox_workloads.IsEnabled() && policy.sandbox_workloads.mode == "kata" &&
         policy.kata_sandbox_device_plugin.IsEnabled();
}

Result<std::vector<Object>> RenderKata(const api::ClusterPolicySpec& policy, const Facts& facts) {
  return RenderKind(Kata(policy), policy, facts);
}

}  // namespace gpuop::operands::sandbox_device_plugin
