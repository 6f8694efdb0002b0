#include <fmt/core.h>

#include "machine/host/render.h"

namespace gpuop::machine {
namespace {

/// `size` bits from `first` on.
std::array<std::uint64_t, 4> Range(std::uint32_t first, std::uint32_t size) {
  std::array<std::uint64_t, 4> mask{};
  for (std::uint32_t cpu = first; cpu < first + size; ++cpu) mask[cpu / 64] |= std::uint64_t{1} << cpu % 64;
  return mask;
}

std::string UpTo(std::uint32_t count) { return count == 1 ? "0\n" : fmt::format("0-{}\n", count - 1); }

void Numa(const HostSpec& host, Tree& tree) {
  const std::string nodes = "/sys/devices/system/node";
  for (const char* file : {"online", "possible", "has_cpu", "has_memory", "has_normal_memory"})
    tree.File(nodes + "/" + file, UpTo(host.numa_nodes), 0444);
  const std::uint32_t share = host.cpus / host.numa_nodes;
  const std::uint64_t kib = (std::uint64_t{host.memory_gib} << 20) / host.numa_nodes;
  for (std::uint32_t node = 0; node < host.numa_nodes; ++node) {
    const std::string at = fmt::format("{}/node{}", nodes, node);
    const auto mask = Range(node * share, share);
    tree.File(at + "/cpulist", CpuList(mask) + "\n", 0444);
    tree.File(at + "/cpumap", CpuMask(mask, host.cpus) + "\n", 0444);
    tree.File(
        at + "/meminfo",
        fmt::format("Node {0} MemTotal:       {1} kB\nNode {0} MemFree:        {2} kB\n", node, kib, kib / 10 * 9),
        0444);
    std::string distance;
    for (std::uint32_t other = 0; other < host.numa_nodes; ++other) {
      const bool socket = node * host.sockets / host.numa_nodes == other * host.sockets / host.numa_nodes;
      distance += fmt::format("{}{}", other == 0 ? "" : " ", other == node ? 10 : socket ? 12 : 32);
    }
    tree.File(at + "/distance", distance + "\n", 0444);
  }
}

void Cpus(const HostSpec& host, Tree& tree) {
  const std::string at = "/sys/devices/system/cpu";
  for (const char* file : {"online", "possible", "present"}) tree.File(at + "/" + file, UpTo(host.cpus), 0444);
}

void Dmi(const Spec& spec, Tree& tree) {
  const std::string at = "/sys/devices/virtual/dmi/id/";
  tree.File(at + "sys_vendor", spec.host.vendor + "\n", 0444);
  tree.File(at + "board_vendor", spec.host.vendor + "\n", 0444);
  tree.File(at + "chassis_vendor", spec.host.vendor + "\n", 0444);
  tree.File(at + "product_name", spec.host.product + "\n", 0444);
  tree.File(at + "board_name", spec.host.product + "\n", 0444);
  tree.File(at + "product_serial", spec.host.serial + "\n", 0400);
  tree.Link("/sys/class/dmi/id", "../../devices/virtual/dmi/id");
}

}  // namespace

void RenderSysSystem(const Spec& spec, Tree& tree) {
  Numa(spec.host, tree);
  Cpus(spec.host, tree);
  Dmi(spec, tree);
  // The variable's four bytes of attributes, then its one byte.
  tree.File("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
            std::string("\x06\0\0\0", 4) + static_cast<char>(spec.host.secure_boot ? 1 : 0), 0444);
  for (const char* folder : {"/sys/fs/cgroup", "/sys/kernel/mm", "/sys/class/net", "/sys/block"}) tree.Folder(folder);
}

void RenderSysModules(const Spec& spec, const layout::Machine& machine, Tree& tree) {
  if (!DriverLoaded(spec, machine)) return;
  struct Module {
    const char* name;
    int references;
  };
  for (const Module& module : {Module{"nvidia", 2}, {"nvidia_uvm", 0}, {"nvidia_modeset", 1}, {"nvidia_drm", 0}}) {
    const std::string at = fmt::format("/sys/module/{}", module.name);
    tree.File(at + "/version", LoadedVersion(spec, machine) + "\n", 0444);
    tree.File(at + "/refcnt", fmt::format("{}\n", module.references), 0444);
    tree.File(at + "/initstate", "live\n", 0444);
    tree.File(at + "/taint", spec.driver.kernel_module == KernelModule::kOpen ? "OE\n" : "POE\n", 0444);
  }
  tree.Link("/sys/module/nvidia/drivers/pci:nvidia", "../../../bus/pci/drivers/nvidia");
  tree.Folder("/sys/module/nvidia/holders/nvidia_uvm");
  tree.Folder("/sys/module/nvidia/holders/nvidia_modeset");
  tree.File("/sys/module/nvidia/parameters/NVreg_RestrictProfilingToAdminUsers", "1\n", 0444);
}

}  // namespace gpuop::machine
