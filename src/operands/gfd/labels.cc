#include "operands/gfd/labels.h"

#include <algorithm>
#include <tuple>

#include "base/ascii.h"
#include "base/text.h"
#include "gpu/mig_name.h"

namespace gpuop::operands::gfd {
namespace {

using gpu::Device;

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::size_t kLongestValue = 63;

std::string Number(std::uint64_t number) { return std::to_string(number); }

/// What a profile's devices have in common, as labels.
struct MigKind {
  std::string profile;
  std::string model;
  const gpu::GpuInstance* instance = nullptr;
  const gpu::ComputeInstance* compute = nullptr;
  unsigned count = 0;
};

class Maker {
 public:
  Maker(const gpu::Inventory* inventory, const HostFacts& host, const LabelSettings& settings)
      : host_(host), settings_(settings) {
    if (inventory == nullptr) return;
    driver_version_ = inventory->driver_version;
    cuda_version_ = inventory->cuda_version;
    for (const Device& device : inventory->devices) {
      // A DGX Station's display adaptor computes nothing for anybody.
      if (device.product == "DGX Display" || device.product == "NVIDIA DGX Display") continue;
      if (device.unreadable.empty())
        devices_.push_back(&device);
      else
        Warn("GPU " + std::to_string(device.index) + " cannot be read and counts as absent: " + device.unreadable);
    }
  }

  LabelsAndWarnings Make() {
    if (host_.timestamp) Set("gfd.timestamp", std::to_string(*host_.timestamp));
    AddVgpu();
    if (devices_.empty()) return std::move(out_);
    AddVersions();
    AddMachine();
    AddClique();
    AddModels();
    if (settings_.strategy == MigStrategy::kSingle) Set("mig.strategy", "single");
    if (settings_.strategy == MigStrategy::kMixed) Set("mig.strategy", "mixed");
    if (settings_.strategy == MigStrategy::kSingle && AnyMig()) AddSingle();
    if (settings_.strategy == MigStrategy::kMixed) AddMixed();
    return std::move(out_);
  }

 private:
  void Set(std::string_view name, std::string value) {
    if (value.size() > kLongestValue) value.resize(kLongestValue);
    while (!value.empty() && (value.back() == '-' || value.back() == '_' || value.back() == '.')) value.pop_back();
    out_.labels[std::string("nvidia.com/").append(name)] = std::move(value);
  }
  void Warn(std::string text) { out_.warnings.push_back(std::move(text)); }

  bool AnyMig() const {
    return std::ranges::any_of(devices_, [](const Device* d) { return d->mig.enabled; });
  }

  void AddVgpu() {
    Set("vgpu.present", host_.vgpu ? "true" : "false");
    if (!host_.vgpu) return;
    Set("vgpu.host-driver-version", host_.vgpu->driver_version);
    Set("vgpu.host-driver-branch", host_.vgpu->driver_branch);
  }

  void AddVersions() {
    const auto parts = Split(driver_version_, '.');
    if (parts.size() == 2 || parts.size() == 3) {
      const std::string revision(parts.size() == 3 ? parts[2] : "");
      for (const auto& [name, value] :
           {std::pair("major", std::string(parts[0])), std::pair("minor", std::string(parts[1]))}) {
        Set(std::string("cuda.driver-version.") + name, value);
        Set(std::string("cuda.driver.") + name, value);
      }
      Set("cuda.driver-version.revision", revision);
      Set("cuda.driver.rev", revision);
      Set("cuda.driver-version.full", driver_version_);
    } else {
      Warn("driver version " + Quote(driver_version_) + " is not of the form X.Y or X.Y.Z: no labels of it");
    }
    const std::string major = std::to_string(cuda_version_ / 1000), minor = std::to_string(cuda_version_ % 1000 / 10);
    Set("cuda.runtime-version.major", major);
    Set("cuda.runtime-version.minor", minor);
    Set("cuda.runtime-version.full", major + "." + minor);
    Set("cuda.runtime.major", major);
    Set("cuda.runtime.minor", minor);
  }

