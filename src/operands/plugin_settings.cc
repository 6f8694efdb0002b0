#include "operands/plugin_settings.h"

#include <algorithm>

#include "base/text.h"
#include "data/glob.h"
#include "data/names.h"
#include "data/reader.h"
#include "data/yaml.h"
#include "gpu/mig_name.h"

namespace gpuop::operands {
namespace {

constexpr std::string_view kPrefix = "nvidia.com/";
constexpr std::size_t kLongestResource = 63;

/// Where fields belong that people put elsewhere.
const std::map<std::string, std::string_view, std::less<>>& Places() {
  static const std::map<std::string, std::string_view, std::less<>> places = {
      {"migStrategy", "flags.migStrategy"},
      {"failOnInitError", "flags.failOnInitError"},
      {"mpsRoot", "flags.mpsRoot"},
      {"nvidiaDriverRoot", "flags.nvidiaDriverRoot"},
      {"nvidiaDevRoot", "flags.nvidiaDevRoot"},
      {"gdrcopyEnabled", "flags.gdrcopyEnabled"},
      {"gdsEnabled", "flags.gdsEnabled"},
      {"mofedEnabled", "flags.mofedEnabled"},
      {"deviceDiscoveryStrategy", "flags.deviceDiscoveryStrategy"},
      {"passDeviceSpecs", "flags.plugin.passDeviceSpecs"},
      {"deviceListStrategy", "flags.plugin.deviceListStrategy"},
      {"deviceIDStrategy", "flags.plugin.deviceIDStrategy"},
      {"containerDriverRoot", "flags.plugin.containerDriverRoot"},
      {"cdiAnnotationPrefix", "flags.plugin.cdiAnnotationPrefix"},
      {"nvidiaCTKPath", "flags.plugin.nvidiaCTKPath"},
      {"sharedDevicesAllocationPolicy", "flags.plugin.sharedDevicesAllocationPolicy"},
      {"oneshot", "flags.gfd.oneshot"},
      {"noTimestamp", "flags.gfd.noTimestamp"},
      {"sleepInterval", "flags.gfd.sleepInterval"},
      {"outputFile", "flags.gfd.outputFile"},
      {"machineTypeFile", "flags.gfd.machineTypeFile"},
      {"timeSlicing", "sharing.timeSlicing"},
      {"mps", "sharing.mps"},
      {"channelIDs", "imex.channelIDs"},
      {"gpus", "resources.gpus"},
      {"xids", "health.xids"},
      {"replicas", "sharing.timeSlicing.resources[].replicas"},
      {"renameByDefault", "sharing.timeSlicing.renameByDefault"},
      {"failRequestsGreaterThanOne", "sharing.timeSlicing.failRequestsGreaterThanOne"},
  };
  return places;
}

Error UnknownField(const std::string& path) {
  const std::string name = path.substr(path.rfind('.') + 1);  // no dot: npos + 1 is 0
  std::string text = path + ": unknown field";
  if (const auto place = Places().find(name); place != Places().end())
    text += "; it belongs to " + std::string(place->second);
  return {Code::kInvalid, std::move(text)};
}

Result<> CheckDevices(const data::Json& devices, const std::string& path) {
  const auto bad = [&](std::string_view what) {
    return Fail(Code::kInvalid,
                path + ": expected \"all\", a positive count, or a list of devices, " + std::string(what));
  };
  if (devices.is_null()) return {};
  if (devices.is_string()) return data::AsView(devices.get_string()) == "all" ? Result<>() : bad("got another text");
  if (devices.is_int64()) return devices.get_int64() > 0 ? Result<>() : bad("got a number below 1");
  if (!devices.is_array()) return bad("got " + std::string(data::KindName(devices)));
  for (const data::Json& entry : devices.get_array()) {
    if (entry.is_int64() && entry.get_int64() >= 0) continue;
    if (!entry.is_string()) return bad("got a list holding " + std::string(data::KindName(entry)));
    const std::string_view text = data::AsView(entry.get_string());
    const auto pair = Cut(text, ':');
    const auto index = ParseInt(pair ? pair->first : text);
    const auto mig = pair ? ParseInt(pair->second) : std::optional<std::int64_t>(0);
    const bool is_index = index && *index >= 0 && mig && *mig >= 0;
    const bool is_uuid = (text.starts_with("GPU-") && text.size() == 40) ||
                         (text.starts_with("MIG-") && text.size() >= 40 && !text.starts_with("MIG-GPU-")) ||
                         (text.starts_with("MIG-GPU-") && std::ranges::count(text, '/') == 2);
    if (!is_index && !is_uuid) return bad("got a list holding " + Quote(text));
  }
  return {};
}

Result<> CheckBlock(std::optional<SharingBlock>& block, const std::string& path) {
  if (!block) return {};
  if (block->resources.empty()) return Fail(Code::kInvalid, path + ".resources: must name at least one resource");
  for (std::size_t i = 0; i < block->resources.size(); ++i) {
    SharedResource& resource = block->resources[i];
    const std::string here = path + ".resources[" + std::to_string(i) + "]";
    if (resource.name.empty()) return Fail(Code::kInvalid, here + ".name: must be given");
    ASSIGN(resource.name, WholeResourceName(resource.name, here + ".name"));
    // One container alone is no sharing, and a way to say so.
    if (resource.replicas < 1)
      return Fail(Code::kInvalid, here + ".replicas: must be 1 or more, is " + std::to_string(resource.replicas));
    TRY(CheckDevices(resource.devices, here + ".devices"));
    for (std::size_t other = 0; other < i; ++other)
      if (block->resources[other].name == resource.name)
        return Fail(Code::kInvalid,
                    here + ".name: " + resource.name + " is in the list already, at [" + std::to_string(other) + "]");
    if (!resource.rename.empty()) {
      ASSIGN(resource.rename, WholeResourceName(resource.rename, here + ".rename"));
    }
  }
  return {};
}

Result<> CheckNames(std::vector<ResourceNames::Pattern>& patterns, const std::string& path) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const std::string here = path + "[" + std::to_string(i) + "]";
    if (patterns[i].pattern.empty()) return Fail(Code::kInvalid, here + ".pattern: must be given");
    if (patterns[i].name.empty()) return Fail(Code::kInvalid, here + ".name: must be given");
    ASSIGN(patterns[i].name, WholeResourceName(patterns[i].name, here + ".name"));
  }
  return {};
}

