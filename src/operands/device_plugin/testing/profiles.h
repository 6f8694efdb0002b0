#pragma once
// GPUs for tests: the machines on which NVIDIA's answers were recorded, and others.

#include <string>
#include <string_view>

#include "gpu/inventory.h"
#include "operands/device_plugin/resources.h"

namespace gpuop::operands::device_plugin {

/// "a100", "gb200", …: 8 GPUs without MIG devices, on two NUMA nodes, neighbours behind one PCIe switch.
gpu::Inventory MachineOf(std::string_view profile);

/// GPU `index` in MIG mode with the devices that the text names: "3g.20gb,2g.10gb,1g.5gb*2", or "1c.3g.20gb*3", or "on"
/// for none. UUIDs are MIG-<gpu>-<gi>-<ci>.
void SetMig(gpu::Inventory& inventory, std::size_t index, std::string_view text);

/// Numbers as the driver gives them: 3 + 9 gi (+ 1 + ci), 135 a GPU.
MigMinors MinorsOf(const gpu::Inventory& inventory);

/// "a b c" of the parts' ids, with "!" after those that are not healthy.
std::string Words(const std::vector<std::string>& list);

/// Settings of a command line and a settings file's text; a failure ends the test.
Settings SettingsOf(const std::vector<std::string>& args, const char* file = nullptr);
Result<Settings> TrySettings(const std::vector<std::string>& args, const char* file = nullptr,
                             const std::map<std::string, std::string>& env = {});

}  // namespace gpuop::operands::device_plugin
