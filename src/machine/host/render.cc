#include "machine/host/render.h"

#include <cstdio>

#include "machine/spec/pci_address.h"

namespace gpuop::machine {

bool DriverInstalled(const Spec& spec, const layout::Machine& machine) {
  return spec.driver.installed && (machine.faults & layout::kFaultDriverMissing) == 0;
}

bool DriverLoaded(const Spec& spec, const layout::Machine& machine) {
  return spec.driver.installed && (machine.faults & layout::kFaultsWithoutDriver) == 0;
}

std::string LoadedVersion(const Spec& spec, const layout::Machine& machine) {
  if ((machine.faults & layout::kFaultVersionMismatch) == 0) return spec.driver.version;
  return spec.driver.version.substr(0, 3) + ".90.07";
}

Tree RenderHost(const Spec& spec, const layout::Machine& machine, const DriverFiles& files) {
  Tree tree;
  RenderEtc(spec, tree);
  RenderProc(spec, machine, tree);
  RenderSysPci(spec, machine, tree);
  RenderSysModules(spec, machine, tree);
  RenderSysSystem(spec, tree);
  RenderDev(spec, machine, files, tree);
  RenderDriver(spec, machine, files, tree);
  for (const char* folder : {"/tmp", "/var/lib", "/var/log", "/run", "/home", "/root", "/mnt", "/opt"})
    tree.Folder(folder);
  tree.Link("/var/run", "/run");
  return tree;
}

std::string CpuList(const std::array<std::uint64_t, 4>& mask) {
  const auto has = [&](unsigned cpu) { return cpu < 256 && (mask[cpu / 64] >> cpu % 64 & 1) != 0; };
  std::string out;
  for (unsigned cpu = 0; cpu < 256; ++cpu) {
    if (!has(cpu)) continue;
    unsigned last = cpu;
    while (has(last + 1)) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(cpu);
    if (last > cpu) out += "-" + std::to_string(last);
    cpu = last;
  }
  return out;
}

std::string CpuMask(const std::array<std::uint64_t, 4>& mask, std::uint32_t cpus) {
  std::string out;
  char word[16];
  for (std::uint32_t i = (cpus + 31) / 32; i-- > 0;) {
    std::snprintf(word, sizeof word, "%08x", static_cast<unsigned>(mask[i / 2] >> i % 2 * 32));
    out += word;
    if (i > 0) out += ',';
  }
  return out;
}

std::string AddressOf(const layout::DeviceFacts& facts) {
  return ToText(PciAddress{facts.pci_domain, facts.pci_bus, facts.pci_device, 0});
}

}  // namespace gpuop::machine
