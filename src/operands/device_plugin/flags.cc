// The command line of nvidia-device-plugin.
#include <fmt/core.h>

#include "base/text.h"
#include "operands/device_plugin/settings.h"

namespace gpuop::operands::device_plugin {
namespace {

struct Flag {
  container::FlagSpec spec;
  const char* help;
};

const std::vector<Flag>& Flags() {
  static const std::vector<Flag> flags = {
      {{{"--mig-strategy"}, {"MIG_STRATEGY"}, "none"}, "none, single or mixed"},
      {{{"--fail-on-init-error"}, {"FAIL_ON_INIT_ERROR"}, "true", true}, "end when the driver cannot be asked"},
      {{{"--driver-root", "--nvidia-driver-root"}, {"NVIDIA_DRIVER_ROOT"}, "/"}, "the driver's root on the host"},
      {{{"--dev-root", "--nvidia-dev-root"}, {"NVIDIA_DEV_ROOT"}}, "the root of /dev on the host; the driver's"},
      {{{"--pass-device-specs"}, {"PASS_DEVICE_SPECS"}, "false", true}, "also name the device nodes to the kubelet"},
      {{{"--device-list-strategy"}, {"DEVICE_LIST_STRATEGY"}, "envvar", false, true},
       "any of envvar, volume-mounts, cdi-annotations and cdi-cri"},
      {{{"--device-id-strategy"}, {"DEVICE_ID_STRATEGY"}, "uuid"}, "uuid or index"},
      {{{"--gdrcopy-enabled"}, {"GDRCOPY_ENABLED"}, "false", true}, "containers get GDRCopy"},
      {{{"--gds-enabled"}, {"GDS_ENABLED"}, "false", true}, "containers get GPUDirect Storage"},
      {{{"--mofed-enabled"}, {"MOFED_ENABLED"}, "false", true}, "containers get InfiniBand verbs"},
      {{{"--cdi-annotation-prefix"}, {"CDI_ANNOTATION_PREFIX"}, "cdi.k8s.io/"}, "of the annotation with CDI names"},
      {{{"--nvidia-cdi-hook-path", "--nvidia-ctk-path"},
        {"NVIDIA_CDI_HOOK_PATH", "NVIDIA_CTK_PATH"},
        "/usr/bin/nvidia-ctk"},
       "the program of CDI hooks on the host"},
      {{{"--driver-root-ctr-path", "--container-driver-root"},
        {"DRIVER_ROOT_CTR_PATH", "CONTAINER_DRIVER_ROOT"},
        "/driver-root"},
       "where this program finds the driver's root"},
      {{{"--mps-root"}, {"MPS_ROOT"}}, "the MPS daemon's folder on the host"},
      {{{"--shared-devices-allocation-policy"}, {"SHARED_DEVICES_ALLOCATION_POLICY"}, "distributed"},
       "distributed or packed"},
      {{{"--device-discovery-strategy"}, {"DEVICE_DISCOVERY_STRATEGY"}, "auto"}, "auto or nvml"},
      {{{"--imex-channel-ids"}, {"IMEX_CHANNEL_IDS"}, "", false, true}, "IMEX channels for containers: none or 0"},
      {{{"--imex-required"}, {"IMEX_REQUIRED"}, "false", true}, "a channel that is not there is an error"},
      {{{"--kubelet-socket"}, {"KUBELET_SOCKET"}, "/var/lib/kubelet/device-plugins/kubelet.sock"},
       "where the kubelet takes registrations; empty: register with nobody"},
      {{{"--config-file"}, {"CONFIG_FILE"}}, "settings file"},
      {{{"--cdi-feature-flags"}, {"CDI_FEATURE_FLAGS"}, "", false, true}, "features of CDI specs"},
      {{{"--cdi-disable-hooks", "--cdi-disabled-hooks"}, {"CDI_DISABLE_HOOKS"}, "", false, true},
       "hooks that CDI specs go without; \"all\""},
      {{{"--metrics-address"}, {"METRICS_ADDRESS"}}, "ADDRESS:PORT of /metrics and /healthz; none"},
      {{{"--node-name"}, {"NODE_NAME"}}, "the node that the next three are about"},
      {{{"--gpu-condition"}, {"GPU_CONDITION"}, "false", true},
       "keep the node's condition gpu-operator.dev/GPUsHealthy"},
      {{{"--readiness-taint"}, {"READINESS_TAINT"}}, "marks the node until its GPUs can be had; \"true\", KEY:EFFECT"},
      {{{"--readiness-condition"}, {"READINESS_CONDITION"}}, "says whether they can; \"true\", or a type"},
      {{{"--kubeconfig"}, {"KUBECONFIG"}}, "how to reach the API outside a Pod"},
  };
  return flags;
}

}  // namespace

Result<container::FlagValues> ReadFlags(const std::vector<std::string>& args, const GetEnv& env) {
  std::vector<container::FlagSpec> specs;
  for (const Flag& flag : Flags()) specs.push_back(flag.spec);
  return container::ParseFlags(specs, args, env);
}

std::string Help() {
  std::string out = "nvidia-device-plugin: offers this node's GPUs to the kubelet\n\n";
  for (const Flag& flag : Flags())
    out += fmt::format("  {:<36}{} ({})\n", flag.spec.names.front(), flag.help, flag.spec.variables.front());
  out += "\nDP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS name Xids that do not, or do, make a GPU unhealthy.\n";
  return out;
}

}  // namespace gpuop::operands::device_plugin
