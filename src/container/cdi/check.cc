// The rules of a CDI spec beyond its types.
#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "container/cdi/names.h"
#include "container/cdi/spec.h"

namespace gpuop::container {
namespace {

Result<> Bad(const std::string& field, std::string_view why) {
  return Fail(Code::kInvalid, field + ": " + std::string(why));
}

Result<> NotEmpty(const std::string& field, std::string_view value) {
  return value.empty() ? Bad(field, "must not be empty") : Result<>();
}

std::string Item(const std::string& list, std::size_t index) { return list + "[" + std::to_string(index) + "]"; }

Result<> CheckEnv(const std::vector<std::string>& env, const std::string& at) {
  for (std::size_t i = 0; i < env.size(); ++i)
    if (const std::size_t equals = env[i].find('='); equals == 0 || equals == std::string::npos)
      return Bad(Item(at, i), Quote(env[i]) + " is not NAME=value");
  return {};
}

Result<> CheckNode(const CdiDeviceNode& node, const std::string& at) {
  constexpr std::array<std::string_view, 5> kTypes = {"", "b", "c", "u", "p"};
  TRY(NotEmpty(at + ".path", node.path));
  if (std::ranges::find(kTypes, node.type) == kTypes.end())
    return Bad(at + ".type", Quote(node.type) + " is not b, c, u or p");
  const auto allowed = [](char c) { return std::string_view("rwm").contains(c); };
  if (node.permissions != "none" && !std::ranges::all_of(node.permissions, allowed))
    return Bad(at + ".permissions", Quote(node.permissions) + " is neither some of \"rwm\" nor \"none\"");
  return {};
}

Result<> CheckHook(const CdiHook& hook, const std::string& at) {
  constexpr std::array<std::string_view, 6> kStages = {"prestart",       "createRuntime", "createContainer",
                                                       "startContainer", "poststart",     "poststop"};
  if (std::ranges::find(kStages, hook.hook_name) == kStages.end())
    return Bad(at + ".hookName", Quote(hook.hook_name) + " is not a stage of a container");
  TRY(NotEmpty(at + ".path", hook.path));
  return CheckEnv(hook.env, at + ".env");
}

Result<> CheckNetDevices(const std::vector<CdiNetDevice>& devices, const std::string& at) {
  std::set<std::string_view> host_names, names;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    TRY(NotEmpty(Item(at, i) + ".hostInterfaceName", devices[i].host_interface_name));
    TRY(NotEmpty(Item(at, i) + ".name", devices[i].name));
    if (!host_names.insert(devices[i].host_interface_name).second)
      return Bad(Item(at, i) + ".hostInterfaceName", Quote(devices[i].host_interface_name) + " comes twice");
    if (!names.insert(devices[i].name).second)
      return Bad(Item(at, i) + ".name", Quote(devices[i].name) + " comes twice");
  }
  return {};
}

Result<> CheckRdt(const CdiIntelRdt& rdt, const std::string& at) {
  constexpr std::size_t kLongestPath = 4096;
  const std::string& id = rdt.clos_id;
  if (id == "/") return {};
  if (id == "." || id == ".." || id.size() >= kLongestPath || id.find_first_of("/\n") != std::string::npos)
    return Bad(at + ".closID", Quote(id) + " is not the name of a folder");
  return {};
}

Result<> CheckEdits(const CdiEdits& edits, const std::string& at) {
  TRY(CheckEnv(edits.env, at + ".env"));
  for (std::size_t i = 0; i < edits.device_nodes.size(); ++i)
    TRY(CheckNode(edits.device_nodes[i], Item(at + ".deviceNodes", i)));
  for (std::size_t i = 0; i < edits.hooks.size(); ++i) TRY(CheckHook(edits.hooks[i], Item(at + ".hooks", i)));
  for (std::size_t i = 0; i < edits.mounts.size(); ++i) {
    TRY(NotEmpty(Item(at + ".mounts", i) + ".hostPath", edits.mounts[i].host_path));
    TRY(NotEmpty(Item(at + ".mounts", i) + ".containerPath", edits.mounts[i].container_path));
  }
  TRY(CheckNetDevices(edits.net_devices, at + ".netDevices"));
  return edits.intel_rdt ? CheckRdt(*edits.intel_rdt, at + ".intelRdt") : Result<>();
}

Result<> CheckDevice(const CdiDevice& device) {
  if (auto name = CheckCdiDevice(device.name); !name) return Bad("name", name.error().text);
  if (device.edits.empty()) return Bad("containerEdits", "must not be empty");
  return CheckEdits(device.edits, "containerEdits");
}

Result<> CheckKind(std::string_view kind) {
  const auto parts = Cut(kind, '/');
  if (!parts) return Bad("kind", Quote(kind) + " is not vendor/class");
  if (auto ok = CheckCdiVendor(parts->first); !ok) return Bad("kind", ok.error().text);
  if (auto ok = CheckCdiClass(parts->second); !ok) return Bad("kind", ok.error().text);
  return {};
}

/// Monitoring had other names before 1.1.0 than from then on.
Result<> CheckOldRdt(const CdiEdits& edits, const std::string& at, bool old) {
  if (old || !edits.intel_rdt || (!edits.intel_rdt->enable_cmt && !edits.intel_rdt->enable_mbm)) return {};
  return Bad(at + "intelRdt", "enableCMT and enableMBM end with 1.0.0; use enableMonitoring");
}

}  // namespace

Result<> CheckCdiSpec(const CdiSpec& spec) {
  TRY(CheckCdiVersion(spec.version));
  TRY(CheckKind(spec.kind));
  if (const CdiVersionNeed need = MinimumCdiVersion(spec); CdiVersionBefore(spec.version, need.version))
    return Bad("cdiVersion",
               spec.version + " cannot say " + need.field + ": at least " + std::string(need.version) + " is needed");
  const bool old = CdiVersionBefore(spec.version, "1.1.0");
  TRY(CheckEdits(spec.edits, "containerEdits"));
  TRY(CheckOldRdt(spec.edits, "containerEdits.", old));
  if (spec.devices.empty()) return Bad("devices", "must hold at least one device");
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const CdiDevice& device = spec.devices[i];
    const std::string at = Item("devices", i) + " " + Quote(device.name);
    if (auto ok = CheckDevice(device); !ok) return Bad(at, ok.error().text);
    TRY(CheckOldRdt(device.edits, at + ": containerEdits.", old));
    if (!names.insert(device.name).second) return Bad(at, "the name comes twice in this spec");
  }
  return {};
}

}  // namespace gpuop::container
