// Devices of GPUs and MIG partitions.
#include <algorithm>

#include "base/text.h"
#include "container/generate/parts.h"

namespace gpuop::container {
namespace {

/// A GPU, or one MIG device of it.
struct Chosen {
  const GpuFacts* gpu;
  const MigFacts* mig;
};

void AddDrm(const Generation& g, const GpuFacts& gpu, CdiEdits& edits) {
  const auto names = g.files.host.List("/sys/bus/pci/devices/" + gpu.pci + "/drm");
  if (!names) return;
  std::vector<std::string> links, paths;
  for (const std::string& name : *names) {
    const bool card = name.starts_with("card"), render = name.starts_with("renderD");
    const std::string path = "/dev/dri/" + name;
    if ((!card && !render) || !HasDeviceNode(g, path)) continue;
    AddDeviceNode(g, path, edits);
    paths.push_back(path);
    const std::string link = "/dev/dri/by-path/pci-" + gpu.pci + (card ? "-card" : "-render");
    if (os::Exists(g.files.devices, link).value_or(false)) {
      links.emplace_back("--link");
      links.push_back("../" + name + "::" + link);
    }
  }
  if (!links.empty()) AddHook(g, "create-symlinks", links, edits);
  if (!paths.empty()) AddHook(g, "chmod", {"--mode", "755", "--path", "/dev/dri"}, edits);
}

Result<> AddCap(const Generation& g, const std::map<std::string, unsigned>& minors, const std::string& name,
                CdiEdits& edits) {
  const auto at = minors.find(name);
  if (at == minors.end())
    return Fail(Code::kUnavailable, "/proc/driver/nvidia-caps/mig-minors has no line for " + name);
  AddDeviceNode(g, "/dev/nvidia-caps/nvidia-cap" + std::to_string(at->second), edits);
  return {};
}

Result<CdiEdits> EditsOf(const Generation& g, const std::map<std::string, unsigned>& minors, const Chosen& chosen) {
  CdiEdits edits;
  AddDeviceNode(g, "/dev/nvidia" + std::to_string(chosen.gpu->minor), edits);
  if (chosen.mig == nullptr || chosen.mig->graphics) AddDrm(g, *chosen.gpu, edits);
  if (chosen.mig == nullptr) return edits;
  const std::string instance =
      "gpu" + std::to_string(chosen.gpu->minor) + "/gi" + std::to_string(chosen.mig->gpu_instance);
  TRY(AddCap(g, minors, instance + "/access", edits));
  TRY(AddCap(g, minors, instance + "/ci" + std::to_string(chosen.mig->compute_instance) + "/access", edits));
  return edits;
}

std::string NameOf(CdiNaming naming, const Chosen& chosen) {
  const std::string gpu = std::to_string(chosen.gpu->index);
  const std::string index = chosen.mig == nullptr ? gpu : gpu + ":" + std::to_string(chosen.mig->index);
  switch (naming) {
    case CdiNaming::kIndex: return index;
    case CdiNaming::kTypeIndex: return (chosen.mig == nullptr ? "gpu" : "mig") + index;
    case CdiNaming::kUuid: break;
  }
  return chosen.mig == nullptr ? chosen.gpu->uuid : chosen.mig->uuid;
}

/// Everything a container can be given: of a GPU with MIG on, its MIG devices.
std::vector<Chosen> Everything(const MachineFacts& machine) {
  std::vector<Chosen> out;
  for (const GpuFacts& gpu : machine.gpus) {
    if (!gpu.mig_enabled) out.push_back({&gpu, nullptr});
    for (const MigFacts& mig : gpu.mig_devices)
      if (gpu.mig_enabled) out.push_back({&gpu, &mig});
  }
  return out;
}

Result<Chosen> Choose(const MachineFacts& machine, const std::string& id) {
  bool form = id.starts_with("GPU-") || id.starts_with("MIG-");
  const auto parts = Cut(id, ':');
  if (ParseInt(id) || (parts && ParseInt(parts->first) && ParseInt(parts->second) && !id.contains('.'))) form = true;
  if (!form)
    return Fail(Code::kInvalid, "device id " + Quote(id) + " is not a valid UUID or index (or all, none, gpu:mig)");
  for (const GpuFacts& gpu : machine.gpus) {
    if (id == gpu.uuid || id == std::to_string(gpu.index)) return Chosen{&gpu, nullptr};
    for (const MigFacts& mig : gpu.mig_devices)
      if (id == mig.uuid || id == std::to_string(gpu.index) + ":" + std::to_string(mig.index))
        return Chosen{&gpu, &mig};
  }
  return Fail(Code::kInvalid, "device id " + Quote(id) + ": ERROR_INVALID_ARGUMENT: this node has no such device");
}

/// The ids in their order: the first "all" or "none" decides.
Result<std::vector<Chosen>> ChooseAll(const Generation& g, bool& none) {
  std::vector<Chosen> out;
  for (const std::string& id : g.options.devices) {
    none = id == "none";
    if (none) return std::vector<Chosen>();
    if (id == "all") return Everything(g.machine);
    ASSIGN(const Chosen chosen, Choose(g.machine, id));
    const auto same = [&](const Chosen& c) { return c.gpu == chosen.gpu && c.mig == chosen.mig; };
    if (std::ranges::none_of(out, same)) out.push_back(chosen);
  }
  return out;
}

void AddCoherence(const Generation& g, const Chosen& chosen, CdiDevice& device) {
  if (g.feature("enable-coherent-annotations"))
    device.annotations["gpu.nvidia.com/coherent"] = chosen.gpu->coherent ? "true" : "false";
}

}  // namespace

Result<CdiSpec> GenerateNvml(Generation& g) {
  CdiSpec spec;
  bool none = false;
  ASSIGN(const std::vector<Chosen> chosen, ChooseAll(g, none));
  if (none) spec.devices.push_back({.name = "none", .edits = {.env = {"NVCT_EMPTY_DEVICE="}}});
  std::map<std::string, unsigned> minors;
  const bool needs_caps = std::ranges::any_of(chosen, [](const Chosen& c) { return c.mig != nullptr; });
  if (needs_caps) {
    const auto text = g.files.host.Read("/proc/driver/nvidia-caps/mig-minors");
    if (!text) return std::unexpected(Error(text.error()).During("MIG devices need their capabilities' numbers"));
    minors = ParseMigMinors(*text);
  }
  for (const Chosen& one : chosen) {
    auto edits = EditsOf(g, minors, one);
    if (!edits) return std::unexpected(std::move(edits).error().During("device " + NameOf(CdiNaming::kIndex, one)));
    for (const CdiNaming naming : g.options.naming) {
      CdiDevice device{.name = NameOf(naming, one), .edits = *edits};
      AddCoherence(g, one, device);
      spec.devices.push_back(std::move(device));
    }
  }
  if (spec.devices.empty()) return Fail(Code::kUnavailable, "this node has no GPU that a container could be given");
  AddControlNodes(g, spec.edits);
  TRY(AddDriverFiles(g, true, spec.edits));
  AddHook(g, "disable-device-node-modification", {}, spec.edits);
  AddHook(g, "update-application-profile", {}, spec.edits);
  return spec;
}

}  // namespace gpuop::container
