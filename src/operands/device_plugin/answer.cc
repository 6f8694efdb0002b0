#include "operands/device_plugin/answer.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::operands::device_plugin {
namespace {

constexpr std::string_view kVolumes = "/var/run/nvidia-container-devices";
constexpr std::string_view kChannelNode = "/dev/nvidia-caps-imex-channels/channel";

const Unit* FindUnit(const Resource& resource, std::string_view id) {
  const std::string_view uuid = UuidOf(id);
  const auto it = std::ranges::find(resource.units, uuid, &Unit::uuid);
  return it == resource.units.end() ? nullptr : &*it;
}

bool Has(const Resource& resource, std::string_view id) {
  const Unit* const unit = FindUnit(resource, id);
  if (unit == nullptr) return false;
  if (!unit->shared) return id == unit->uuid;
  if (id.size() < unit->uuid.size() + 3) return false;
  const auto share = ParseInt(id.substr(unit->uuid.size() + 2));
  return share && *share >= 0 && *share < unit->replicas;
}

/// The units behind the ids, each once, in the order asked.
std::vector<const Unit*> UnitsOf(const Resource& resource, const std::vector<std::string>& ids) {
  std::vector<const Unit*> out;
  for (const std::string& id : ids)
    if (const Unit* const unit = FindUnit(resource, id); unit != nullptr && std::ranges::find(out, unit) == out.end())
      out.push_back(unit);
  return out;
}

class Maker {
 public:
  Maker(const Resource& resource, const Settings& settings, const Extras& extras)
      : resource_(resource), settings_(settings), extras_(extras) {}

  Answer Make(const std::vector<const Unit*>& units, const std::string& fresh) {
    for (const Unit* unit : units) names_.push_back(settings_.ids == IdStrategy::kIndex ? unit->index : unit->uuid);
    if (settings_.UsesCdi()) AddCdi(fresh);
    if (resource_.sharing == SharingStrategy::kMps && std::ranges::any_of(units, &Unit::shared)) AddMps();
    if (settings_.gdrcopy) out_.env["NVIDIA_GDRCOPY"] = "enabled";
    if (settings_.gds) out_.env["NVIDIA_GDS"] = "enabled";
    if (settings_.mofed) out_.env["NVIDIA_MOFED"] = "enabled";
    if (settings_.OnlyCdi()) return std::move(out_);
    if (settings_.Uses(ListStrategy::kEnvvar)) AddVariables();
    if (settings_.Uses(ListStrategy::kVolumeMounts)) AddVolumes();
    if (settings_.pass_device_specs) AddNodes(units);
    return std::move(out_);
  }

 private:
  void AddCdi(const std::string& fresh) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& device) { names.push_back(std::string(kCdiVendor) + "/" + device); };
    for (const std::string& name : names_) add("gpu=" + name);
    if (names_.empty()) return;
    for (const unsigned channel : extras_.imex_channels) add("imex-channel=" + std::to_string(channel));
    for (const std::string& device : extras_.cdi_devices) add(device);
    if (settings_.Uses(ListStrategy::kCdiAnnotations))
      out_.annotations[settings_.cdi_annotation_prefix + "nvidia-device-plugin_" + fresh] = Join(names, ",");
    if (settings_.Uses(ListStrategy::kCdiCri)) out_.cdi_devices = std::move(names);
  }

  void AddMps() {
    const std::string pipe = "/mps/" + resource_.name + "/pipe";
    out_.env["CUDA_MPS_PIPE_DIRECTORY"] = pipe;
    out_.mounts.push_back({pipe, settings_.mps_root + "/" + resource_.name + "/pipe"});
    out_.mounts.push_back({"/dev/shm", settings_.mps_root + "/shm"});
  }

  void AddVariables() {
    out_.env["NVIDIA_VISIBLE_DEVICES"] = Join(names_, ",");
    if (extras_.imex_channels.empty()) return;
    std::vector<std::string> channels;
    for (const unsigned channel : extras_.imex_channels) channels.push_back(std::to_string(channel));
    out_.env["NVIDIA_IMEX_CHANNELS"] = Join(channels, ",");
  }

  void AddVolumes() {
    out_.env["NVIDIA_VISIBLE_DEVICES"] = kVolumes;
    const auto add = [&](const std::string& name) {
      out_.mounts.push_back({std::string(kVolumes).append("/").append(name), "/dev/null"});
    };
    for (const std::string& name : names_) add(name);
    for (const unsigned channel : extras_.imex_channels) add("imex/" + std::to_string(channel));
  }

  void AddNode(const std::string& path) {
    const std::string host = settings_.dev_root == "/" ? path : settings_.dev_root + path;
    if (std::ranges::find(out_.nodes, path, &Answer::Mount::container_path) == out_.nodes.end())
      out_.nodes.push_back({path, host});
  }

  void AddNodes(const std::vector<const Unit*>& units) {
    for (const std::string& path : extras_.control_nodes) AddNode(path);
    for (const Unit* unit : units)
      for (const std::string& path : unit->nodes) AddNode(path);
    for (const unsigned channel : extras_.imex_channels) AddNode(std::string(kChannelNode) + std::to_string(channel));
  }

  const Resource& resource_;
  const Settings& settings_;
  const Extras& extras_;
  std::vector<std::string> names_;
  Answer out_;
};

}  // namespace

Result<> CheckRequest(const Resource& resource, const std::vector<std::string>& ids) {
  const auto invalid = [&](const std::string& why) {
    return Fail(Code::kIo, "invalid allocation request for " + Quote(resource.name) + ": invalid request: " + why);
  };
  for (const std::string& id : ids)
    if (!Has(resource, id)) return invalid("unknown device: " + id);
  const bool shares = std::ranges::any_of(ids, [&](const std::string& id) { return FindUnit(resource, id)->shared; });
  if (resource.one_share_only && shares && ids.size() > 1)
    return invalid("maximum request size for shared resources is 1; found " + std::to_string(ids.size()));
  return {};
}

Answer MakeAnswer(const Resource& resource, const std::vector<std::string>& ids, const Settings& settings,
                  const Extras& extras, const std::string& fresh) {
  return Maker(resource, settings, extras).Make(UnitsOf(resource, ids), fresh);
}

}  // namespace gpuop::operands::device_plugin