  void AddMachine() {
    Set("gpu.machine", host_.machine_type ? SanitizeValue(*host_.machine_type) : "unknown");
    Set("gpu.mode", Mode());
    const bool capable = std::ranges::any_of(devices_, [](const Device* d) { return d->mig.capable; });
    Set("mig.capable", capable ? "true" : "false");
    const bool mps = StrategyOf(settings_.sharing) == SharingStrategy::kMps;
    if (mps && AnyMig()) Warn("MPS is configured and a GPU is in MIG mode, which do not go together");
    Set("mps.capable", mps && !AnyMig() ? "true" : "false");
  }

  std::string Mode() const {
    const auto all = [&](std::uint32_t wanted) {
      return !host_.gpu_classes.empty() && std::ranges::all_of(host_.gpu_classes, [&](auto c) { return c == wanted; });
    };
    return all(0x030200) ? "compute" : all(0x030000) ? "graphics" : "unknown";
  }

  /// Only when all GPUs that are attached to a fabric are in one clique of it.
  void AddClique() {
    std::string clique;
    for (const Device* device : devices_) {
      const gpu::Fabric& fabric = device->fabric;
      if (fabric.state == gpu::Fabric::State::kNotSupported) continue;
      if (fabric.state != gpu::Fabric::State::kCompleted || fabric.status != "NVML_SUCCESS") return;
      if (fabric.cluster_uuid == "00000000-0000-0000-0000-000000000000") return;
      const std::string own = fabric.cluster_uuid + "." + std::to_string(fabric.clique_id);
      if (!clique.empty() && clique != own) {
        Warn("GPUs are in different cliques of the fabric: no gpu.clique");
        return;
      }
      clique = own;
    }
    if (!clique.empty()) Set("gpu.clique", clique);
  }

  /// GPUs by product, in the order of the first of each.
  std::vector<std::vector<const Device*>> Models() const {
    std::vector<std::vector<const Device*>> models;
    for (const Device* device : devices_) {
      const auto it =
          std::ranges::find_if(models, [&](const auto& m) { return m.front()->product == device->product; });
      if (it == models.end())
        models.push_back({device});
      else
        it->push_back(device);
    }
    return models;
  }

  void AddModels() {
    const auto models = Models();
    // The plain labels are of one model, whatever order the driver tells them in: the one with the most GPUs, of equals
    // the one with more memory, then by name.
    const auto main = std::ranges::max_element(models, {}, [](const auto& m) {
      return std::tuple(m.size(), m.front()->memory_mib, std::string_view(m.front()->product));
    });
    AddModel(*main);
    if (models.size() == 1) return;
    Warn("the node has GPUs of " + std::to_string(models.size()) + " models; nvidia.com/gpu.* describe the " +
         main->front()->product);
    for (const auto& model : models) AddBesides(model);
  }

  void AddModel(const std::vector<const Device*>& model) {
    const Device& device = *model.front();
    const bool any_full = std::ranges::any_of(model, [](const Device* d) { return !d->mig.enabled; });
    const ResourceSharing sharing =
        any_full ? SharingOf(settings_.sharing, settings_.names.OfGpu(device.product)) : ResourceSharing{.replicas = 0};
    AddResource("gpu", SanitizeValue(device.product), Number(model.size()), sharing);
    if (device.memory_mib != 0) Set("gpu.memory", Number(device.memory_mib));
    if (device.compute_major == 0) return;
    Set("gpu.family", std::string(gpu::FamilyName(device.compute_major, device.compute_minor)));
    Set("gpu.compute.major", Number(device.compute_major));
    Set("gpu.compute.minor", Number(device.compute_minor));
  }

  /// What a node with several models says of each, besides NVIDIA's labels.
  void AddBesides(const std::vector<const Device*>& model) {
    const std::string name = SanitizeValue(model.front()->product);
    if (name.size() + sizeof "gpu-memory." > kLongestValue) return;
    out_.labels["gpu-operator.dev/gpu-count." + name] = Number(model.size());
    out_.labels["gpu-operator.dev/gpu-memory." + name] = Number(model.front()->memory_mib);
  }

