#include <fmt/core.h>

#include "machine/host/render.h"
#include "machine/spec/pci_address.h"
#include "machine/state/nvswitch.h"

namespace gpuop::machine {
namespace {

/// One PCI function, as far as sysfs shows it.
struct Function {
  std::string address;
  std::uint32_t id = 0, subsystem = 0, class_code = 0, domain = 0;
  int numa = -1;
  std::array<std::uint64_t, 4> cpus{};
  std::uint32_t cpu_count = 0;
  std::string driver;
  std::string current_speed, max_speed;
  std::uint32_t current_width = 0, max_width = 0;
  bool gone = false;
};

std::string Speed(std::uint32_t generation) {
  switch (generation) {
    case 1: return "2.5 GT/s PCIe";
    case 2: return "5.0 GT/s PCIe";
    case 3: return "8.0 GT/s PCIe";
    case 4: return "16.0 GT/s PCIe";
    case 5: return "32.0 GT/s PCIe";
    default: return "64.0 GT/s PCIe";
  }
}

/// The first 64 bytes of configuration space; all ones when the device is not on the bus any more.
std::string Config(const Function& f) {
  if (f.gone) return std::string(256, '\xff');
  std::string out(256, '\0');
  const auto put16 = [&](std::size_t at, std::uint32_t value) {
    out[at] = static_cast<char>(value & 0xff);
    out[at + 1] = static_cast<char>(value >> 8 & 0xff);
  };
  put16(0x00, f.id & 0xffff);
  put16(0x02, f.id >> 16);
  put16(0x04, 0x0406);
  put16(0x06, 0x0010);
  out[0x08] = '\xa1';
  out[0x09] = static_cast<char>(f.class_code & 0xff);
  put16(0x0a, f.class_code >> 8);
  put16(0x2c, f.subsystem & 0xffff);
  put16(0x2e, f.subsystem >> 16);
  return out;
}

void Add(const Function& f, Tree& tree) {
  const std::string root = fmt::format("/devices/pci{:04x}:{}", f.domain, f.address.substr(f.address.find(':') + 1, 2));
  const std::string at = "/sys" + root + "/" + f.address;
  const auto file = [&](std::string_view name, std::string text, unsigned mode = 0444) {
    tree.File(at + "/" + std::string(name), std::move(text), mode);
  };
  file("vendor", fmt::format("0x{:04x}\n", f.id & 0xffff));
  file("device", fmt::format("0x{:04x}\n", f.id >> 16));
  file("subsystem_vendor", fmt::format("0x{:04x}\n", f.subsystem & 0xffff));
  file("subsystem_device", fmt::format("0x{:04x}\n", f.subsystem >> 16));
  file("class", fmt::format("0x{:06x}\n", f.class_code));
  file("revision", f.gone ? "0xff\n" : "0xa1\n");
  file("numa_node", fmt::format("{}\n", f.numa), 0644);
  file("local_cpulist", CpuList(f.cpus) + "\n");
  file("local_cpus", CpuMask(f.cpus, f.cpu_count) + "\n");
  file("config", Config(f), 0644);
  file("enable", f.gone ? "0\n" : "1\n", 0644);
  file("reset", "", 0200);
  file("driver_override", "(null)\n", 0644);
  if (!f.max_speed.empty()) {
    file("current_link_speed", (f.gone ? "Unknown" : f.current_speed) + "\n");
    file("current_link_width", fmt::format("{}\n", f.gone ? 63 : f.current_width));
    file("max_link_speed", f.max_speed + "\n");
    file("max_link_width", fmt::format("{}\n", f.max_width));
  }
  const std::string alias = fmt::format("pci:v{:08X}d{:08X}sv{:08X}sd{:08X}bc{:02X}sc{:02X}i{:02X}", f.id & 0xffff,
                                        f.id >> 16, f.subsystem & 0xffff, f.subsystem >> 16, f.class_code >> 16,
                                        f.class_code >> 8 & 0xff, f.class_code & 0xff);
  file("modalias", alias + "\n");
  const std::string driver = f.driver.empty() ? "" : "DRIVER=" + f.driver + "\n";
  file(
      "uevent",
      driver + fmt::format(
                   "PCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:{:04X}\nPCI_SLOT_NAME={}\nMODALIAS={}\n",
                   f.class_code, f.id & 0xffff, f.id >> 16, f.subsystem & 0xffff, f.subsystem >> 16, f.address, alias));
  tree.Link(at + "/subsystem", "../../../bus/pci");
  tree.Link("/sys/bus/pci/devices/" + f.address, "../../.." + root + "/" + f.address);
  if (f.driver.empty()) return;
  tree.Link(at + "/driver", "../../../bus/pci/drivers/" + f.driver);
  tree.Link("/sys/bus/pci/drivers/" + f.driver + "/" + f.address, "../../../.." + root + "/" + f.address);
}

void AddGpu(const layout::Machine& machine, const layout::Device& device, bool loaded, Tree& tree) {
  const layout::DeviceFacts& facts = device.facts;
  Add({.address = AddressOf(facts),
       .id = facts.pci_id,
       .subsystem = facts.pci_subsystem,
       .class_code = facts.display_capable != 0 ? 0x030000U : 0x030200U,
       .domain = facts.pci_domain,
       .numa = facts.numa_node,
       .cpus = facts.cpus,
       .cpu_count = machine.cpus,
       .driver = loaded ? "nvidia" : "",
       .current_speed = Speed(device.pcie_gen),
       .max_speed = Speed(facts.pcie_gen),
       .current_width = device.pcie_width,
       .max_width = facts.pcie_width,
       .gone = (device.faults & layout::kFaultOffBus) != 0},
      tree);
}

/// NVSwitches of an HGX board, which the fabric manager drives.
void AddSwitches(const layout::Machine& machine, bool loaded, Tree& tree) {
  const bool ampere = machine.devices[0].facts.architecture == layout::Architecture::kAmpere;
  for (std::uint32_t i = 0; i < SwitchCount(machine); ++i)
    Add({.address = ToText(PciAddress{0, SwitchBus(i), 0, 0}),
         .id = ampere ? 0x1af110deU : 0x22a310deU,
         .subsystem = 0x000010deU,
         .class_code = 0x068000,
         .numa = 0,
         .cpus = machine.devices[0].facts.cpus,
         .cpu_count = machine.cpus,
         .driver = loaded ? "nvidia-nvswitch" : "",
         .current_speed = {},
         .max_speed = {}},
        tree);
}

}  // namespace

void RenderSysPci(const Spec& spec, const layout::Machine& machine, Tree& tree) {
  const bool loaded = DriverLoaded(spec, machine);
  tree.Folder("/sys/bus/pci/devices");
  tree.File("/sys/bus/pci/drivers_probe", "", 0200);
  tree.File("/sys/bus/pci/rescan", "", 0200);
  for (const char* driver : {"nvidia", "vfio-pci"}) {
    if (driver == std::string_view("nvidia") && !loaded) continue;
    for (const char* file : {"bind", "unbind", "new_id", "remove_id"})
      tree.File(fmt::format("/sys/bus/pci/drivers/{}/{}", driver, file), "", 0200);
  }
  if (loaded) tree.Link("/sys/bus/pci/drivers/nvidia/module", "../../../../module/nvidia");
  for (std::uint32_t i = 0; i < machine.device_count; ++i) AddGpu(machine, machine.devices[i], loaded, tree);
  if (spec.driver.fabric_manager && machine.device_count > 0) AddSwitches(machine, loaded, tree);
}

}  // namespace gpuop::machine
