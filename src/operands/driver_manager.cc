#include "operands/driver_manager.h"

#include "operands/draft.h"
#include "operands/image.h"

namespace gpuop::operands {
namespace {

Env ManagerEnv(const ManagerSettings& settings) {
  Env env{NodeName(),
          {.name = "NVIDIA_VISIBLE_DEVICES", .value = "void"},
          {.name = "ENABLE_GPU_POD_EVICTION", .value = settings.evicts ? "true" : "false"},
          {.name = "ENABLE_AUTO_DRAIN", .value = "false"}};
  if (settings.evicts) {
    env.Set("DRAIN_USE_FORCE", "false");
    env.Set("DRAIN_POD_SELECTOR_LABEL", "");
    env.Set("DRAIN_TIMEOUT_SECONDS", "0s");
    env.Set("DRAIN_DELETE_EMPTYDIR_DATA", "false");
  }
  env.Set(FieldVar("OPERATOR_NAMESPACE", "metadata.namespace"));
  if (settings.rdma) env.Set("GPU_DIRECT_RDMA_ENABLED", "true");
  if (settings.rdma && settings.host_mofed) env.Set("USE_HOST_MOFED", "true");
  env.Set(EnvOf(settings.spec.env));
  if (!settings.digest.empty()) env.Set("DRIVER_CONFIG_DIGEST", settings.digest);
  return env;
}

}  // namespace

Result<Container> ManagerInit(const ManagerSettings& settings, Resources resources, const Facts& facts, PodSpec& pod) {
  ASSIGN(std::string image, ResolveImage(settings.spec, "DRIVER_MANAGER_IMAGE", facts, settings.field));
  AddPullSecrets(settings.spec.pull_secrets, pod);
  Container out{.name = "k8s-driver-manager",
                .image = std::move(image),
                .pull_policy = PullPolicy(settings.spec.pull_policy),
                .command = {"driver-manager"},
                .args = {"uninstall_driver"},
                .env = ManagerEnv(settings),
                .resources = std::move(resources),
                .security = Privileged(),
                .mounts = {{.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(kBidirectional)},
                           HostRootMount(),
                           {.name = "host-sys", .path = "/sys"}}};
  if (settings.evicts)
    out.mounts.push_back({.name = "run-mellanox-drivers",
                          .path = "/run/mellanox/drivers",
                          .propagation = std::string(kHostToContainer)});
  return out;
}

}  // namespace gpuop::operands
