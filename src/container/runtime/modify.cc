#include "container/runtime/modify.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "container/cdi/names.h"
#include "container/generate/driver_files.h"
#include "container/generate/parts.h"
#include "container/oci/spec.h"
#include "container/runtime/image.h"

namespace gpuop::container {
namespace {

constexpr const char* kJitKind = "runtime.nvidia.com/gpu";

std::string Lookup(const std::vector<std::string>& devices) { return Join(devices, ", "); }

/// Hooks of the older path would act a second time.
void DropOldHooks(data::Json& oci) {
  data::Json* hooks = data::Find(oci, "hooks.prestart");
  if (hooks == nullptr || !hooks->is_array()) return;
  data::JsonArray& list = hooks->get_array();
  const auto old = [](const data::Json& hook) {
    const std::string_view path = data::StringOr(hook, "path");
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name == "nvidia-container-runtime-hook" || name == "nvidia-container-toolkit";
  };
  list.erase(std::remove_if(list.begin(), list.end(), old), list.end());
}

/// A name that its own kind does not have may be another kind's of the same vendor: management.nvidia.com/gpu=GPU-…
/// is nvidia.com/gpu=GPU-….
std::vector<std::string> FindElsewhere(const CdiCache& cache, std::vector<std::string> names) {
  for (std::string& name : names) {
    if (cache.Find(name)) continue;
    const CdiName wanted = SplitCdiName(name);
    if (wanted.vendor != "nvidia.com" && !wanted.vendor.ends_with(".nvidia.com")) continue;
    for (const std::string& candidate : cache.Devices()) {
      const CdiName other = SplitCdiName(candidate);
      const bool family = other.vendor == "nvidia.com" || other.vendor.ends_with(".nvidia.com");
      if (!family || other.kind_class != wanted.kind_class || other.device != wanted.device) continue;
      name = candidate;
      break;
    }
  }
  return names;
}

/// Without a driver a container that would like a GPU still starts, as it would on a node that has none.
bool HasDriver(const ShimNode& node) {
  for (const char* path : {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg", "/etc/nv_tegra_release"})
    if (os::Exists(node.host, path).value_or(false)) return true;
  return os::Exists(node.driver, "/dev/nvidiactl").value_or(false);
}

bool Without(const ShimNode& node) {
  if (HasDriver(node)) return false;
  node.warn("the NVIDIA driver is not loaded on this node: the container starts without devices");
  return true;
}

Result<bool> InjectNamed(const RuntimeConfig& config, const ShimNode& node, std::vector<std::string> names,
                         data::Json& oci) {
  if (names.empty()) return false;
  CdiCache cache(node.host, config.runtime.modes.cdi.spec_dirs);
  cache.Refresh();
  if (cache.Devices().empty() && Without(node)) return false;
  names = FindElsewhere(cache, std::move(names));
  DropOldHooks(oci);
  auto done = InjectCdiDevices(cache, names, node.nodes, oci);
  if (done) return true;
  std::string text = done.error().text;
  for (const auto& [path, errors] : cache.errors()) text += "; " + errors[0].text;
  return Fail(done.error().code, text);
}

Result<bool> InjectCdi(const RuntimeConfig& config, const ShimNode& node, data::Json& oci) {
  const ContainerImage image(oci, config);
  ASSIGN(std::vector<std::string> names, QualifiedDevices(image.Devices(true), config.runtime.modes.cdi.default_kind));
  return InjectNamed(config, node, std::move(names), oci);
}

/// How the devices that a container names are to be made.
enum class Kinds { kGpus, kNamed, kMixed };

/// Names of other kinds than GPUs are those of specs. A GPU that is named without its kind has none there.
Kinds KindsOf(const std::vector<std::string>& names) {
  const auto of_kind = [](std::string_view kind) {
    return [kind](const std::string& name) { return name.starts_with(std::string(kind) + "="); };
  };
  const auto plain = std::ranges::count_if(names, of_kind(kJitKind));
  const auto gpus = plain + std::ranges::count_if(names, of_kind("nvidia.com/gpu"));
  if (gpus == std::ssize(names)) return Kinds::kGpus;
  return plain == 0 ? Kinds::kNamed : Kinds::kMixed;
}

/// Which modes' devices a container asks for besides GPUs.
std::vector<std::pair<CdiMode, std::vector<std::string>>> ExtraModes(const ContainerImage& image) {
  std::vector<std::pair<CdiMode, std::vector<std::string>>> out;
  for (const auto& [name, mode] :
       {std::pair{"NVIDIA_GDS", CdiMode::kGds}, std::pair{"NVIDIA_MOFED", CdiMode::kMofed},
        std::pair{"NVIDIA_GDRCOPY", CdiMode::kGdrcopy}, std::pair{"NVIDIA_NVSWITCH", CdiMode::kNvswitch}})
    if (image.Env(name).value_or("") == "enabled") out.push_back({mode, {"all"}});
  if (std::vector<std::string> channels = image.ImexChannels(); !channels.empty())
    out.push_back({CdiMode::kImex, channels});
  return out;
}

GenerateOptions JitOptions(const RuntimeConfig& config, const ShimNode& node) {
  GenerateOptions options;
  options.vendor = "runtime.nvidia.com";
  options.naming = {CdiNaming::kIndex};
  options.driver_root = options.dev_root = node.driver_root;
  options.all_device = false;
  // Beside our own program, or where the host keeps it.
  const std::string& ctk = config.ctk.path;
  options.hook_path =
      ctk.starts_with('/') ? ctk.substr(0, ctk.rfind('/')) + "/nvidia-cdi-hook" : "/usr/bin/nvidia-cdi-hook";
  options.ldconfig_path = config.cli.ldconfig;
  options.disabled_hooks = {config.runtime.modes.jit.disable_hooks.begin(),
                            config.runtime.modes.jit.disable_hooks.end()};
  if (config.features.disable_cuda_compat_lib_hook) options.disabled_hooks.insert("enable-cuda-compat");
  options.features = {config.runtime.modes.jit.feature_flags.begin(), config.runtime.modes.jit.feature_flags.end()};
  if (config.features.no_additional_gids_for_device_nodes)
    options.features.insert("no-additional-gids-for-device-nodes");
  return options;
}

Result<> ApplySpec(const CdiSpec& spec, const ShimNode& node, data::Json& oci) {
  for (const CdiDevice& device : spec.devices) TRY(ApplyCdiEdits(device.edits, node.nodes, oci));
  return ApplyCdiEdits(spec.edits, node.nodes, oci);
}

/// `devices` are the container's. What is asked of the driver must be true whatever hooks are switched off.
Result<> CheckImage(const ContainerImage& image, const ShimNode& node, const MachineFacts& machine,
                    const std::vector<std::string>& devices) {
  ASSIGN(const std::vector<std::string> requirements, image.Requirements());
  if (requirements.empty()) return {};
  std::string version = machine.driver_version;
  if (version.empty()) version = DriverFiles(node.driver, {}).Version().value_or("");
  for (const Properties& known : PropertiesOf(machine, version, devices)) TRY(CheckRequirements(requirements, known));
  return {};
}

/// Devices of which one is known to this node's specs alone, taken from there all of them.
Result<bool> InjectFromSpecs(const RuntimeConfig& config, const ShimNode& node, const MachineFacts& machine,
                             const std::vector<std::string>& ids, data::Json& oci) {
  TRY(CheckImage(ContainerImage(oci, config), node, machine, ids));
  std::vector<std::string> names;
  for (const std::string& id : ids) names.push_back("nvidia.com/gpu=" + id);
  return InjectNamed(config, node, std::move(names), oci);
}

Result<bool> InjectGenerated(const RuntimeConfig& config, const ShimNode& node, CdiMode mode, data::Json& oci) {
  const ContainerImage image(oci, config);
  ASSIGN(std::vector<std::string> names, QualifiedDevices(image.Devices(false), kJitKind));
  switch (KindsOf(names)) {
    case Kinds::kGpus: break;
    case Kinds::kNamed: return InjectNamed(config, node, std::move(names), oci);
    case Kinds::kMixed:
      return Fail(Code::kInvalid, "devices " + Lookup(names) +
                                      ": in this mode devices of other kinds go only with GPUs that are named as "
                                      "nvidia.com/gpu=… too");
  }
  if (names.empty() || Without(node)) return false;
  const NodeFiles files{node.driver, node.driver, node.host};
  MachineFacts machine = FactsFromProc(node.host);
  machine.kernel_release = node.kernel_release;
  GenerateOptions options = JitOptions(config, node);
  options.mode = mode;
  options.devices.clear();
  for (const std::string& name : names) options.devices.push_back(DeviceIdOf(machine, SplitCdiName(name).device));
  if (std::ranges::any_of(options.devices, [&](const std::string& id) { return OnlySpecsKnow(machine, id); }))
    return InjectFromSpecs(config, node, machine, options.devices, oci);
  auto spec = GenerateCdiSpec(files, machine, options);
  if (!spec) return std::unexpected(std::move(spec).error().During("devices " + Lookup(names)));
  ASSIGN(const std::vector<std::string> capabilities, image.Capabilities());
  KeepCapabilities(capabilities, *spec);
  TRY(CheckImage(image, node, machine, options.devices));
  data::Json edited = oci;
  DropOldHooks(edited);
  TRY(ApplySpec(*spec, node, edited));
  for (const auto& [extra, ids] : ExtraModes(image)) {
    options.mode = extra;
    options.devices = ids;
    ASSIGN(const CdiSpec more, GenerateCdiSpec(files, machine, options));
    TRY(ApplySpec(more, node, edited));
  }
  oci = std::move(edited);
  return true;
}

/// What changes or watches the MIG devices of a whole node is for privileged containers, as with NVIDIA's hook.
Result<> AddMigCapabilities(const ContainerImage& image, const ShimNode& node, data::Json& oci) {
  for (const auto& [name, line] :
       {std::pair{"NVIDIA_MIG_CONFIG_DEVICES", "config"}, std::pair{"NVIDIA_MIG_MONITOR_DEVICES", "monitor"}}) {
    if (image.Env(name).value_or("").empty()) continue;
    if (!image.privileged())
      return Fail(Code::kForbidden, std::string(name) + ": only a privileged container may set it");
    const auto minors = ParseMigMinors(node.host.Read("/proc/driver/nvidia-caps/mig-minors").value_or(""));
    const auto minor = minors.find(line);
    if (minor == minors.end()) continue;
    const std::string path = "/dev/nvidia-caps/nvidia-cap" + std::to_string(minor->second);
    if (!os::Exists(node.host, path).value_or(false)) continue;
    CdiEdits edits;
    edits.device_nodes = {{.path = path}};
    TRY(ApplyCdiEdits(edits, node.nodes, oci));
  }
  return {};
}

/// The older path: NVIDIA's own hook and library do the work, where they are installed.
Result<bool> AddLegacyHook(const RuntimeConfig& config, const ShimNode& node, data::Json& oci) {
  const ContainerImage image(oci, config);
  if (image.Devices(false).empty()) return false;
  if (!config.hook.path.starts_with('/') || config.cli.path.empty() ||
      !os::Exists(node.host, config.cli.path).value_or(false) ||
      !os::Exists(node.host, config.hook.path).value_or(false)) {
    node.warn("mode legacy without nvidia-container-cli: the container's devices are injected as in mode jit-cdi");
    data::Json edited = oci;
    TRY(AddMigCapabilities(image, node, edited));
    ASSIGN(const bool changed, InjectGenerated(config, node, CdiMode::kAuto, edited));
    if (changed) oci = std::move(edited);
    return changed;
  }
  DropOldHooks(oci);
  TRY(AddOciHook(oci, "prestart",
                 {config.hook.path, {config.hook.path.substr(config.hook.path.rfind('/') + 1), "prestart"}, {}, {}}));
  return true;
}

PlatformFacts LookAtPlatform(const ShimNode& node) {
  const auto there = [](const os::Fs& fs, const std::string& path) { return os::Exists(fs, path).value_or(false); };
  PlatformFacts out;
  out.wsl = there(node.driver, "/usr/lib/wsl/lib/libdxcore.so");
  out.tegra = IsTegra(node.host);
  out.nvml = there(node.host, "/proc/driver/nvidia/version");
  return out;
}

}  // namespace

Result<RuntimeMode> ResolveRuntimeMode(std::string_view configured, const PlatformFacts& platform,
                                       const std::vector<std::string>& devices) {
  if (configured == "cdi") return RuntimeMode::kCdi;
  if (configured == "jit-cdi") return RuntimeMode::kJitCdi;
  if (configured == "csv") return RuntimeMode::kCsv;
  if (configured == "legacy") return RuntimeMode::kLegacy;
  if (configured != "auto" && !configured.empty())
    return Fail(Code::kInvalid,
                "nvidia-container-runtime.mode: " + Quote(configured) + " is not auto, cdi, jit-cdi, csv or legacy");
  if (!devices.empty() && std::ranges::all_of(devices, IsCdiName)) return RuntimeMode::kCdi;
  if (platform.wsl) return RuntimeMode::kJitCdi;
  if ((platform.tegra && !platform.nvml) || platform.integrated) return RuntimeMode::kCsv;
  return RuntimeMode::kJitCdi;
}

Result<bool> ModifyForGpus(const RuntimeConfig& config, const ShimNode& node, data::Json& oci) {
  const ContainerImage image(oci, config);
  ASSIGN(const RuntimeMode mode, ResolveRuntimeMode(config.runtime.mode, LookAtPlatform(node), image.Devices(true)));
  data::Json edited = oci;
  const auto modify = [&]() -> Result<bool> {
    switch (mode) {
      case RuntimeMode::kCdi: return InjectCdi(config, node, edited);
      case RuntimeMode::kJitCdi: return InjectGenerated(config, node, CdiMode::kAuto, edited);
      case RuntimeMode::kCsv: return InjectGenerated(config, node, CdiMode::kCsv, edited);
      case RuntimeMode::kLegacy: break;
    }
    return AddLegacyHook(config, node, edited);
  };
  ASSIGN(const bool changed, modify());
  if (changed) oci = std::move(edited);
  return changed;
}

}  // namespace gpuop::container
