#include "machine/show.h"

#include <fmt/core.h>

#include "machine/faults/fault.h"
#include "machine/host/render.h"
#include "machine/state/clients.h"
#include "machine/state/mig.h"

namespace gpuop::machine {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;

std::string ShowInstances(const layout::Device& device) {
  std::string out;
  for (std::uint32_t g = 0; g < layout::kMaxGpuInstances; ++g) {
    const layout::GpuInstance& instance = device.instances[g];
    if (instance.in_use == 0) continue;
    out += fmt::format("     GPU instance {} {} at {}:{}", g, ProfileOf(device, instance).name, instance.start,
                       instance.size);
    for (std::uint32_t c = 0; c < layout::kMaxComputeInstances; ++c)
      if (instance.compute[c].in_use != 0)
        out += fmt::format(", compute instance {} {}", c, MigProfileName(device, g, c));
    out += '\n';
  }
  return out;
}

}  // namespace

std::string ShowMachine(const layout::Machine& machine) {
  std::string out = fmt::format("{}: driver {}, boot {}\n", machine.name.view(),
                                machine.driver_version.empty() ? "none" : machine.driver_version.view(), machine.boots);
  for (std::uint32_t i = 0; i < machine.device_count; ++i) {
    const layout::Device& device = machine.devices[i];
    out += fmt::format("{:>2}  {}  {}  {}  {} of {} MiB  {} C  {} W{}\n", i, AddressOf(device.facts),
                       device.facts.name.view(), device.facts.uuid.view(), BytesUsed(machine, {.device = i}) / kMiB,
                       device.facts.memory_bytes / kMiB, device.temperature_c, device.power_mw / 1000,
                       device.mig_current != device.mig_pending ? "  MIG change pending"
                       : device.mig_current != 0                ? "  MIG"
                                                                : "");
    out += ShowInstances(device);
  }
  for (std::uint32_t i = 0; i < machine.clients_end; ++i)
    if (const layout::Client& client = machine.clients[i]; client.in_use != 0)
      out += fmt::format("process {} {} on GPU {}: {} MiB\n", client.pid, client.name.view(), client.device,
                         client.bytes / kMiB);
  for (const Fault& fault : Standing(machine)) {
    out += "fault " + fault.fault;
    if (fault.gpu) out += fmt::format(" gpu={}", *fault.gpu);
    if (fault.value) out += fmt::format(" value={}", *fault.value);
    if (!fault.call.empty()) out += " call=" + fault.call;
    out += '\n';
  }
  return out;
}

}  // namespace gpuop::machine
