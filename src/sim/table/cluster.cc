#include <array>
#include <string>

#include "base/text.h"
#include "sim/peek.h"
#include "sim/table/human.h"
#include "sim/table/kind_table.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

std::string_view NameOf(const json::object& o) { return PeekString(o, {"metadata", "name"}); }

std::int64_t Size(const json::object& o) { return static_cast<std::int64_t>(o.size()); }

void NameAgeCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(Age(o, now));
}

void NamespaceCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekString(o, {"status", "phase"}));
  cells.emplace_back(Age(o, now));
}

void ConfigMapCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(Size(PeekObject(o, {"data"})) + Size(PeekObject(o, {"binaryData"})));
  cells.emplace_back(Age(o, now));
}

void SecretCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekString(o, {"type"}));
  cells.emplace_back(Size(PeekObject(o, {"data"})));
  cells.emplace_back(Age(o, now));
}

std::string EventSource(const json::object& e) {
  std::string_view component = PeekString(e, {"source", "component"}), host = PeekString(e, {"source", "host"});
  if (component.empty()) component = PeekString(e, {"deprecatedSource", "component"});
  if (host.empty()) host = PeekString(e, {"deprecatedSource", "host"});
  if (component.empty()) component = PeekString(e, {"reportingComponent"});
  if (component.empty()) component = PeekString(e, {"reportingController"});
  if (host.empty()) host = PeekString(e, {"reportingInstance"});
  std::string out(component);
  if (!host.empty()) out.append(", ").append(host);
  return out;
}

/// Either API's event: core/v1 says involvedObject, message, …; events.k8s.io/v1 regarding, note, deprecated….
void EventCells(const json::object& e, WallTime now, json::array& cells) {
  const bool core = e.contains("involvedObject");
  const auto first_time = PeekString(e, {core ? "firstTimestamp" : "deprecatedFirstTimestamp"});
  const auto last_time = PeekString(e, {core ? "lastTimestamp" : "deprecatedLastTimestamp"});
  const std::string first = Since(first_time.empty() ? PeekString(e, {"eventTime"}) : first_time, now);
  std::string last = last_time.empty() ? first : Since(last_time, now);
  std::int64_t count = PeekInt(e, {core ? "count" : "deprecatedCount"});
  if (const json::value* series = Peek(e, {"series"})) {
    last = Since(PeekString(*series, {"lastObservedTime"}), now);
    count = PeekInt(*series, {"count"});
  } else if (count == 0) {
    count = 1;
  }
  const json::object& about = PeekObject(e, {core ? "involvedObject" : "regarding"});
  std::string target = ToLower(PeekString(about, {"kind"}));
  if (const auto name = PeekString(about, {"name"}); !name.empty()) target.append("/").append(name);
  cells.emplace_back(std::move(last));
  cells.emplace_back(PeekString(e, {"type"}));
  cells.emplace_back(PeekString(e, {"reason"}));
  cells.emplace_back(std::move(target));
  cells.emplace_back(PeekString(about, {"fieldPath"}));
  cells.emplace_back(EventSource(e));
  cells.emplace_back(Trim(PeekString(e, {core ? "message" : "note"})));
  cells.emplace_back(first);
  cells.emplace_back(count);
  cells.emplace_back(NameOf(e));
}

void LeaseCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekString(o, {"spec", "holderIdentity"}));
  cells.emplace_back(Age(o, now));
}

void RuntimeClassCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekString(o, {"handler"}));
  cells.emplace_back(Age(o, now));
}

void PriorityClassCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekInt(o, {"value"}));
  cells.emplace_back(PeekBool(o, {"globalDefault"}));
  cells.emplace_back(Age(o, now));
  cells.emplace_back(PeekString(o, {"preemptionPolicy"}));
}

void StorageClassCells(const json::object& o, WallTime now, json::array& cells) {
  std::string name(NameOf(o));
  for (const char* key :
       {"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"})
    if (PeekString(o, {"metadata", "annotations", key}) == "true") {
      name += " (default)";
      break;
    }
  const auto reclaim = PeekString(o, {"reclaimPolicy"}), binding = PeekString(o, {"volumeBindingMode"});
  cells.emplace_back(std::move(name));
  cells.emplace_back(PeekString(o, {"provisioner"}));
  cells.emplace_back(reclaim.empty() ? "Delete" : reclaim);
  cells.emplace_back(binding.empty() ? "Immediate" : binding);
  cells.emplace_back(PeekBool(o, {"allowVolumeExpansion"}));
  cells.emplace_back(Age(o, now));
}

constexpr std::string_view kNameAge = "Name:string:name|Age:string";

constexpr std::array kTables = {
    KindTable{"", "Namespace", "Name:string:name|Status:string|Age:string", NamespaceCells},
    KindTable{"", "ConfigMap", "Name:string:name|Data:string|Age:string", ConfigMapCells},
    KindTable{"", "Secret", "Name:string:name|Type:string|Data:string|Age:string", SecretCells},
    KindTable{"", "ServiceAccount", kNameAge, NameAgeCells},
    KindTable{"", "Event",
              "Last Seen:string|Type:string|Reason:string|Object:string|Subobject:string::1|Source:string::1|"
              "Message:string|First Seen:string::1|Count:string::1|Name:string:name:1",
              EventCells},
    KindTable{"events.k8s.io", "Event",
              "Last Seen:string|Type:string|Reason:string|Object:string|Subobject:string::1|Source:string::1|"
              "Message:string|First Seen:string::1|Count:string::1|Name:string:name:1",
              EventCells},
    KindTable{"coordination.k8s.io", "Lease", "Name:string:name|Holder:string|Age:string", LeaseCells},
    KindTable{"node.k8s.io", "RuntimeClass", "Name:string:name|Handler:string|Age:string", RuntimeClassCells},
    KindTable{"scheduling.k8s.io", "PriorityClass",
              "Name:string:name|Value:integer|Global-Default:boolean|Age:string|PreemptionPolicy:string",
              PriorityClassCells},
    KindTable{"storage.k8s.io", "StorageClass",
              "Name:string:name|Provisioner:string|ReclaimPolicy:string|VolumeBindingMode:string|"
              "AllowVolumeExpansion:string|Age:string",
              StorageClassCells},
    KindTable{"resource.k8s.io", "DeviceClass", kNameAge, NameAgeCells},
    KindTable{"resource.k8s.io", "ResourceClaimTemplate", kNameAge, NameAgeCells},
};

}  // namespace

std::span<const KindTable> ClusterTables() { return kTables; }

}  // namespace gpuop::sim