std::string NameFor(const std::vector<ResourceNames::Pattern>& patterns, std::string_view text, std::string otherwise) {
  for (const ResourceNames::Pattern& pattern : patterns)
    if (data::MatchWildcard(pattern.pattern, text)) return pattern.name;
  return otherwise;
}

bool Shares(const std::optional<SharingBlock>& block) {
  return block && std::ranges::any_of(block->resources, [](const SharedResource& r) { return r.replicas > 1; });
}

}  // namespace

Result<std::string> WholeResourceName(std::string name, const std::string& path) {
  if (!name.starts_with(kPrefix)) name.insert(0, kPrefix);
  const std::string_view tail = std::string_view(name).substr(kPrefix.size());
  if (name.size() > kLongestResource || !data::CheckDnsSubdomain(tail).empty())
    return Fail(Code::kInvalid, path + ": " + Quote(name) +
                                    " is no resource name: at most 63 characters, and a DNS name after nvidia.com/");
  return name;
}

std::string ResourceNames::OfGpu(std::string_view product) const {
  return NameFor(gpus, product, std::string(kPrefix) + "gpu");
}

std::string ResourceNames::OfMig(std::string_view profile) const {
  return NameFor(mig, profile, std::string(kPrefix) + "mig-" + gpu::ToResourceText(profile));
}

Result<PluginSettings> ParsePluginSettings(std::string_view text, const std::string& file) {
  const auto parse = [&]() -> Result<PluginSettings> {
    ASSIGN(const data::Json json, data::ParseYaml(text));
    if (json.is_null()) return PluginSettings();
    std::vector<std::string> unknown;
    ASSIGN(PluginSettings settings, data::ReadAs<PluginSettings>(json, &unknown));
    if (!unknown.empty()) return std::unexpected(UnknownField(unknown.front()));
    if (!settings.version.empty() && settings.version != "v1")
      return Fail(Code::kInvalid, "version: " + Quote(settings.version) + " is unknown; only v1 is");
    TRY(CheckNames(settings.resources.gpus, "resources.gpus"));
    TRY(CheckNames(settings.resources.mig, "resources.mig"));
    TRY(CheckBlock(settings.sharing.time_slicing, "sharing.timeSlicing"));
    TRY(CheckBlock(settings.sharing.mps, "sharing.mps"));
    return settings;
  };
  auto settings = parse();
  if (!settings) return std::unexpected(std::move(settings).error().During(file));
  return settings;
}

Result<PluginSettings> ReadPluginSettings(const os::Fs& fs, const std::string& file) {
  if (const auto target = fs.Resolve(file); target && *target == "/dev/null") return PluginSettings();
  ASSIGN(const std::string text, fs.Read(file));
  return ParsePluginSettings(text, file);
}

std::string_view Name(SharingStrategy strategy) {
  constexpr std::string_view kNames[] = {"none", "time-slicing", "mps"};
  return kNames[static_cast<std::size_t>(strategy)];
}

SharingStrategy StrategyOf(const PluginSettings::Sharing& sharing) {
  if (Shares(sharing.mps)) return SharingStrategy::kMps;
  return Shares(sharing.time_slicing) ? SharingStrategy::kTimeSlicing : SharingStrategy::kNone;
}

SharedEntry FindShared(const PluginSettings::Sharing& sharing, std::string_view resource) {
  const auto& block = sharing.mps ? sharing.mps : sharing.time_slicing;
  if (!block) return {};
  const auto it = std::ranges::find(block->resources, resource, &SharedResource::name);
  if (it == block->resources.end() || it->replicas < 2) return {};
  return {.block = &*block,
          .resource = &*it,
          .strategy = sharing.mps ? SharingStrategy::kMps : SharingStrategy::kTimeSlicing};
}

std::string SharedName(const SharingBlock& block, const SharedResource& resource) {
  if (!resource.rename.empty()) return resource.rename;
  return block.rename_by_default ? resource.name + ".shared" : resource.name;
}

ResourceSharing SharingOf(const PluginSettings::Sharing& sharing, std::string_view resource) {
  const SharedEntry entry = FindShared(sharing, resource);
  if (entry.resource == nullptr) return {};
  return {.strategy = entry.strategy,
          .replicas = entry.resource->replicas,
          .renamed = SharedName(*entry.block, *entry.resource) != resource};
}

}  // namespace gpuop::operands
