#include "sim/node/devices/device_table.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::sim::node {
namespace {

using data::Json;
using data::JsonArray;
using data::JsonObject;

constexpr std::int64_t kNoNuma = -1;

/// {"-1": [ids]}: devices by NUMA node, as the checkpoint has them.
JsonObject ByNuma(const DeviceGrant& grant, const std::map<std::string, DeviceInfo>* known) {
  std::map<std::int64_t, JsonArray> nodes;
  for (const std::string& id : grant.ids) {
    const auto device = known == nullptr ? decltype(known->end())() : known->find(id);
    const bool placed = known != nullptr && device != known->end() && !device->second.numa.empty();
    nodes[placed ? device->second.numa.front() : kNoNuma].emplace_back(id);
  }
  JsonObject out;
  for (auto& [node, ids] : nodes) out[std::to_string(node)] = std::move(ids);
  return out;
}

}  // namespace

void DeviceTable::AddResource(const std::string& resource) { resources_[resource]; }

void DeviceTable::SetDevices(const std::string& resource, std::map<std::string, DeviceInfo> devices) {
  resources_[resource] = std::move(devices);
}

void DeviceTable::MarkUnhealthy(const std::string& resource) {
  const auto it = resources_.find(resource);
  if (it == resources_.end()) return;
  for (auto& [id, device] : it->second) device.healthy = false;
}

void DeviceTable::RemoveResource(const std::string& resource) { resources_.erase(resource); }

const std::map<std::string, DeviceInfo>* DeviceTable::Devices(const std::string& resource) const {
  const auto it = resources_.find(resource);
  return it == resources_.end() ? nullptr : &it->second;
}

std::map<std::string, DeviceAmounts> DeviceTable::Amounts() const {
  std::map<std::string, DeviceAmounts> out;
  for (const auto& [resource, devices] : resources_) {
    DeviceAmounts& a = out[resource];
    a.capacity = std::ssize(devices);
    a.allocatable = std::ranges::count_if(devices, [](const auto& d) { return d.second.healthy; });
  }
  return out;
}

Result<DeviceTable::Choice> DeviceTable::Choose(const std::string& pod, const std::string& container,
                                                const std::string& resource, std::size_t required) const {
  std::set<std::string> taken;
  const DeviceGrant* own = nullptr;
  for (const DeviceGrant& g : grants_) {
    if (g.resource != resource) continue;
    taken.insert(g.ids.begin(), g.ids.end());
    if (g.pod == pod && g.container == container) own = &g;
  }
  if (own != nullptr && own->ids.size() != required)
    return Fail(Code::kInvalid, "pod " + Quote(pod) + " container " + Quote(container) +
                                    " changed request for resource " + Quote(resource) + " from " +
                                    std::to_string(own->ids.size()) + " to " + std::to_string(required));
  const auto* devices = Devices(resource);
  if (devices == nullptr) return Fail(Code::kUnavailable, "cannot allocate unregistered device " + resource);
  const auto healthy = [&](const std::string& id) {
    const auto it = devices->find(id);
    return it != devices->end() && it->second.healthy;
  };
  if (std::ranges::none_of(*devices, [](const auto& d) { return d.second.healthy; }))
    return Fail(Code::kUnavailable, "no healthy devices present; cannot allocate unhealthy devices " + resource);
  if (own != nullptr && !std::ranges::all_of(own->ids, healthy))
    return Fail(Code::kUnavailable,
                "previously allocated devices are no longer healthy; cannot allocate unhealthy devices " + resource);
  if (own != nullptr) return Choice{};
  Choice out{.available = {}, .needed = required};
  for (const auto& [id, device] : *devices)
    if (device.healthy && !taken.contains(id)) out.available.push_back(id);
  if (out.available.size() < required)
    return Fail(Code::kUnavailable, "requested number of devices unavailable for " + resource +
                                        ". Requested: " + std::to_string(required) +
                                        ", Available: " + std::to_string(out.available.size()));
  return out;
}

void DeviceTable::Grant(DeviceGrant grant) { grants_.push_back(std::move(grant)); }

void DeviceTable::Keep(const std::set<std::string>& active) {
  std::erase_if(grants_, [&](const DeviceGrant& g) { return !active.contains(g.pod); });
}

std::string DeviceTable::ToCheckpoint() const {
  JsonArray entries;
  for (const DeviceGrant& g : grants_)
    entries.push_back(JsonObject{{"PodUID", g.pod},
                                 {"ContainerName", g.container},
                                 {"ResourceName", g.resource},
                                 {"DeviceIDs", ByNuma(g, Devices(g.resource))},
                                 {"AllocResp", Base64Encode(g.response)}});
  JsonObject registered;
  for (const auto& [resource, devices] : resources_) {
    JsonArray ids;
    for (const auto& [id, device] : devices)
      if (device.healthy) ids.emplace_back(id);
    registered[resource] = std::move(ids);
  }
  JsonObject data{{"PodDeviceEntries", std::move(entries)}, {"RegisteredDevices", std::move(registered)}};
  const std::string text = data::ToJson(data);
  return data::ToJson(
      JsonObject{{"Data", std::move(data)}, {"Checksum", static_cast<std::int64_t>(Hash64(text) & 0xffffffff)}});
}

Result<> DeviceTable::ReadCheckpoint(std::string_view text) {
  ASSIGN(const Json file, data::ParseJson(text));
  const JsonObject* data = data::GetObject(file, "Data");
  if (data == nullptr) return Fail(Code::kInvalid, "Data: expected an object");
  if (data::IntOr(file, "Checksum") != static_cast<std::int64_t>(Hash64(data::ToJson(*data)) & 0xffffffff))
    return Fail(Code::kInvalid, "checkpoint is corrupted");
  grants_.clear();
  resources_.clear();
  if (const JsonArray* entries = data::GetArray(file, "Data.PodDeviceEntries"))
    for (const Json& e : *entries) {
      DeviceGrant g{std::string(data::StringOr(e, "PodUID")),
                    std::string(data::StringOr(e, "ContainerName")),
                    std::string(data::StringOr(e, "ResourceName")),
                    {},
                    Base64Decode(data::StringOr(e, "AllocResp")).value_or("")};
      if (const JsonObject* nodes = data::GetObject(e, "DeviceIDs"))
        for (const auto& node : *nodes)
          if (const JsonArray* ids = node.value().if_array())
            for (const Json& id : *ids)
              if (const auto* name = id.if_string()) g.ids.emplace_back(data::AsView(*name));
      grants_.push_back(std::move(g));
    }
  if (const JsonObject* registered = data::GetObject(file, "Data.RegisteredDevices"))
    for (const auto& resource : *registered) resources_[std::string(resource.key())];
  return {};
}

std::vector<std::string> PickDevices(const std::vector<std::string>& available,
                                     const std::vector<std::string>& preferred, std::size_t needed) {
  std::vector<std::string> out;
  const auto take = [&](const std::string& id) {
    const bool there = std::ranges::find(available, id) != available.end();
    if (out.size() < needed && there && std::ranges::find(out, id) == out.end()) out.push_back(id);
  };
  for (const std::string& id : preferred) take(id);
  for (const std::string& id : available) take(id);
  return out;
}

}  // namespace gpuop::sim::node
