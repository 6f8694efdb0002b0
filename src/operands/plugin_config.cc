#include "operands/plugin_config.h"

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/references.h"

namespace gpuop::operands {
namespace {

constexpr const char* kConfigFile = "/config/config.yaml";
constexpr const char* kSource = "device-plugin-config";

Container ConfigManager(const std::string& image, const std::string& default_config, const std::string& process,
                        bool once, const api::DevicePlugin& plugin) {
  return {.name = once ? "config-manager-init" : "config-manager",
          .image = image,
          .pull_policy = PullPolicy(plugin.pull_policy),
          .command = {"config-manager"},
          .env = {{.name = "ONESHOT", .value = once ? "true" : "false"},
                  {.name = "KUBECONFIG"},
                  NodeName(),
                  {.name = "NODE_LABEL", .value = "nvidia.com/device-plugin.config"},
                  {.name = "CONFIG_FILE_SRCDIR", .value = "/available-configs"},
                  {.name = "CONFIG_FILE_DST", .value = kConfigFile},
                  {.name = "DEFAULT_CONFIG", .value = default_config},
                  {.name = "SEND_SIGNAL", .value = once ? "false" : "true"},
                  {.name = "SIGNAL", .value = once ? "" : "1"},
                  {.name = "PROCESS_TO_SIGNAL", .value = once ? "" : process},
                  {.name = "FALLBACK_STRATEGIES", .value = "empty"}},
          .resources = ResourcesOf(plugin.resources),
          .security = once ? std::nullopt : std::optional(Privileged()),
          .mounts = {{.name = kSource, .path = "/available-configs"}, {.name = "config", .path = "/config"}}};
}

}  // namespace

Result<> AddPluginConfig(const std::string& process, const api::ClusterPolicySpec& policy, const Facts& facts,
                         PodSpec& pod) {
  const api::DevicePlugin& plugin = policy.device_plugin;
  if (!plugin.config || plugin.config->name.empty()) return {};
  TRY(KeysOf(plugin.config->name, "spec.devicePlugin.config.name", facts));
  ASSIGN(const std::string image, ResolveImage(plugin, "DEVICE_PLUGIN_IMAGE", facts, "spec.devicePlugin"));
  AddPullSecrets(plugin.pull_secrets, pod);
  pod.AddVolume(ConfigVolume(kSource, plugin.config->name));
  pod.AddVolume(EmptyVolume("config"));
  Container& main = pod.containers.front();
  main.mounts.push_back({.name = kSource, .path = "/available-configs"});
  main.mounts.push_back({.name = "config", .path = "/config"});
  main.env.Set("CONFIG_FILE", kConfigFile);
  const std::string& default_config = plugin.config->default_config;
  pod.init_containers.push_back(ConfigManager(image, default_config, process, true, plugin));
  pod.containers.push_back(ConfigManager(image, default_config, process, false, plugin));
  if (!pod.host_pid) pod.share_processes = true;
  return {};
}

}  // namespace gpuop::operands
