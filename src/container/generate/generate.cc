#include "container/generate/generate.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "container/cdi/names.h"
#include "container/generate/parts.h"

namespace gpuop::container {
namespace {

constexpr std::array<std::pair<std::string_view, CdiMode>, 10> kModes = {{{"auto", CdiMode::kAuto},
                                                                          {"nvml", CdiMode::kNvml},
                                                                          {"management", CdiMode::kManagement},
                                                                          {"gds", CdiMode::kGds},
                                                                          {"mofed", CdiMode::kMofed},
                                                                          {"imex", CdiMode::kImex},
                                                                          {"nvswitch", CdiMode::kNvswitch},
                                                                          {"gdrcopy", CdiMode::kGdrcopy},
                                                                          {"wsl", CdiMode::kWsl},
                                                                          {"csv", CdiMode::kCsv}}};

template <class T>
void Unique(std::vector<T>& items) {
  std::vector<T> kept;
  for (T& item : items)
    if (std::ranges::find(kept, item) == kept.end()) kept.push_back(std::move(item));
  items = std::move(kept);
}

template <class T, class Path>
void ByPath(std::vector<T>& items, Path path) {
  std::ranges::sort(items, {}, [&](const T& item) { return std::pair(PathDepth(item.*path), item.*path); });
}

void Tidy(CdiEdits& edits) {
  Unique(edits.env);
  Unique(edits.device_nodes);
  Unique(edits.mounts);
  Unique(edits.hooks);
  std::ranges::sort(edits.additional_gids);
  Unique(edits.additional_gids);
  ByPath(edits.device_nodes, &CdiDeviceNode::path);
  ByPath(edits.mounts, &CdiMount::container_path);
}

template <class T>
void Subtract(std::vector<T>& from, const std::vector<T>& what) {
  std::erase_if(from, [&](const T& item) { return std::ranges::find(what, item) != what.end(); });
}

/// What a device shares with the whole spec is said once, unless nothing of its own would be left.
void DropCommon(CdiDevice& device, const CdiEdits& common) {
  CdiEdits own = device.edits;
  Subtract(own.env, common.env);
  Subtract(own.device_nodes, common.device_nodes);
  Subtract(own.mounts, common.mounts);
  Subtract(own.hooks, common.hooks);
  Subtract(own.additional_gids, common.additional_gids);
  if (!own.empty()) device.edits = std::move(own);
}

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void AddAll(CdiSpec& spec) {
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(spec.devices, [&](const CdiDevice& d) { return d.name == name; });
  };
  if (named("all") || named("none")) return;
  CdiDevice all{.name = "all"};
  for (const CdiDevice& device : spec.devices) {
    Append(all.edits.env, device.edits.env);
    Append(all.edits.device_nodes, device.edits.device_nodes);
    Append(all.edits.mounts, device.edits.mounts);
    Append(all.edits.hooks, device.edits.hooks);
    Append(all.edits.additional_gids, device.edits.additional_gids);
  }
  spec.devices.push_back(std::move(all));
}

Result<> Finish(CdiSpec& spec, const GenerateOptions& options) {
  spec.kind = options.vendor + "/" + options.kind_class;
  spec.edits.env.emplace_back("NVIDIA_VISIBLE_DEVICES=void");
  if (options.all_device) AddAll(spec);
  Tidy(spec.edits);
  for (CdiDevice& device : spec.devices) {
    Tidy(device.edits);
    DropCommon(device, spec.edits);
  }
  std::ranges::sort(spec.devices, {}, &CdiDevice::name);
  spec.version = MinimumCdiVersion(spec).version;
  return CheckCdiSpec(spec);
}

Result<CdiSpec> Generate(Generation& g, CdiMode mode) {
  switch (mode) {
    case CdiMode::kNvml:
    case CdiMode::kAuto: return GenerateNvml(g);
    case CdiMode::kManagement: return GenerateManagement(g);
    case CdiMode::kImex: return GenerateImex(g);
    case CdiMode::kWsl: return GenerateWsl(g);
    case CdiMode::kCsv: return GenerateCsv(g);
    default: return GeneratePeripheral(g);
  }
}

bool NeedsVersion(CdiMode mode) { return mode == CdiMode::kNvml || mode == CdiMode::kManagement; }

}  // namespace

std::optional<CdiMode> CdiModeNamed(std::string_view name) {
  for (const auto& [candidate, mode] : kModes)
    if (candidate == name) return mode;
  return std::nullopt;
}

std::optional<CdiNaming> CdiNamingNamed(std::string_view name) {
  if (name == "index") return CdiNaming::kIndex;
  if (name == "type-index") return CdiNaming::kTypeIndex;
  if (name == "uuid") return CdiNaming::kUuid;
  return std::nullopt;
}

bool IsTegra(const os::Fs& host) {
  return os::Exists(host, "/etc/nv_tegra_release").value_or(false) ||
         ToLower(host.Read("/sys/devices/soc0/family").value_or("")).starts_with("tegra");
}

CdiMode ResolveCdiMode(const NodeFiles& files, const MachineFacts& machine) {
  const auto there = [](const os::Fs& fs, const std::string& path) { return os::Exists(fs, path).value_or(false); };
  if (there(files.driver, "/usr/lib/wsl/lib/libdxcore.so") && there(files.devices, "/dev/dxg")) return CdiMode::kWsl;
  return IsTegra(files.host) && machine.gpus.empty() ? CdiMode::kCsv : CdiMode::kNvml;
}

Result<CdiSpec> GenerateCdiSpec(const NodeFiles& files, const MachineFacts& machine, const GenerateOptions& options) {
  TRY(CheckCdiVendor(options.vendor));
  TRY(CheckCdiClass(options.kind_class));
  if (options.enabled_hooks.contains("all"))
    return Fail(Code::kInvalid, "hooks are enabled by name; \"all\" can only be disabled");
  if (options.naming.empty()) return Fail(Code::kInvalid, "no naming strategy");
  GenerateOptions resolved = options;
  if (resolved.mode == CdiMode::kAuto) resolved.mode = ResolveCdiMode(files, machine);
  Generation g{files, machine, resolved, DriverFiles(files.driver, options.library_folders)};
  g.version = machine.driver_version;
  if (g.version.empty() && NeedsVersion(resolved.mode)) {
    ASSIGN(g.version, g.driver.Version());
  }
  ASSIGN(CdiSpec spec, Generate(g, resolved.mode));
  TRY(Finish(spec, resolved));
  return spec;
}

Result<std::vector<std::pair<std::string, CdiSpec>>> GenerateCoherentSpecs(const NodeFiles& files,
                                                                           const MachineFacts& machine,
                                                                           const GenerateOptions& options) {
  std::vector<std::pair<std::string, CdiSpec>> out;
  for (const bool coherent : {true, false}) {
    MachineFacts part = machine;
    std::erase_if(part.gpus, [&](const GpuFacts& gpu) { return gpu.coherent != coherent; });
    if (part.gpus.empty()) continue;
    const std::string infix = coherent ? ".coherent" : ".noncoherent";
    GenerateOptions named = options;
    named.kind_class += infix;
    named.features.insert("enable-coherent-annotations");
    ASSIGN(CdiSpec spec, GenerateCdiSpec(files, part, named));
    out.emplace_back(infix, std::move(spec));
  }
  return out;
}

}  // namespace gpuop::container
