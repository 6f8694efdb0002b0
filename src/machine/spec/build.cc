#include "machine/spec/build.h"

#include <algorithm>

#include "base/text.h"
#include "gpu/mig_geometry.h"
#include "machine/spec/pci_address.h"
#include "machine/state/life.h"
#include "machine/state/mig.h"
#include "machine/state/nodes.h"
#include "machine/state/state.h"

namespace gpuop::machine {
namespace {

constexpr std::uint32_t kBrandNvidia = 14;

std::uint32_t Small(std::int64_t number) { return static_cast<std::uint32_t>(number); }

std::array<std::uint32_t, layout::kClocks> Clocks(const ClocksMhz& clocks) {
  return {clocks.graphics, clocks.sm, clocks.memory, clocks.video};
}

void FillModel(layout::DeviceFacts& facts, const GpuModel& model) {
  facts.name.Set(model.name);
  facts.part_number.Set(model.part_number);
  facts.vbios.Set(model.vbios);
  facts.inforom_image.Set(model.inforom.image);
  facts.inforom_ecc.Set(model.inforom.ecc);
  facts.inforom_oem.Set(model.inforom.oem);
  facts.inforom_power.Set(model.inforom.power);
  facts.brand = kBrandNvidia;
  facts.architecture = model.architecture;
  const auto capability = Cut(model.compute_capability, '.');
  facts.compute_major = Small(ParseInt(capability->first).value_or(0));
  facts.compute_minor = Small(ParseInt(capability->second).value_or(0));
  facts.pci_id = Small(model.pci_id);
  facts.pci_subsystem = Small(model.subsystem_id);
  facts.sm_count = model.multiprocessors;
  facts.cores_per_sm = model.cores_per_multiprocessor;
  facts.copy_engines = model.engines.copy;
  facts.encoders = model.engines.encoder;
  facts.decoders = model.engines.decoder;
  facts.jpegs = model.engines.jpeg;
  facts.ofas = model.engines.ofa;
  facts.l2_cache_kib = model.l2_cache_kib;
  facts.memory_bus_bits = model.memory_bus_bits;
  facts.memory_bytes = static_cast<std::uint64_t>(model.memory_mib) << 20;
  facts.reserved_bytes = static_cast<std::uint64_t>(model.reserved_mib) << 20;
  facts.bar1_bytes = static_cast<std::uint64_t>(model.bar1_mib) << 20;
  facts.pcie_gen = model.pcie.generation;
  facts.pcie_width = model.pcie.width;
  facts.max_clock_mhz = Clocks(model.clocks);
  facts.idle_clock_mhz = Clocks(model.idle_clocks);
  facts.power_min_mw = model.power.min * 1000;
  facts.power_max_mw = model.power.max * 1000;
  facts.power_default_mw = model.power.standard * 1000;
  facts.power_idle_mw = model.power.idle * 1000;
  facts.slowdown_c = model.temperature.slowdown;
  facts.shutdown_c = model.temperature.shutdown;
  facts.max_operating_c = model.temperature.max_operating;
  facts.memory_max_c = model.temperature.max_memory;
  facts.fans = model.fans;
  facts.unified_memory = model.unified_memory;
  facts.ecc_supported = model.ecc;
  facts.row_remapping = model.row_remapping;
  facts.gpm_supported = model.gpm;
  facts.c2c = model.chip_to_chip;
  facts.display_capable = model.display;
  facts.gsp_firmware = model.gsp_firmware;
  if (const auto* mig = gpu::FindMigModel(static_cast<std::uint16_t>(model.pci_id >> 16),
                                          static_cast<std::uint64_t>(model.memory_mib)))
    facts.mig_model.Set(mig->name);
}

void FillNvlink(layout::DeviceFacts& facts, const GpuModel& model, const GpuGroup& group, std::uint32_t first,
                std::uint32_t own) {
  facts.nvlink_peer.fill(0xff);
  if (group.nvlink == NvlinkTopology::kNone) return;
  facts.nvlinks = model.nvlink.links;
  facts.nvlink_version = model.nvlink.version;
  facts.nvlink_mb_per_s = model.nvlink.mb_per_second;
  facts.nvlink_to_switch = group.nvlink == NvlinkTopology::kSwitch;
  if (group.nvlink == NvlinkTopology::kPeers && group.count > 1)
    for (std::uint32_t link = 0; link < facts.nvlinks; ++link) {
      const std::uint32_t other = link % (group.count - 1);
      facts.nvlink_peer[link] = static_cast<std::uint8_t>(first + (other >= own ? other + 1 : other));
    }
}

/// The CPUs of a NUMA node: an even share of the machine's, in order.
void FillCpus(layout::DeviceFacts& facts, const HostSpec& host) {
  const std::uint32_t share = host.cpus / host.numa_nodes;
  const std::uint32_t begin = facts.numa_node < 0 ? 0 : static_cast<std::uint32_t>(facts.numa_node) * share;
  const std::uint32_t end = facts.numa_node < 0 ? host.cpus : begin + share;
  for (std::uint32_t cpu = begin; cpu < end; ++cpu) facts.cpus[cpu / 64] |= std::uint64_t{1} << cpu % 64;
}

void FillPlace(layout::DeviceFacts& facts, const Spec& spec, const GpuGroup& group, std::uint32_t index,
               std::uint32_t own) {
  const PciAddress address = ParsePciAddress(group.pci[own]).value_or(PciAddress{});
  const std::string key = spec.host.serial + "/" + spec.name + "/" + ToText(address);
  facts.minor = index;
  facts.pci_domain = address.domain;
  facts.pci_bus = address.bus;
  facts.pci_device = address.device;
  facts.board_id = address.bus << 8 | address.device;
  facts.numa_node = group.numa.empty() ? (spec.host.numa_nodes > 1 ? 0 : -1) : group.numa[own];
  facts.uuid.Set(group.uuids.empty() ? NameUuid("GPU-", key) : group.uuids[own]);
  if (!group.serials.empty()) {
    facts.serial.Set(group.serials[own]);
  } else if (!facts.part_number.empty()) {
    facts.serial.Set(std::to_string(1'320'000'000'000 + Hash64(key) % 1'000'000'000'000));
  }
  facts.persistence = group.persistence;
  FillCpus(facts, spec.host);
}

/// What a new device shows when it is switched on first.
void FirstStart(layout::Device& device, const GpuGroup& group) {
  const layout::DeviceFacts& facts = device.facts;
  device.persistence = facts.persistence;
  device.ecc_current = device.ecc_pending = facts.ecc_supported != 0 && group.ecc ? 1 : 0;
  device.mig_current = device.mig_pending = group.mig.enabled ? 1 : 0;
  device.power_limit_mw = facts.power_default_mw;
  device.pcie_gen = facts.pcie_gen;
  device.pcie_width = facts.pcie_width;
  for (std::uint32_t i = 0; i < facts.nvlinks; ++i) device.links[i].up = 1;
  if (facts.row_remapping != 0) device.remap_banks[0] = facts.memory_bus_bits / 8;
  device.fabric_state = facts.fabric_supported != 0 ? layout::kFabricCompleted : layout::kFabricNotSupported;
  device.energy_at_ns = BoottimeNs();
  Idle(device);
}

Result<> MakeInstances(layout::Device& device, const GpuGroup& group) {
  const gpu::MigModel* model = gpu::FindMigModel(device.facts.mig_model.view());
  if (model == nullptr || group.mig.instances.empty()) return {};
  std::vector<const gpu::MigProfile*> wanted;
  for (const std::string& name : group.mig.instances) wanted.push_back(model->FindByName(name));
  ASSIGN(const auto placed, gpu::Place(*model, {}, wanted));
  for (const gpu::MigInstance& one : placed) {
    const std::uint32_t id = gpu::GpuInstanceId(*model, one.placement);
    FillInstance(device.instances[id], *one.profile, one.placement);
    const auto whole = gpu::ComputeProfiles(*model, *one.profile).back();
    FillComputeInstance(device.instances[id].compute[0], whole, 0);
  }
  return {};
}

}  // namespace

Result<> BuildMachine(const Spec& spec, layout::Machine& machine) {
  machine.name.Set(spec.name);
  machine.cpus = spec.host.cpus;
  machine.numa_nodes = spec.host.numa_nodes;
  machine.driver_version.Set(spec.driver.version);
  machine.open_kernel_module = spec.driver.kernel_module == KernelModule::kOpen ? 1 : 0;
  if (const auto cuda = Cut(spec.driver.cuda, '.'))
    machine.cuda_driver = Small(ParseInt(cuda->first).value_or(0) * 1000 + ParseInt(cuda->second).value_or(0) * 10);
  if (!spec.driver.installed) machine.faults |= layout::kFaultDriverMissing;
  if (!spec.driver.loaded) machine.faults |= layout::kFaultModuleMissing;
  machine.boots = machine.engine_starts = 1;
  machine.booted_ns = RealtimeNs();
  for (const GpuGroup& group : spec.gpus) {
    ASSIGN(const GpuModel model, ModelOf(group));
    const std::uint32_t first = machine.device_count;
    for (std::uint32_t own = 0; own < group.count; ++own, ++machine.device_count) {
      layout::Device& device = machine.devices[machine.device_count];
      FillModel(device.facts, model);
      if (model.unified_memory) device.facts.memory_bytes = std::uint64_t{spec.host.memory_gib} << 30;
      FillPlace(device.facts, spec, group, machine.device_count, own);
      FillNvlink(device.facts, model, group, first, own);
      if (model.modules) device.facts.module_id = group.modules.empty() ? own + 1 : group.modules[own];
      device.facts.fabric_supported = group.fabric.has_value() || (spec.driver.fabric_manager &&
                                                                   model.architecture >= layout::Architecture::kHopper);
      if (group.fabric) {
        device.facts.fabric_cluster.Set(group.fabric->cluster);
        device.facts.fabric_clique = group.fabric->clique;
      }
      FirstStart(device, group);
      TRY(MakeInstances(device, group));
    }
  }
  for (std::size_t i = 0; i < spec.faults.size(); ++i)
    if (auto done = Inject(machine, spec.faults[i]); !done)
      return Fail(done.error().code, "faults[" + std::to_string(i) + "]." + done.error().text);
  return {};
}

}  // namespace gpuop::machine
