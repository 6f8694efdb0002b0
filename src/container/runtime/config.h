#pragma once
// NVIDIA's runtime configuration file (nvidia-container-runtime/config.toml, nvidia-container-toolkit 1.20).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "container/cdi/cache.h"
#include "data/field.h"

namespace gpuop::container {

/// [nvidia-container-cli]
struct CliConfig {
  std::string root, path, ldconfig, user, debug, ldcache;
  std::vector<std::string> environment;
  bool load_kmods = true, no_cgroups = false, no_pivot = false;

  template <class V>
  void Visit(V& v) {
    v("root", root);
    v("path", path);
    v("ldconfig", ldconfig);
    v("user", user);
    v("debug", debug);
    v("ldcache", ldcache);
    v("environment", environment);
    v("load-kmods", load_kmods);
    v("no-cgroups", no_cgroups);
    v("no-pivot", no_pivot);
  }
};

/// [nvidia-container-runtime.modes.cdi]
struct CdiModeConfig {
  std::vector<std::string> annotation_prefixes = {"cdi.k8s.io/"};
  std::string default_kind = "nvidia.com/gpu";
  std::vector<std::string> spec_dirs = kCdiFolders;

  template <class V>
  void Visit(V& v) {
    v("annotation-prefixes", annotation_prefixes);
    v("default-kind", default_kind);
    v("spec-dirs", spec_dirs);
  }
};

/// [nvidia-container-runtime.modes.jit-cdi]
struct JitModeConfig {
  std::vector<std::string> feature_flags, disable_hooks;

  template <class V>
  void Visit(V& v) {
    v("nvcdi-feature-flags", feature_flags);
    v("nvcdi-disable-hooks", disable_hooks);
  }
};

/// [nvidia-container-runtime.modes]
struct ModesConfig {
  CdiModeConfig cdi;
  JitModeConfig jit;

  template <class V>
  void Visit(V& v) {
    v("cdi", cdi);
    v("jit-cdi", jit);
  }
};

/// [nvidia-container-runtime]
struct ShimConfig {
  std::string debug = "/dev/null", log_level = "info", mode = "auto";
  std::vector<std::string> runtimes = {"runc", "crun"};
  ModesConfig modes;

  template <class V>
  void Visit(V& v) {
    v("debug", debug);
    v("log-level", log_level);
    v("mode", mode);
    v("runtimes", runtimes);
    v("modes", modes);
  }
};

/// [nvidia-container-runtime-hook]
struct HookConfig {
  std::string path = "nvidia-container-runtime-hook";
  bool skip_mode_detection = false;

  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("skip-mode-detection", skip_mode_detection);
  }
};

/// [nvidia-ctk]
struct CtkConfig {
  std::string path = "nvidia-ctk";

  template <class V>
  void Visit(V& v) {
    v("path", path);
  }
};

/// [features]
struct FeatureConfig {
  bool allow_ldconfig_from_container = false, ignore_imex_channel_requests = false,
       no_additional_gids_for_device_nodes = false, disable_cuda_compat_lib_hook = false;

  template <class V>
  void Visit(V& v) {
    v("allow-ldconfig-from-container", allow_ldconfig_from_container);
    v("ignore-imex-channel-requests", ignore_imex_channel_requests);
    v("no-additional-gids-for-device-nodes", no_additional_gids_for_device_nodes);
    v("disable-cuda-compat-lib-hook", disable_cuda_compat_lib_hook);
  }
};

/// The whole file.
struct RuntimeConfig {
  bool accept_volume_mounts = false, accept_env_when_unprivileged = true, disable_require = false;
  std::string supported_driver_capabilities = "compat32,compute,display,graphics,ngx,utility,video";
  std::string swarm_resource;
  CliConfig cli;
  ShimConfig runtime;
  HookConfig hook;
  CtkConfig ctk;
  FeatureConfig features;

  template <class V>
  void Visit(V& v) {
    v("accept-nvidia-visible-devices-as-volume-mounts", accept_volume_mounts);
    v("accept-nvidia-visible-devices-envvar-when-unprivileged", accept_env_when_unprivileged);
    v("disable-require", disable_require);
    v("supported-driver-capabilities", supported_driver_capabilities);
    v("swarm-resource", swarm_resource);
    v("nvidia-container-cli", cli);
    v("nvidia-container-runtime", runtime);
    v("nvidia-container-runtime-hook", hook);
    v("nvidia-ctk", ctk);
    v("features", features);
  }
};

/// kInvalid names the key that is wrong. Keys we do not know are passed over.
Result<RuntimeConfig> ReadRuntimeConfig(std::string_view text);
/// $NVIDIA_CTK_CONFIG_FILE_PATH, else the one that was installed beside this program (.config/nvidia-container-runtime/
/// config.toml), else $XDG_CONFIG_HOME or /etc and /nvidia-container-runtime/config.toml.
std::string RuntimeConfigPath();

}  // namespace gpuop::container
