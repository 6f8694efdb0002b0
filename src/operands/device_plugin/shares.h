#pragma once
// Sharing: which units of which resource several containers may have, and by what name.

#include <map>
#include <string>
#include <vector>

#include "operands/device_plugin/resources.h"

namespace gpuop::operands::device_plugin {

/// The resources with their units' shares. Where the settings name devices ("devices: [0, GPU-…]", or the first N),
/// only those are shared; the others stay whole, under the plain name. `warnings` hears of devices that are not there
/// and of MIG devices that MPS cannot serve.
std::vector<Resource> ShareOut(std::map<std::string, std::vector<Unit>> plain, const PluginSettings::Sharing& sharing,
                               std::vector<std::string>& warnings);

/// Whether an entry of a "devices" list means this unit: an index, "GPU:MIG", a UUID, or the older form of a MIG
/// device's, MIG-GPU-…/GI/CI.
bool Means(std::string_view entry, const Unit& unit);

/// The older form of a MIG device's UUID, taken apart; nullopt for anything else.
struct LegacyMigId {
  std::string gpu;
  unsigned gpu_instance = 0, compute_instance = 0;
};
std::optional<LegacyMigId> ParseLegacyMigId(std::string_view text);

}  // namespace gpuop::operands::device_plugin
