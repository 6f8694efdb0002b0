#include "container/cdi/inject.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "container/oci/spec.h"

namespace gpuop::container {
namespace {

using data::Json;
using data::JsonObject;

/// What the spec leaves out is the host's node's.
Result<CdiDeviceNode> Complete(CdiDeviceNode node, const NodeLookup& nodes) {
  const std::string& host = node.host_path.empty() ? node.path : node.host_path;
  const bool enough = node.type == "p" || (!node.type.empty() && node.major != 0);
  if (enough && node.file_mode) return node;
  const auto found = nodes(host);
  if (!found) {
    if (enough) return node;
    return std::unexpected(Error(found.error()).During("device node " + node.path + ": look at " + host));
  }
  if (node.type.empty()) node.type = std::string(1, found->type);
  const std::string type = node.type == "u" ? "c" : node.type;
  if (type != std::string(1, found->type))
    return Fail(Code::kInvalid, "device node " + node.path + ": the spec says type " + node.type + ", " + host +
                                    " on the host is of type " + found->type);
  if (node.major == 0 && node.type != "p") {
    node.major = found->major;
    node.minor = found->minor;
  }
  if (!node.file_mode) node.file_mode = found->mode;
  return node;
}

void GiveToUser(CdiDeviceNode& node, const Json& oci) {
  const std::int64_t uid = data::IntOr(oci, "process.user.uid");
  const std::int64_t gid = data::IntOr(oci, "process.user.gid");
  if (!node.uid && uid > 0) node.uid = static_cast<std::uint32_t>(uid);
  if (!node.gid && gid > 0) node.gid = static_cast<std::uint32_t>(gid);
}

Result<> AddNode(const CdiDeviceNode& wanted, const NodeLookup& nodes, Json& oci) {
  ASSIGN(CdiDeviceNode node, Complete(wanted, nodes));
  GiveToUser(node, oci);
  TRY(PutOciDevice(oci, {.path = node.path,
                         .type = node.type,
                         .major = node.major,
                         .minor = node.minor,
                         .file_mode = node.file_mode,
                         .uid = node.uid,
                         .gid = node.gid}));
  if (node.type != "b" && node.type != "c") return {};
  std::string access = node.permissions.empty() ? "rwm" : node.permissions;
  if (access == "none") access.clear();
  return AllowOciDevice(oci, node.type, node.major, node.minor, access);
}

Result<> AddNetDevices(const std::vector<CdiNetDevice>& devices, Json& oci) {
  if (devices.empty()) return {};
  ASSIGN(JsonObject * all, OciObject(oci, "linux.netDevices"));
  for (const CdiNetDevice& device : devices) (*all)[device.host_interface_name] = JsonObject{{"name", device.name}};
  return {};
}

Result<> SetRdt(const CdiIntelRdt& rdt, Json& oci) {
  ASSIGN(JsonObject * os, OciObject(oci, "linux"));
  JsonObject out;
  if (!rdt.clos_id.empty()) out["closID"] = rdt.clos_id;
  if (!rdt.schemata.empty()) out["schemata"] = boost::json::value_from(rdt.schemata);
  if (!rdt.l3_cache_schema.empty()) out["l3CacheSchema"] = rdt.l3_cache_schema;
  if (!rdt.mem_bw_schema.empty()) out["memBwSchema"] = rdt.mem_bw_schema;
  if (rdt.enable_monitoring) out["enableMonitoring"] = true;
  if (rdt.enable_cmt) out["enableCMT"] = true;
  if (rdt.enable_mbm) out["enableMBM"] = true;
  (*os)["intelRdt"] = std::move(out);
  return {};
}

Result<std::vector<CdiResolved>> Resolve(const CdiCache& cache, const std::vector<std::string>& devices) {
  std::vector<CdiResolved> found;
  std::vector<std::string> missing;
  std::set<std::string_view> asked;
  for (const std::string& name : devices) {
    if (!asked.insert(name).second) continue;
    auto device = cache.Find(name);
    if (device)
      found.push_back(*std::move(device));
    else
      missing.push_back(device.error().text);
  }
  if (!missing.empty()) return Fail(Code::kNotFound, "unresolvable CDI devices " + Join(missing, ", "));
  return found;
}

}  // namespace

NodeLookup NodesOf(const os::Fs& fs) {
  return [&fs](const std::string& path) -> Result<HostNode> {
    ASSIGN(const os::FileInfo info, fs.Stat(path));
    if (info.device)
      return HostNode{info.device->block ? 'b' : 'c', info.device->major, info.device->minor, info.attributes.mode};
    if (info.type == os::FileType::kOther) return HostNode{'p', 0, 0, info.attributes.mode};
    return Fail(Code::kInvalid, path + ": not a device node");
  };
}

Result<> ApplyCdiEdits(const CdiEdits& edits, const NodeLookup& nodes, Json& oci) {
  for (const std::string& entry : edits.env) TRY(SetOciEnv(oci, entry));
  for (const CdiDeviceNode& node : edits.device_nodes) TRY(AddNode(node, nodes, oci));
  TRY(AddNetDevices(edits.net_devices, oci));
  for (const CdiMount& mount : edits.mounts)
    TRY(PutOciMount(oci, {mount.container_path, mount.type, mount.host_path, mount.options}));
  if (!edits.mounts.empty()) TRY(SortOciMounts(oci));
  for (const CdiHook& hook : edits.hooks)
    TRY(AddOciHook(oci, hook.hook_name, {hook.path, hook.args, hook.env, hook.timeout}));
  if (edits.intel_rdt) TRY(SetRdt(*edits.intel_rdt, oci));
  for (const std::uint32_t gid : edits.additional_gids) TRY(AddOciGid(oci, gid));
  return {};
}

Result<> InjectCdiDevices(const CdiCache& cache, const std::vector<std::string>& devices, const NodeLookup& nodes,
                          Json& oci) {
  ASSIGN(const std::vector<CdiResolved> found, Resolve(cache, devices));
  Json edited = oci;
  std::set<const CdiFile*> met;
  for (const CdiResolved& device : found) {
    const auto apply = [&]() -> Result<> {
      if (met.insert(device.file.get()).second) TRY(ApplyCdiEdits(device.file->spec.edits, nodes, edited));
      return ApplyCdiEdits(device.device->edits, nodes, edited);
    };
    if (auto done = apply(); !done)
      return std::unexpected(std::move(done).error().During("inject " + device.file->spec.kind + "=" +
                                                            device.device->name + " of " + device.file->path));
  }
  oci = std::move(edited);
  return {};
}

}  // namespace gpuop::container
