#include "container/runtime/image.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "container/cdi/names.h"
#include "container/oci/spec.h"

namespace gpuop::container {
namespace {

constexpr std::string_view kMountRoot = "/var/run/nvidia-container-devices";

std::vector<std::string> Parts(std::string_view list) {
  std::vector<std::string> out;
  for (const std::string_view part : Split(list, ',')) out.emplace_back(Trim(part));
  return out;
}

/// "cdi/vendor/class/device" is a qualified name.
std::string MountedDevice(const std::string& id) {
  if (!id.starts_with("cdi/")) return id;
  const std::vector<std::string_view> parts = Split(std::string_view(id).substr(4), '/');
  if (parts.size() != 3) return id;
  return std::string(parts[0]) + "/" + std::string(parts[1]) + "=" + std::string(parts[2]);
}

/// Without doubles, and with empty entries only where there is nothing else.
std::vector<std::string> Distinct(const std::vector<std::string>& items) {
  std::vector<std::string> out;
  for (const std::string& item : items)
    if (!item.empty() && std::ranges::find(out, item) == out.end()) out.push_back(item);
  return out;
}

}  // namespace

std::optional<std::string> ContainerImage::Env(std::string_view name) const { return OciEnv(oci_, name); }

bool ContainerImage::privileged() const {
  const data::JsonArray* bounding = data::GetArray(oci_, "process.capabilities.bounding");
  return bounding != nullptr && std::ranges::find(*bounding, data::Json("CAP_SYS_ADMIN")) != bounding->end();
}

bool ContainerImage::legacy() const {
  return Env("CUDA_VERSION").has_value() && !Env("NVIDIA_REQUIRE_CUDA").has_value();
}

std::vector<std::string> ContainerImage::FromAnnotations() const {
  std::map<std::string, std::string> found;
  const data::JsonObject* annotations = data::GetObject(oci_, "annotations");
  if (annotations == nullptr) return {};
  for (const auto& member : *annotations)
    for (const std::string& prefix : config_.runtime.modes.cdi.annotation_prefixes)
      if (member.key().starts_with(prefix) && member.value().is_string())
        found[std::string(member.key())] = data::AsView(member.value().get_string());
  std::vector<std::string> out;
  for (const auto& [key, value] : found)
    for (std::string& device : Parts(value)) out.push_back(std::move(device));
  return Distinct(out);
}

std::vector<std::string> ContainerImage::FromMounts(bool imex) const {
  std::vector<std::string> out;
  const data::JsonArray* mounts = data::GetArray(oci_, "mounts");
  if (mounts == nullptr) return out;
  for (const data::Json& mount : *mounts) {
    if (data::StringOr(mount, "source") != "/dev/null") continue;
    const std::string_view destination = data::StringOr(mount, "destination");
    if (!destination.starts_with(kMountRoot) || destination.substr(kMountRoot.size(), 1) != "/") continue;
    const std::string id(destination.substr(kMountRoot.size() + 1));
    if (id.empty() || id.starts_with("imex/") != imex) continue;
    out.push_back(imex ? id.substr(5) : MountedDevice(id));
  }
  return Distinct(out);
}

std::vector<std::string> ContainerImage::FromEnv() const {
  std::vector<std::string> swarm;
  bool any = false;
  for (const std::string& name : Parts(config_.swarm_resource)) {
    const auto value = name.empty() ? std::nullopt : Env(name);
    if (!value) continue;
    any = true;
    for (std::string& item : Parts(*value)) swarm.push_back(std::move(item));
  }
  if (any) return Distinct(swarm);
  const auto value = Env("NVIDIA_VISIBLE_DEVICES");
  if (!value) return legacy() ? std::vector<std::string>{"all"} : std::vector<std::string>();
  if (value->empty() || *value == "void") return {};
  if (*value == "none") return {""};
  return Distinct(Parts(*value));
}

std::vector<std::string> ContainerImage::Devices(bool annotations) const {
  if (annotations)
    if (std::vector<std::string> found = FromAnnotations(); !found.empty()) return found;
  if (config_.accept_volume_mounts)
    if (std::vector<std::string> found = FromMounts(false); !found.empty()) return found;
  if (!privileged() && !config_.accept_env_when_unprivileged) return {};
  return FromEnv();
}

std::vector<std::string> ContainerImage::ImexChannels() const {
  if (config_.features.ignore_imex_channel_requests) return {};
  std::vector<std::string> out;
  if (config_.accept_volume_mounts) out = FromMounts(true);
  if (out.empty() && (privileged() || config_.accept_env_when_unprivileged))
    out = Distinct(Parts(Env("NVIDIA_IMEX_CHANNELS").value_or("")));
  std::erase(out, "all");
  return out;
}

Result<std::vector<std::string>> ContainerImage::Requirements() const {
  if (config_.disable_require || ParseBool(Env("NVIDIA_DISABLE_REQUIRE").value_or("")).value_or(false))
    return std::vector<std::string>();
  std::set<std::string> out;
  if (const data::JsonArray* env = data::GetArray(oci_, "process.env"))
    for (const data::Json& item : *env) {
      if (!item.is_string()) continue;
      const auto parts = Cut(data::AsView(item.get_string()), '=');
      if (parts && parts->first.starts_with("NVIDIA_REQUIRE_") && !parts->first.starts_with("NVIDIA_REQUIRE_JETPACK"))
        out.emplace(parts->second);
    }
  if (legacy()) {
    ASSIGN(const std::string version, MajorMinor(*Env("CUDA_VERSION")));
    out.insert("cuda>=" + version);
  }
  return std::vector<std::string>(out.begin(), out.end());
}

Result<std::vector<std::string>> ContainerImage::Capabilities() const {
  const std::vector<std::string> supported = Distinct(Parts(config_.supported_driver_capabilities));
  const auto asked = Env("NVIDIA_DRIVER_CAPABILITIES");
  std::vector<std::string> wanted;
  if (!asked && legacy()) {
    wanted = supported;
  } else if (!asked || Trim(*asked).empty()) {
    for (const char* name : {"compute", "utility"})
      if (asked || std::ranges::find(supported, name) != supported.end()) wanted.emplace_back(name);
  } else {
    wanted = Distinct(Parts(*asked));
    if (std::ranges::find(wanted, "all") != wanted.end()) wanted = supported;
  }
  for (const std::string& name : wanted)
    if (std::ranges::find(supported, name) == supported.end())
      return Fail(Code::kInvalid, "unsupported capabilities found in " + Quote(asked.value_or("")) + " (allowed " +
                                      Quote(config_.supported_driver_capabilities) + "): " + Quote(name));
  std::ranges::sort(wanted);
  return wanted;
}

Result<std::vector<std::string>> QualifiedDevices(const std::vector<std::string>& devices, const std::string& kind) {
  std::vector<std::string> out;
  bool runtime = false, other = false;
  for (const std::string& device : devices) {
    std::string name = device.empty() ? kind + "=none" : IsCdiName(device) ? device : kind + "=" + device;
    (name.starts_with("runtime.nvidia.com/gpu=") ? runtime : other) = true;
    if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
  }
  if (runtime && other)
    return Fail(Code::kInvalid,
                "devices of runtime.nvidia.com/gpu cannot be mixed with other CDI devices: " + Join(out, ", "));
  return out;
}

}  // namespace gpuop::container
