#include "operands/device_plugin/shares.h"

#include <algorithm>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::operands::device_plugin {
namespace {

std::string EntryText(const data::Json& entry) {
  return entry.is_string() ? std::string(data::AsView(entry.get_string()))
                           : std::to_string(entry.to_number<std::int64_t>());
}

/// Which of the units are shared.
std::vector<bool> Chosen(const std::vector<Unit>& units, const SharedResource& resource,
                         std::vector<std::string>& warnings) {
  const data::Json& devices = resource.devices;
  if (devices.is_null() || devices.is_string()) return std::vector<bool>(units.size(), true);
  std::vector<bool> out(units.size(), false);
  if (devices.is_int64()) {
    const auto count = static_cast<std::size_t>(devices.get_int64());
    std::fill_n(out.begin(), std::min(count, out.size()), true);
    if (count > units.size())
      warnings.push_back("sharing: " + resource.name + " has " + std::to_string(units.size()) + " devices, not " +
                         std::to_string(count));
    return out;
  }
  for (const data::Json& entry : devices.get_array()) {
    const std::string text = EntryText(entry);
    const auto it = std::ranges::find_if(units, [&](const Unit& unit) { return Means(text, unit); });
    if (it == units.end())
      warnings.push_back("sharing: " + resource.name + " has no device " + Quote(text));
    else
      out[static_cast<std::size_t>(it - units.begin())] = true;
  }
  return out;
}

}  // namespace

std::optional<LegacyMigId> ParseLegacyMigId(std::string_view text) {
  if (!text.starts_with("MIG-GPU-")) return std::nullopt;
  const auto parts = Split(text, '/');
  if (parts.size() != 3) return std::nullopt;
  const auto gi = ParseInt(parts[1]), ci = ParseInt(parts[2]);
  if (!gi || !ci || *gi < 0 || *ci < 0 || *gi > UINT32_MAX || *ci > UINT32_MAX) return std::nullopt;
  return LegacyMigId{std::string(parts[0].substr(4)), static_cast<unsigned>(*gi), static_cast<unsigned>(*ci)};
}

bool Means(std::string_view entry, const Unit& unit) {
  if (entry == unit.uuid || entry == unit.index) return true;
  const auto legacy = ParseLegacyMigId(entry);
  return legacy && legacy->gpu == unit.gpu && legacy->gpu_instance == unit.gpu_instance &&
         legacy->compute_instance == unit.compute_instance;
}

std::vector<Resource> ShareOut(std::map<std::string, std::vector<Unit>> plain, const PluginSettings::Sharing& sharing,
                               std::vector<std::string>& warnings) {
  std::map<std::string, Resource> out;
  for (auto& [name, units] : plain) {
    const SharedEntry entry = FindShared(sharing, name);
    const std::vector<bool> chosen =
        entry.resource == nullptr ? std::vector<bool>(units.size(), false) : Chosen(units, *entry.resource, warnings);
    const std::string shared_name = entry.resource == nullptr ? name : SharedName(*entry.block, *entry.resource);
    const bool one_share_only = entry.resource != nullptr && entry.block->fail_requests_greater_than_one.value_or(
                                                                 entry.strategy == SharingStrategy::kMps);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const bool shared = chosen[i] && !(entry.strategy == SharingStrategy::kMps && units[i].is_mig());
      if (chosen[i] && !shared)
        warnings.push_back("sharing.mps: MPS cannot share MIG device " + units[i].uuid + ": it is offered whole");
      if (shared) {
        units[i].replicas = static_cast<unsigned>(entry.resource->replicas);
        units[i].shared = true;
      }
      const std::string& as = shared ? shared_name : name;
      Resource& resource = out[as];
      resource.name = as;
      if (shared) {
        resource.sharing = entry.strategy;
        resource.one_share_only = one_share_only;
      }
      resource.units.push_back(std::move(units[i]));
    }
  }
  std::vector<Resource> list;
  for (auto& [name, resource] : out) list.push_back(std::move(resource));
  return list;
}

}  // namespace gpuop::operands::device_plugin