  void AddResource(const std::string& prefix, std::string product, std::string count, const ResourceSharing& sharing) {
    const bool shared = sharing.strategy != SharingStrategy::kNone && !sharing.renamed;
    Set(prefix + ".product", shared ? product + "-SHARED" : std::move(product));
    Set(prefix + ".count", std::move(count));
    Set(prefix + ".replicas", std::to_string(sharing.replicas));
    Set(prefix + ".sharing-strategy", std::string(Name(sharing.strategy)));
  }

  void AddMigKind(const std::string& prefix, const MigKind& kind, std::string_view resource) {
    AddResource(prefix, kind.model + "-MIG-" + gpu::ToResourceText(kind.profile), Number(kind.count),
                SharingOf(settings_.sharing, resource));
    const gpu::MigEngines& engines = kind.compute->engines;
    Set(prefix + ".memory", Number(kind.instance->memory_mib));
    Set(prefix + ".multiprocessors", Number(kind.compute->multiprocessors));
    Set(prefix + ".slices.gi", Number(kind.instance->slices));
    Set(prefix + ".slices.ci", Number(kind.compute->slices));
    Set(prefix + ".engines.copy", Number(engines.copy));
    Set(prefix + ".engines.decoder", Number(engines.decoder));
    Set(prefix + ".engines.encoder", Number(engines.encoder));
    Set(prefix + ".engines.jpeg", Number(engines.jpeg));
    Set(prefix + ".engines.ofa", Number(engines.ofa));
  }

  /// Kinds of MIG devices in order of appearance.
  std::vector<MigKind> MigKinds() const {
    std::vector<MigKind> kinds;
    for (const Device* device : devices_)
      for (const gpu::GpuInstance& gi : device->mig.instances)
        for (const gpu::ComputeInstance& ci : gi.compute_instances) {
          const auto it = std::ranges::find(kinds, ci.profile, &MigKind::profile);
          MigKind& kind = it != kinds.end() ? *it
                                            : kinds.emplace_back(MigKind{.profile = ci.profile,
                                                                         .model = SanitizeValue(device->product),
                                                                         .instance = &gi,
                                                                         .compute = &ci});
          ++kind.count;
        }
    return kinds;
  }

  /// With one kind of MIG device on all GPUs they are the node's GPUs; anything else is invalid.
  void AddSingle() {
    const auto kinds = MigKinds();
    const auto has_device = [](const Device* d) {
      return std::ranges::any_of(d->mig.instances, [](const auto& gi) { return !gi.compute_instances.empty(); });
    };
    const bool all = std::ranges::all_of(devices_, [&](const Device* d) { return d->mig.enabled && has_device(d); });
    if (all && kinds.size() == 1) {
      AddMigKind("gpu", kinds.front(), kGpu);
      return;
    }
    Warn("MIG strategy single needs MIG devices of one profile on every GPU: the node is labelled MIG-INVALID");
    Set("gpu.product", SanitizeValue(devices_.front()->product) + "-MIG-INVALID");
    Set("gpu.count", "0");
    Set("gpu.replicas", "0");
    Set("gpu.sharing-strategy", "");
    Set("gpu.memory", "0");
  }

  void AddMixed() {
    for (const MigKind& kind : MigKinds()) {
      AddMigKind("mig-" + gpu::ToResourceText(kind.profile), kind, settings_.names.OfMig(kind.profile));
    }
  }

  const HostFacts& host_;
  const LabelSettings& settings_;
  std::vector<const Device*> devices_;
  std::string driver_version_;
  int cuda_version_ = 0;
  LabelsAndWarnings out_;
};

}  // namespace

std::optional<MigStrategy> ParseMigStrategy(std::string_view text) {
  if (text == "none") return MigStrategy::kNone;
  if (text == "single") return MigStrategy::kSingle;
  if (text == "mixed") return MigStrategy::kMixed;
  return std::nullopt;
}

std::string SanitizeValue(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    const bool word = IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
    if (word || c == ' ') kept += c;
  }
  std::vector<std::string> words;
  for (const std::string_view word : Split(kept, ' '))
    if (!word.empty()) words.emplace_back(word);
  return Join(words, "-");
}

LabelsAndWarnings MakeLabels(const gpu::Inventory* inventory, const HostFacts& host, const LabelSettings& settings) {
  return Maker(inventory, host, settings).Make();
}

}  // namespace gpuop::operands::gfd
