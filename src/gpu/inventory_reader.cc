#include "gpu/inventory_reader.h"

#include <algorithm>

#include "base/text.h"
#include "gpu/mig_name.h"

namespace gpuop::gpu {
namespace {

using F = nvml::Functions;

/// "1g.5gb" of what NVML calls "MIG 1g.5gb".
std::string WithoutMig(std::string_view name) {
  if (name.starts_with("MIG ")) name.remove_prefix(4);
  return std::string(name);
}

std::string ComputeName(const GpuInstance& instance, unsigned slices) {
  if (slices == instance.slices) return instance.profile;
  return std::to_string(slices) + "c." + instance.profile;
}

/// What a MIG device says of its GPU instance, for those who may not list instances.
void DescribeByAttributes(GpuInstance& instance, const nvml::DeviceAttributes& attributes, std::uint64_t gpu_mib) {
  instance.slices = attributes.gpuInstanceSliceCount;
  instance.memory_mib = attributes.memorySizeMB;
  instance.profile = ToText({.c = instance.slices,
                             .g = instance.slices,
                             .gb = MigNameGigabytes(instance.memory_mib, gpu_mib << 20U),
                             .with = {},
                             .without = {}});
}

void ReadComputePlacement(const Nvml& nvml, nvml::Device gpu, unsigned gi, ComputeInstance& compute) {
  const auto instance = nvml.Get(&F::DeviceGetGpuInstanceById, gpu, gi);
  if (!instance) return;
  const auto handle = nvml.Get(&F::GpuInstanceGetComputeInstanceById, *instance, compute.id);
  if (!handle) return;
  const auto info = nvml.Get(&F::ComputeInstanceGetInfo_v2, *handle);
  if (!info) return;
  compute.profile_id = info->profileId;
  compute.placement = {info->placement.start, info->placement.size};
}

/// NVLinks between two GPUs: those that end at the other one, and behind switches as many as both have there.
unsigned LinksBetween(const Device& a, const Device& b) {
  unsigned direct = 0, switched_a = 0, switched_b = 0;
  const std::string other = b.pci.Nvml();
  for (const NvLink& link : a.links) {
    if (link.active && link.remote == NvLink::Remote::kSwitch) ++switched_a;
    if (link.active && link.remote != NvLink::Remote::kSwitch && link.remote_pci == other) ++direct;
  }
  for (const NvLink& link : b.links)
    if (link.active && link.remote == NvLink::Remote::kSwitch) ++switched_b;
  return direct + std::min(switched_a, switched_b);
}

void Describe(Device& device, const Identity& identity) {
  device.product = identity.product;
  device.brand = identity.brand;
  device.serial = identity.serial;
  device.board_part = identity.board_part;
  device.vbios = identity.vbios;
  device.minor = identity.minor;
  device.compute_major = identity.compute_major;
  device.compute_minor = identity.compute_minor;
  device.family = FamilyName(identity.compute_major, identity.compute_minor);
  device.virtualization = identity.virtualization;
  device.addressing = identity.addressing;
}

Closeness::Path PathOf(nvml::GpuTopologyLevel level) {
  switch (level) {
    case nvml::GpuTopologyLevel::kInternal: return Closeness::Path::kSameBoard;
    case nvml::GpuTopologyLevel::kSingle: return Closeness::Path::kSingleSwitch;
    case nvml::GpuTopologyLevel::kMultiple: return Closeness::Path::kMultipleSwitches;
    case nvml::GpuTopologyLevel::kHostbridge: return Closeness::Path::kHostBridge;
    case nvml::GpuTopologyLevel::kNode: return Closeness::Path::kNode;
    default: return Closeness::Path::kSystem;
  }
}

GpuInstance& InstanceWithId(MigState& mig, unsigned id) {
  const auto it = std::ranges::find(mig.instances, id, &GpuInstance::id);
  if (it != mig.instances.end()) return *it;
  GpuInstance& added = mig.instances.emplace_back();
  added.id = id;
  return added;
}

}  // namespace

Result<Inventory> InventoryReader::Read(Extent extent) {
  Inventory out;
  ASSIGN(const auto handles, nvml_.Devices());
  ASSIGN(out.driver_version, nvml_.GetText(&F::SystemGetDriverVersion));
  if (auto version = nvml_.GetText(&F::SystemGetNVMLVersion)) out.nvml_version = *std::move(version);
  if (const auto version = nvml_.Get(&F::SystemGetCudaDriverVersion_v2)) out.cuda_version = *version;
  out.confidential = ReadConfidentialComputing(nvml_);
  out.devices.reserve(handles.size());
  for (unsigned i = 0; i < handles.size(); ++i) out.devices.push_back(ReadDevice(i, handles[i], extent));
  if (extent == Extent::kAll) ReadCloseness(handles, out);
  return out;
}

void InventoryReader::ReadCloseness(const std::vector<Nvml::Handle>& handles, Inventory& inventory) {
  const std::size_t count = handles.size();
  inventory.closeness.resize(count * count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j) {
      const Device &a = inventory.devices[i], &b = inventory.devices[j];
      Closeness& c = inventory.closeness[i * count + j];
      c.links = LinksBetween(a, b);
      c.path = ReadPath(a, handles[i].device, b, handles[j].device);
      inventory.closeness[j * count + i] = c;
    }
}

Device InventoryReader::ReadDevice(unsigned index, const Nvml::Handle& handle, Extent extent) {
  Device device;
  device.index = index;
  if (handle.error) {
    device.unreadable = handle.error->text;
    return device;
  }
  ReadPlace(nvml_, handle.device, device);
  if (!device.unreadable.empty()) return device;
  const auto [it, fresh] = constants_.try_emplace(device.uuid);
  Constants& constants = it->second;
  if (fresh) constants.numa_node = ReadNumaNode(device);
  if (!constants.identity) {
    Identity identity = ReadIdentity(nvml_, handle.device, device);
    if (device.unreadable.empty()) constants.identity = std::move(identity);
  }
  if (constants.identity) Describe(device, *constants.identity);
  if (device.unreadable.empty()) ReadState(nvml_, handle.device, device);
  if (!device.unreadable.empty()) return device;
  device.numa_node = constants.numa_node;
  ReadMig(handle.device, device, constants);
  if (extent != Extent::kAll) return device;
  ReadLinks(nvml_, handle.device, constants.links, device);
  constants.links = device.links;
  ReadFabric(nvml_, handle.device, device);
  return device;
}

void InventoryReader::ReadMig(nvml::Device handle, Device& device, Constants& constants) {
  unsigned current = 0, pending = 0;
  if (nvml_.Try(&F::DeviceGetMigMode, handle, &current, &pending) != nvml::Return::kSuccess) return;
  device.mig.capable = true;
  device.mig.enabled = current == nvml::kDeviceMigEnable;
  device.mig.pending = pending == nvml::kDeviceMigEnable;
  device.mig_model = FindMigModel(device.pci.device_id, device.memory_mib);
  if (const auto max = nvml_.Get(&F::DeviceGetMaxMigDeviceCount, handle)) device.mig.max_devices = *max;
  if (!device.mig.enabled) return;
  if (!constants.profiles_read) ReadProfiles(handle, device, constants);
  ReadGpuInstances(handle, device, constants);
  ReadMigDevices(handle, device);
  std::ranges::sort(device.mig.instances, {}, &GpuInstance::id);
  for (GpuInstance& instance : device.mig.instances)
    std::ranges::sort(instance.compute_instances, {}, &ComputeInstance::id);
}

void InventoryReader::ReadProfiles(nvml::Device handle, const Device& device, Constants& constants) const {
  for (unsigned profile = 0; profile < nvml::kGpuInstanceProfileCount; ++profile) {
    const auto named = nvml_.GetVersion(nvml::kVersionOfGpuInstanceProfileInfoV2, &F::DeviceGetGpuInstanceProfileInfoV,
                                        handle, profile);
    if (named) {
      constants.profiles.push_back({named->id, WithoutMig(named->name), named->sliceCount, named->memorySizeMB});
      continue;
    }
    const auto plain = nvml_.Get(&F::DeviceGetGpuInstanceProfileInfo, handle, profile);
    if (!plain) continue;  // this GPU has no such profile
    const MigProfile* const known = device.mig_model == nullptr ? nullptr : device.mig_model->FindById(plain->id);
    std::string name = known != nullptr ? std::string(known->name)
                                        : ToText({.c = plain->sliceCount,
                                                  .g = plain->sliceCount,
                                                  .gb = MigNameGigabytes(plain->memorySizeMB, device.memory_mib << 20U),
                                                  .with = {},
                                                  .without = {}})
                                              .append(MigNameSuffix(profile));
    constants.profiles.push_back({plain->id, std::move(name), plain->sliceCount, plain->memorySizeMB});
  }
  constants.profiles_read = true;
}

void InventoryReader::ReadGpuInstances(nvml::Device handle, Device& device, const Constants& constants) {
  for (const Profile& profile : constants.profiles) {
    const auto handles = nvml_.GpuInstances(handle, profile.id);
    if (!handles) continue;  // not allowed to list them: the MIG devices below tell most of it
    for (const nvml::GpuInstance gi : *handles) {
      const auto info = nvml_.Get(&F::GpuInstanceGetInfo, gi);
      if (!info) continue;
      GpuInstance& instance = InstanceWithId(device.mig, info->id);
      instance.profile_id = profile.id;
      instance.profile = profile.name;
      instance.slices = profile.slices;
      instance.memory_mib = profile.memory_mib;
      instance.placement = {info->placement.start, info->placement.size};
    }
  }
}

void InventoryReader::ReadMigDevices(nvml::Device handle, Device& device) {
  for (unsigned index = 0; index < device.mig.max_devices; ++index) {
    const auto mig = nvml_.Get(&F::DeviceGetMigDeviceHandleByIndex, handle, index);
    if (!mig) continue;
    const auto gi = nvml_.Get(&F::DeviceGetGpuInstanceId, *mig);
    const auto ci = nvml_.Get(&F::DeviceGetComputeInstanceId, *mig);
    const auto attributes = nvml_.Get(&F::DeviceGetAttributes_v2, *mig);
    auto uuid = nvml_.GetText(&F::DeviceGetUUID, *mig);
    if (!gi || !ci || !attributes || !uuid) continue;  // it went away while we looked
    GpuInstance& instance = InstanceWithId(device.mig, *gi);
    if (instance.slices == 0) DescribeByAttributes(instance, *attributes, device.memory_mib);
    ComputeInstance& compute = instance.compute_instances.emplace_back();
    compute.id = *ci;
    compute.uuid = *std::move(uuid);
    compute.mig_index = index;
    compute.slices = attributes->computeInstanceSliceCount;
    compute.profile = ComputeName(instance, compute.slices);
    compute.placement = {0, compute.slices};
    compute.multiprocessors = attributes->multiprocessorCount;
    compute.engines = {attributes->sharedCopyEngineCount, attributes->sharedDecoderCount,
                       attributes->sharedEncoderCount, attributes->sharedJpegCount, attributes->sharedOfaCount};
    compute.memory_mib = attributes->memorySizeMB;
    ReadComputePlacement(nvml_, handle, *gi, compute);
  }
}

std::optional<int> InventoryReader::ReadNumaNode(const Device& device) const {
  if (host_ == nullptr) return std::nullopt;
  const auto text = host_->Read("/sys/bus/pci/devices/" + device.pci.Sysfs() + "/numa_node");
  if (!text) return std::nullopt;
  const auto node = ParseInt(Trim(*text));
  if (!node || *node < 0) return std::nullopt;
  return static_cast<int>(*node);
}

Closeness::Path InventoryReader::ReadPath(const Device& a, nvml::Device handle_a, const Device& b,
                                          nvml::Device handle_b) {
  if (!a.unreadable.empty() || !b.unreadable.empty()) return Closeness::Path::kSystem;
  const std::pair key(a.uuid, b.uuid);
  if (const auto it = paths_.find(key); it != paths_.end()) return it->second;
  const auto level = nvml_.Get(&F::DeviceGetTopologyCommonAncestor, handle_a, handle_b);
  if (!level) return Closeness::Path::kSystem;
  return paths_.emplace(key, PathOf(*level)).first->second;
}

}  // namespace gpuop::gpu
