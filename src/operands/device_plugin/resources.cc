#include "operands/device_plugin/resources.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "data/json.h"
#include "operands/device_plugin/shares.h"

namespace gpuop::operands::device_plugin {
namespace {

using gpu::ComputeInstance;
using gpu::Device;
using gpu::GpuInstance;

constexpr std::string_view kPrefix = "nvidia.com/";

bool IsDisplayAdaptor(const Device& device) {
  return device.product == "DGX Display" || device.product == "NVIDIA DGX Display";
}

/// A MIG device with the instance it is in.
struct Mig {
  const Device* device;
  const GpuInstance* instance;
  const ComputeInstance* compute;
};

/// What makes two MIG devices of one kind.
auto KindOf(const Mig& mig) {
  const gpu::MigEngines& e = mig.compute->engines;
  return std::tuple(mig.instance->slices, mig.compute->slices, mig.compute->multiprocessors, mig.compute->memory_mib,
                    e.copy, e.decoder, e.encoder, e.jpeg, e.ofa);
}

class Planner {
 public:
  Planner(const gpu::Inventory& inventory, const MigMinors& minors, const Settings& settings)
      : minors_(minors), settings_(settings) {
    for (const Device& device : inventory.devices)
      if (device.unreadable.empty() && !IsDisplayAdaptor(device)) devices_.push_back(&device);
  }

  Plan Make() {
    switch (settings_.mig) {
      case MigStrategy::kNone:
        for (const Device* device : devices_) AddGpu(*device);
        break;
      case MigStrategy::kSingle: AddSingle(); break;
      case MigStrategy::kMixed: AddMixed(); break;
    }
    out_.resources = ShareOut(std::move(resources_), settings_.sharing, out_.warnings);
    return std::move(out_);
  }

 private:
  void Misfit(std::string text) {
    if (!out_.misfit) out_.misfit = Error{Code::kInvalid, std::move(text)};
  }

  void AddGpu(const Device& device) {
    Unit unit{.uuid = device.uuid, .index = std::to_string(device.index), .gpu = device.uuid, .numa = device.numa_node};
    if (device.minor) unit.nodes.push_back("/dev/nvidia" + std::to_string(*device.minor));
    Add(settings_.names.OfGpu(device.product), std::move(unit));
  }

  void AddMig(const Mig& mig, std::string resource) {
    const std::string index = std::to_string(mig.device->index) + ":" + std::to_string(*mig.compute->mig_index);
    Add(std::move(resource), {.uuid = mig.compute->uuid,
                              .index = index,
                              .gpu = mig.device->uuid,
                              .gpu_instance = mig.instance->id,
                              .compute_instance = mig.compute->id,
                              .numa = mig.device->numa_node,
                              .nodes = NodesOf(mig)});
  }

  std::vector<std::string> NodesOf(const Mig& mig) {
    std::vector<std::string> nodes;
    if (!mig.device->minor) return nodes;
    const std::string gpu = std::to_string(*mig.device->minor);
    nodes.push_back("/dev/nvidia" + gpu);
    if (!settings_.pass_device_specs) return nodes;
    const std::string instance = "gpu" + gpu + "/gi" + std::to_string(mig.instance->id);
    for (const std::string& name :
         {instance + "/access", instance + "/ci" + std::to_string(mig.compute->id) + "/access"}) {
      if (const auto minor = minors_.find(name); minor != minors_.end())
        nodes.push_back("/dev/nvidia-caps/nvidia-cap" + std::to_string(minor->second));
      else
        out_.warnings.push_back("/proc/driver/nvidia-caps/mig-minors has no line for " + name + ": " +
                                mig.compute->uuid + " is offered without that node");
    }
    return nodes;
  }

  void Add(std::string resource, Unit unit) { resources_[std::move(resource)].push_back(std::move(unit)); }

  /// In the order of their place on the GPU.
  std::vector<Mig> MigDevicesOf(const Device& device) const {
    std::vector<Mig> out;
    for (const GpuInstance& instance : device.mig.instances)
      for (const ComputeInstance& compute : instance.compute_instances)
        if (!compute.uuid.empty() && compute.mig_index) out.push_back({&device, &instance, &compute});
    std::ranges::sort(out, {}, [](const Mig& m) { return std::pair(m.instance->placement.start, m.compute->id); });
    return out;
  }

  /// All GPUs in MIG mode with MIG devices of one kind, or none in MIG mode.
  void AddSingle() {
    const auto in_mig = [](const Device* d) { return d->mig.enabled; };
    if (std::ranges::none_of(devices_, in_mig)) {
      for (const Device* device : devices_) AddGpu(*device);
      return;
    }
    std::vector<Mig> all;
    for (const Device* device : devices_) {
      if (!device->mig.enabled) continue;
      const auto here = MigDevicesOf(*device);
      if (here.empty())
        return Misfit("MIG strategy single: GPU " + std::to_string(device->index) +
                      " is in MIG mode and has no MIG devices");
      all.insert(all.end(), here.begin(), here.end());
    }
    if (!std::ranges::all_of(devices_, in_mig))
      return Misfit("MIG strategy single: some GPUs are in MIG mode and others are not");
    for (const Mig& mig : all)
      if (KindOf(mig) != KindOf(all.front()))
        return Misfit("MIG strategy single: the node has MIG devices of more than one kind (" +
                      all.front().compute->profile + ", " + mig.compute->profile + ")");
    for (const Mig& mig : all) AddMig(mig, std::string(kPrefix) + "gpu");
  }

  void AddMixed() {
    for (const Device* device : devices_) {
      if (!device->mig.enabled) {
        AddGpu(*device);
        continue;
      }
      const auto here = MigDevicesOf(*device);
      if (here.empty())
        out_.warnings.push_back("GPU " + std::to_string(device->index) +
                                " is in MIG mode and has no MIG devices: it is offered to nobody");
      for (const Mig& mig : here) {
        if (mig.compute->slices != mig.instance->slices) {
          Misfit("MIG strategy mixed: no resource name fits MIG device " + mig.compute->uuid + " (" +
                 mig.compute->profile + ") on GPU " + std::to_string(device->index));
          continue;
        }
        AddMig(mig, settings_.names.OfMig(mig.compute->profile));
      }
    }
  }

  const MigMinors& minors_;
  const Settings& settings_;
  std::vector<const Device*> devices_;
  std::map<std::string, std::vector<Unit>> resources_;
  Plan out_;
};

}  // namespace

Plan PlanResources(const gpu::Inventory& inventory, const MigMinors& minors, const Settings& settings) {
  return Planner(inventory, minors, settings).Make();
}

std::string ShareId(std::string_view uuid, unsigned share) {
  return std::string(uuid).append("::").append(std::to_string(share));
}

std::string_view UuidOf(std::string_view id) { return id.substr(0, id.find("::")); }

std::vector<std::string> IdsOf(const Unit& unit) {
  if (!unit.shared) return {unit.uuid};
  std::vector<std::string> out;
  out.reserve(unit.replicas);
  for (unsigned i = 0; i < unit.replicas; ++i) out.push_back(ShareId(unit.uuid, i));
  return out;
}

std::string SocketNameOf(std::string_view resource) {
  if (resource.starts_with(kPrefix)) resource.remove_prefix(kPrefix.size());
  return std::string("nvidia-").append(resource).append(".sock");
}

}  // namespace gpuop::operands::device_plugin
