#include "operands/driver/containers.h"

#include "operands/driver/mounts.h"
#include "operands/image.h"
#include "operands/references.h"
#include "operands/waits.h"

namespace gpuop::operands::driver {
namespace {

constexpr const char* kSharedToolkit = "shared-nvidia-driver-toolkit";
constexpr const char* kSharedToolkitPath = "/mnt/shared-nvidia-driver-toolkit";
constexpr const char* kMellanox = "/run/mellanox/drivers";

Mount HostToContainer(std::string name, std::string path) {
  return {.name = std::move(name), .path = std::move(path), .propagation = std::string(kHostToContainer)};
}

Mount RunNvidia(std::string_view propagation) {
  return {.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(propagation)};
}

std::vector<Mount> Logs() {
  return {{.name = "var-log", .path = "/var/log"}, {.name = "dev-log", .path = "/dev/log", .read_only = true}};
}

void AddBasicVolumes(const Settings& settings, PodSpec& pod) {
  const bool host_mofed = settings.host_mofed;
  for (Volume& volume :
       std::vector{HostVolume("run-nvidia", "/run/nvidia", kDirectoryOrCreate), HostVolume("var-log", "/var/log"),
                   HostVolume("dev-log", "/dev/log"), HostVolume("host-os-release", "/etc/os-release"),
                   HostVolume("run-nvidia-fabricmanager", "/run/nvidia-fabricmanager", kDirectoryOrCreate),
                   HostVolume("run-nvidia-topologyd", "/run/nvidia-topologyd", kDirectoryOrCreate),
                   HostVolume("run-mellanox-drivers", kMellanox, kDirectoryOrCreate),
                   HostVolume("mlnx-ofed-usr-src", host_mofed ? "/usr/src" : std::string(kMellanox) + "/usr/src",
                              kDirectoryOrCreate),
                   HostVolume("host-sys-devices-system", "/sys/devices/system", kDirectory),
                   HostVolume("firmware-search-path", "/sys/module/firmware_class/parameters/path"),
                   HostVolume("nv-firmware", settings.paths.driver_install_dir + "/lib/firmware", kDirectoryOrCreate)})
    pod.AddVolume(std::move(volume));
}

std::vector<Mount> BasicMounts() {
  return {LauncherMount(),
          RunNvidia(kBidirectional),
          {.name = "run-nvidia-fabricmanager", .path = "/run/nvidia-fabricmanager"},
          {.name = "run-nvidia-topologyd", .path = "/run/nvidia-topologyd"},
          {.name = "var-log", .path = "/var/log"},
          {.name = "dev-log", .path = "/dev/log"},
          {.name = "host-os-release", .path = "/host-etc/os-release", .read_only = true},
          HostToContainer("run-mellanox-drivers", kMellanox),
          HostToContainer("mlnx-ofed-usr-src", std::string(kMellanox) + "/usr/src"),
          {.name = "host-sys-devices-system", .path = "/sys/devices/system"},
          {.name = "firmware-search-path", .path = "/sys/module/firmware_class/parameters/path"},
          {.name = "nv-firmware", .path = "/lib/firmware"}};
}

void SetProxy(const Proxy& proxy, Env& env) {
  for (const auto& [upper, lower, value] :
       {std::tuple("HTTPS_PROXY", "https_proxy", &proxy.https), std::tuple("HTTP_PROXY", "http_proxy", &proxy.http),
        std::tuple("NO_PROXY", "no_proxy", &proxy.no_proxy)}) {
    if (value->empty()) continue;
    env.Set(upper, *value);
    env.Set(lower, *value);
  }
}

Env DriverEnv(const Settings& settings, const Facts& facts) {
  Env env;
  if (settings.own_resource) env.Set("NVIDIA_VISIBLE_DEVICES", "void");
  env.Set(NodeName());
  env.Set(FieldVar("NODE_IP", "status.hostIP"));
  if (!settings.kernel_module_type.empty()) env.Set("KERNEL_MODULE_TYPE", settings.kernel_module_type);
  if (settings.kernel_module_type == "open") env.Set("OPEN_KERNEL_MODULES_ENABLED", "true");
  if (settings.gdrcopy) env.Set("GDRCOPY_ENABLED", "true");
  if (settings.gds) env.Set("GDS_ENABLED", "true");
  if (settings.rdma) env.Set("GPU_DIRECT_RDMA_ENABLED", "true");
  if (settings.host_mofed) env.Set("USE_HOST_MOFED", "true");
  if (ToolkitImageMissing(settings, facts)) env.Set("RHCOS_IMAGE_MISSING", "true");
  env.Set(settings.env);
  if (!facts.openshift.present) return env;
  if (!facts.openshift.version.empty()) env.Set("OPENSHIFT_VERSION", facts.openshift.version);
  SetProxy(facts.openshift.proxy, env);
  return env;
}

/// Asks whether the driver works; the times are the policy's where it gives any.
Probe DriverProbe(const std::optional<api::ProbeTimes>& times, const Probe& otherwise) {
  Probe out = otherwise;
  out.exec = ExecAction{.command = {kLauncher, "probe-driver"}};
  if (!times) return out;
  const auto take = [](const std::optional<std::int32_t>& from, std::int32_t& to) {
    if (from.value_or(0) != 0) to = *from;
  };
  take(times->initial_delay_s, out.initial_delay);
  take(times->timeout_s, out.timeout);
  take(times->period_s, out.period);
  take(times->success_threshold, out.success);
  take(times->failure_threshold, out.failure);
  return out;
}

void AddProbes(const Settings& settings, Container& main) {
  const std::int32_t delay = settings.precompiled ? 5 : 60;
  main.startup_probe = DriverProbe(settings.startup,
                                   {.initial_delay = delay, .timeout = 60, .period = 10, .success = 1, .failure = 120});
  const Probe later{.timeout = 60, .period = 30};
  if (settings.liveness) main.liveness_probe = DriverProbe(settings.liveness, later);
  if (settings.readiness) main.readiness_probe = DriverProbe(settings.readiness, later);
  const std::string status = std::string(kValidations) + "/";
  main.lifecycle =
      Lifecycle{.pre_stop = LifecycleHandler{.exec = {.command = {kLauncher, "remove", status + ".driver-ctr-ready",
                                                                  status + ".driver-daemons-status"}}}};
}

/// What a container that installs a module beside the driver has in common with its like.
Result<Container> ModuleContainer(std::string name, const char* program, const char* module,
                                  const SidecarSettings& sidecar, const Settings& settings, const Facts& facts,
                                  PodSpec& pod) {
  Container out{
      .name = std::move(name),
      .image = sidecar.image,
      .pull_policy = PullPolicy(sidecar.pull_policy),
      .command = {kLauncher, "exec", std::string("--wait=") + kValidations + "/.driver-ctr-ready", "--", program},
      .args = sidecar.args.empty() ? std::vector<std::string>{"install"} : sidecar.args,
      .resources = settings.resources,
      .startup_probe = Probe{.exec = ExecAction{.command = {kLauncher, "probe-module", module}},
                             .initial_delay = 10,
                             .timeout = 10,
                             .period = 10,
                             .success = 1,
                             .failure = 120},
      .security = PrivilegedS0(),
      .mounts = Logs()};
  out.env.Set(sidecar.env);
  out.mounts.push_back(LauncherMount());
  out.mounts.push_back(RunNvidia(kHostToContainer));
  if (!settings.secret_env.empty()) out.env_from = {{.secret = {.name = settings.secret_env}}};
  TRY(AddPackageFiles(settings, facts, pod, out));
  if (settings.UsesDriverToolkit()) out.mounts.push_back({.name = kSharedToolkit, .path = kSharedToolkitPath});
  return out;
}

}  // namespace

bool ToolkitImageMissing(const Settings& settings, const Facts& facts) {
  return settings.UsesDriverToolkit() && !facts.openshift.driver_toolkit_images.contains(settings.rhcos_version);
}

Result<Container> DriverContainer(const Settings& settings, const Facts& facts, PodSpec& pod) {
  const bool toolkit = settings.UsesDriverToolkit();
  Container out{.name = "nvidia-driver-ctr",
                .image = settings.image,
                .pull_policy = PullPolicy(settings.pull_policy),
                .command = {toolkit ? "ocp_dtk_entrypoint" : "nvidia-driver"},
                .args = {toolkit ? "nv-ctr-run-with-dtk" : "init"},
                .env = DriverEnv(settings, facts),
                .resources = settings.resources,
                .security = PrivilegedS0(),
                .mounts = BasicMounts()};
  if (!settings.args.empty()) out.args = settings.args;
  AddBasicVolumes(settings, pod);
  if (settings.type == "vgpu-host-manager") {
    pod.AddVolume(HostVolume("cgroup", "/sys/fs/cgroup", kDirectory));
    pod.AddVolume(HostVolume("vfio", "/dev/vfio", kDirectory));
    out.mounts.push_back({.name = "cgroup", .path = "/sys/fs/cgroup"});
    out.mounts.push_back({.name = "vfio", .path = "/dev/vfio"});
  } else {
    AddProbes(settings, out);
  }
  if (!settings.secret_env.empty()) {
    TRY(RequireSecret(settings.secret_env, settings.field + ".secretEnv", facts));
    out.env_from = {{.secret = {.name = settings.secret_env}}};
  }
  TRY(AddPackageFiles(settings, facts, pod, out));
  TRY(AddModuleParameters(settings, facts, pod, out));
  TRY(AddDriverFiles(settings, facts, pod, out));
  if (toolkit) {
    pod.AddVolume(EmptyVolume(kSharedToolkit));
    out.mounts.push_back({.name = kSharedToolkit, .path = kSharedToolkitPath});
  }
  return out;
}

Result<Container> PeermemContainer(const Settings& settings, const Facts& facts, PodSpec& pod) {
  const ExecAction probe{.command = {"nvidia-driver", "probe_nvidia_peermem"}};
  Container out{.name = "nvidia-peermem-ctr",
                .image = settings.image,
                .pull_policy = PullPolicy(settings.pull_policy),
                .command = {"nvidia-driver"},
                .args = {"reload_nvidia_peermem"},
                .resources = settings.resources,
                .startup_probe = Probe{.exec = probe, .initial_delay = 10, .timeout = 10, .period = 10, .failure = 120},
                .liveness_probe = Probe{.exec = probe, .initial_delay = 30, .timeout = 10, .period = 30, .failure = 1},
                .security = PrivilegedS0(),
                .mounts = Logs()};
  if (settings.host_mofed) out.env.Set("USE_HOST_MOFED", "true");
  out.mounts.push_back(RunNvidia(kBidirectional));
  out.mounts.push_back(HostToContainer("run-mellanox-drivers", kMellanox));
  TRY(AddModuleParameters(settings, facts, pod, out));
  return out;
}

Result<Container> GdsContainer(const Settings& settings, const Facts& facts, PodSpec& pod) {
  return ModuleContainer("nvidia-fs-ctr", "nvidia-gds-driver", "nvidia_fs", *settings.gds, settings, facts, pod);
}

Result<Container> GdrcopyContainer(const Settings& settings, const Facts& facts, PodSpec& pod) {
  return ModuleContainer("nvidia-gdrcopy-ctr", "nvidia-gdrcopy-driver", "gdrdrv", *settings.gdrcopy, settings, facts,
                         pod);
}

Result<Container> ToolkitContainer(const Settings& settings, const Facts& facts, PodSpec& pod) {
  pod.AddVolume(EmptyVolume(kSharedToolkit));
  const bool missing = ToolkitImageMissing(settings, facts);
  const std::string shared(kSharedToolkitPath);
  Container out{
      .name = "openshift-driver-toolkit-ctr",
      .image = missing ? settings.image : facts.openshift.driver_toolkit_images.at(settings.rhcos_version),
      .pull_policy = PullPolicy(settings.pull_policy),
      .command = {kLauncher, "exec", "--wait=" + shared + "/dir_prepared", "--", shared + "/ocp_dtk_entrypoint"},
      .args = {"dtk-build-driver"},
      .env = {{.name = "RHCOS_VERSION", .value = settings.rhcos_version},
              {.name = "NVIDIA_VISIBLE_DEVICES", .value = "void"}},
      .security = PrivilegedS0(),
      .mounts = {LauncherMount(),
                 {.name = kSharedToolkit, .path = kSharedToolkitPath},
                 {.name = "var-log", .path = "/var/log"},
                 HostToContainer("mlnx-ofed-usr-src", std::string(kMellanox) + "/usr/src"),
                 {.name = "host-os-release", .path = "/host-etc/os-release", .read_only = true}}};
  if (settings.gds) out.env.Set("GDS_ENABLED", "true");
  if (settings.gdrcopy) out.env.Set("GDRCOPY_ENABLED", "true");
  if (missing) out.env.Set("RHCOS_IMAGE_MISSING", "true");
  TRY(AddPackageFiles(settings, facts, pod, out));  // it is this one that installs packages
  return out;
}

}  // namespace gpuop::operands::driver
