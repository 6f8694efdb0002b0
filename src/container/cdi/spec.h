#pragma once
// A CDI spec as a value. Container Device Interface specification 0.3.0 to 1.1.0.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/field.h"

namespace gpuop::container {

/// A device node for the container. What is left out is taken from the host's node when it is injected.
struct CdiDeviceNode {
  std::string path = {};
  /// Where the node is on the host; empty: at `path`.
  std::string host_path = {};
  /// "b", "c", "u" or "p"; empty: as the host's node.
  std::string type = {};
  std::int64_t major = 0, minor = 0;
  std::optional<std::uint32_t> file_mode = {};
  /// Of "rwm"; empty means all three, "none" none.
  std::string permissions = {};
  std::optional<std::uint32_t> uid = {}, gid = {};

  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("hostPath", host_path);
    v("type", type);
    v("major", major);
    v("minor", minor);
    v("fileMode", file_mode);
    v("permissions", permissions);
    v("uid", uid);
    v("gid", gid);
  }
  bool operator==(const CdiDeviceNode&) const = default;
};

/// A network interface of the host that moves into the container.
struct CdiNetDevice {
  std::string host_interface_name = {}, name = {};

  template <class V>
  void Visit(V& v) {
    v("hostInterfaceName", host_interface_name);
    v("name", name);
  }
  bool operator==(const CdiNetDevice&) const = default;
};

/// A program that the low-level runtime runs at `hook_name`, an OCI stage.
struct CdiHook {
  std::string hook_name = {}, path = {};
  std::vector<std::string> args = {}, env = {};
  /// Seconds.
  std::optional<std::int64_t> timeout = {};

  template <class V>
  void Visit(V& v) {
    v("hookName", hook_name);
    v("path", path);
    v("args", args);
    v("env", env);
    v("timeout", timeout);
  }
  bool operator==(const CdiHook&) const = default;
};

/// A folder or file of the host in the container.
struct CdiMount {
  std::string host_path = {}, container_path = {};
  std::vector<std::string> options = {};
  std::string type = {};

  template <class V>
  void Visit(V& v) {
    v("hostPath", host_path);
    v("containerPath", container_path);
    v("options", options);
    v("type", type);
  }
  bool operator==(const CdiMount&) const = default;
};

/// The share of caches and memory bandwidth that a container gets (Intel RDT).
struct CdiIntelRdt {
  std::string clos_id = {}, l3_cache_schema = {}, mem_bw_schema = {};
  std::vector<std::string> schemata = {};
  bool enable_monitoring = false;
  /// Before 1.1.0 only.
  bool enable_cmt = false, enable_mbm = false;

  template <class V>
  void Visit(V& v) {
    v("closID", clos_id);
    v("l3CacheSchema", l3_cache_schema);
    v("memBwSchema", mem_bw_schema);
    v("schemata", schemata);
    v("enableMonitoring", enable_monitoring);
    v("enableCMT", enable_cmt);
    v("enableMBM", enable_mbm);
  }
  bool operator==(const CdiIntelRdt&) const = default;
};

/// What a device, or a whole spec, changes in a container.
struct CdiEdits {
  std::vector<std::string> env = {};
  std::vector<CdiDeviceNode> device_nodes = {};
  std::vector<CdiNetDevice> net_devices = {};
  std::vector<CdiHook> hooks = {};
  std::vector<CdiMount> mounts = {};
  std::optional<CdiIntelRdt> intel_rdt = {};
  std::vector<std::uint32_t> additional_gids = {};

  template <class V>
  void Visit(V& v) {
    v("env", env);
    v("deviceNodes", device_nodes);
    v("netDevices", net_devices);
    v("hooks", hooks);
    v("mounts", mounts);
    v("intelRdt", intel_rdt);
    v("additionalGids", additional_gids);
  }
  bool empty() const { return *this == CdiEdits(); }
  bool operator==(const CdiEdits&) const = default;
};

/// A device, by a name that is its own within the spec.
struct CdiDevice {
  std::string name = {};
  std::map<std::string, std::string> annotations = {};
  CdiEdits edits = {};

  template <class V>
  void Visit(V& v) {
    v("name", name, {.required = true});
    v("annotations", annotations);
    v("containerEdits", edits, {.required = true});
  }
  bool operator==(const CdiDevice&) const = default;
};

/// A file of CDI: devices of one vendor and class (CDI 1.1.0, SPEC.md).
struct CdiSpec {
  std::string version = {};
  /// "vendor/class".
  std::string kind = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<CdiDevice> devices = {};
  CdiEdits edits = {};

  template <class V>
  void Visit(V& v) {
    v("cdiVersion", version, {.required = true});
    v("kind", kind, {.required = true});
    v("annotations", annotations);
    v("devices", devices, {.required = true});
    v("containerEdits", edits);
  }
  bool operator==(const CdiSpec&) const = default;
};

/// A spec file may be this long.
inline constexpr std::size_t kCdiSpecLimit = 4U << 20;

/// Reads and checks one spec, in YAML or JSON. `file` stands before every message, which names the device and field:
/// `/etc/cdi/x.yaml: devices[0] "gpu0": containerEdits.deviceNodes[1].path: must not be empty`. Unknown and repeated
/// fields are errors, as is a field that is younger than the version which the spec declares.
Result<CdiSpec> ReadCdiSpec(std::string_view file, std::string_view text);
/// The rules beyond the types, the version included. kInvalid names device and field.
Result<> CheckCdiSpec(const CdiSpec& spec);

/// The lowest version that can say what a spec says, and the field that asks for it ("" for the lowest of all).
struct CdiVersionNeed {
  std::string_view version;
  std::string field = {};
};
/// Of a spec, whatever it declares.
CdiVersionNeed MinimumCdiVersion(const CdiSpec& spec);
/// kInvalid for a version that is unknown or too old to be read. A leading "v" is passed over.
Result<> CheckCdiVersion(std::string_view version);
/// Whether `a` comes before `b`; both are known versions.
bool CdiVersionBefore(std::string_view a, std::string_view b);

/// As a YAML document: the same bytes for the same spec. What ReadCdiSpec reads back equals `spec`.
std::string CdiSpecToYaml(const CdiSpec& spec);
/// The same as JSON for people, with a line break at its end.
std::string CdiSpecToJson(const CdiSpec& spec);

}  // namespace gpuop::container
