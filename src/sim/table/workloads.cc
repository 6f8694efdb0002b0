#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "sim/peek.h"
#include "sim/table/human.h"
#include "sim/table/kind_table.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

std::string JoinContainers(const json::object& pod_spec, std::string_view field) {
  std::vector<std::string> out;
  for (const json::value& c : PeekArray(pod_spec, {"containers"})) out.emplace_back(PeekString(c, {field}));
  return Join(out, ",");
}

const json::object& TemplateSpec(const json::object& o) { return PeekObject(o, {"spec", "template", "spec"}); }

void Name(const json::object& o, json::array& cells) { cells.emplace_back(PeekString(o, {"metadata", "name"})); }

void ContainerCells(const json::object& pod_spec, json::array& cells) {
  cells.emplace_back(ContainerNames(pod_spec));
  cells.emplace_back(ContainerImages(pod_spec));
}

std::string OfTotal(std::int64_t part, std::int64_t total) {
  return std::to_string(part) + "/" + std::to_string(total);
}

std::string NodeStatus(const json::object& node) {
  std::string out;
  for (const json::value& c : PeekArray(node, {"status", "conditions"}))
    if (PeekString(c, {"type"}) == "Ready") out = PeekString(c, {"status"}) == "True" ? "Ready" : "NotReady";
  if (out.empty()) out = "Unknown";
  return PeekBool(node, {"spec", "unschedulable"}) ? out + ",SchedulingDisabled" : out;
}

std::string NodeRoles(const json::object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const auto& [key, value] : PeekObject(node, {"metadata", "labels"})) {
    const std::string_view name = key;
    if (name.starts_with(kPrefix) && name.size() > kPrefix.size())
      roles.emplace_back(name.substr(kPrefix.size()));
    else if (name == "kubernetes.io/role" && !AsString(value).empty())
      roles.emplace_back(AsString(value));
  }
  std::ranges::sort(roles);
  roles.erase(std::unique(roles.begin(), roles.end()), roles.end());
  return roles.empty() ? "<none>" : Join(roles, ",");
}

std::string NodeAddress(const json::object& node, std::string_view type) {
  for (const json::value& a : PeekArray(node, {"status", "addresses"}))
    if (PeekString(a, {"type"}) == type) return std::string(PeekString(a, {"address"}));
  return "<none>";
}

std::string NodeInfo(const json::object& node, std::string_view field) {
  const auto text = PeekString(node, {"status", "nodeInfo", field});
  return text.empty() ? "<unknown>" : std::string(text);
}

void NodeCells(const json::object& node, WallTime now, json::array& cells) {
  Name(node, cells);
  cells.emplace_back(NodeStatus(node));
  cells.emplace_back(NodeRoles(node));
  cells.emplace_back(Age(node, now));
  cells.emplace_back(PeekString(node, {"status", "nodeInfo", "kubeletVersion"}));
  cells.emplace_back(NodeAddress(node, "InternalIP"));
  cells.emplace_back(NodeAddress(node, "ExternalIP"));
  const auto architecture = PeekString(node, {"status", "nodeInfo", "architecture"});
  std::string kernel = NodeInfo(node, "kernelVersion");
  if (!architecture.empty()) kernel.append(" (").append(architecture).append(")");
  cells.emplace_back(NodeInfo(node, "osImage"));
  cells.emplace_back(std::move(kernel));
  cells.emplace_back(NodeInfo(node, "containerRuntimeVersion"));
}

void DaemonSetCells(const json::object& ds, WallTime now, json::array& cells) {
  Name(ds, cells);
  for (const char* field :
       {"desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"})
    cells.emplace_back(PeekInt(ds, {"status", field}));
  cells.emplace_back(FormatLabels(PeekObject(TemplateSpec(ds), {"nodeSelector"})));
  cells.emplace_back(Age(ds, now));
  ContainerCells(TemplateSpec(ds), cells);
  cells.emplace_back(FormatSelector(PeekObject(ds, {"spec", "selector"})));
}

void DeploymentCells(const json::object& d, WallTime now, json::array& cells) {
  Name(d, cells);
  cells.emplace_back(OfTotal(PeekInt(d, {"status", "readyReplicas"}), PeekInt(d, {"spec", "replicas"})));
  cells.emplace_back(PeekInt(d, {"status", "updatedReplicas"}));
  cells.emplace_back(PeekInt(d, {"status", "availableReplicas"}));
  cells.emplace_back(Age(d, now));
  ContainerCells(TemplateSpec(d), cells);
  cells.emplace_back(FormatSelector(PeekObject(d, {"spec", "selector"})));
}

void ReplicaCells(const json::object& rs, WallTime now, json::array& cells) {
  Name(rs, cells);
  cells.emplace_back(PeekInt(rs, {"spec", "replicas"}));
  cells.emplace_back(PeekInt(rs, {"status", "replicas"}));
  cells.emplace_back(PeekInt(rs, {"status", "readyReplicas"}));
  cells.emplace_back(Age(rs, now));
  ContainerCells(TemplateSpec(rs), cells);
}

void ReplicaSetCells(const json::object& rs, WallTime now, json::array& cells) {
  ReplicaCells(rs, now, cells);
  cells.emplace_back(FormatSelector(PeekObject(rs, {"spec", "selector"})));
}

void ReplicationControllerCells(const json::object& rc, WallTime now, json::array& cells) {
  ReplicaCells(rc, now, cells);
  cells.emplace_back(FormatLabels(PeekObject(rc, {"spec", "selector"})));
}

void StatefulSetCells(const json::object& s, WallTime now, json::array& cells) {
  Name(s, cells);
  cells.emplace_back(OfTotal(PeekInt(s, {"status", "readyReplicas"}), PeekInt(s, {"spec", "replicas"})));
  cells.emplace_back(Age(s, now));
  ContainerCells(TemplateSpec(s), cells);
}

std::string JobStatus(const json::object& job) {
  const auto has = [&](std::string_view type) {
    return std::ranges::any_of(PeekArray(job, {"status", "conditions"}), [&](const json::value& c) {
      return PeekString(c, {"type"}) == type && PeekString(c, {"status"}) == "True";
    });
  };
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (Peek(job, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"})
    if (has(type)) return type;
  return "Running";
}

std::string JobCompletions(const json::object& job) {
  const std::int64_t done = PeekInt(job, {"status", "succeeded"});
  if (const json::value* wanted = Peek(job, {"spec", "completions"})) return OfTotal(done, AsInt(wanted));
  const std::int64_t parallelism = PeekInt(job, {"spec", "parallelism"});
  return OfTotal(done, 1) + (parallelism > 1 ? " of " + std::to_string(parallelism) : "");
}

std::string JobDuration(const json::object& job, WallTime now) {
  const auto start = ParseTime(PeekString(job, {"status", "startTime"}));
  if (!start) return "";
  const auto end = ParseTime(PeekString(job, {"status", "completionTime"}));
  return HumanDuration(end.value_or(now) - *start);
}

void JobCells(const json::object& job, WallTime now, json::array& cells) {
  Name(job, cells);
  cells.emplace_back(JobStatus(job));
  cells.emplace_back(JobCompletions(job));
  cells.emplace_back(JobDuration(job, now));
  cells.emplace_back(Age(job, now));
  ContainerCells(TemplateSpec(job), cells);
  cells.emplace_back(FormatSelector(PeekObject(job, {"spec", "selector"})));
}

void CronJobCells(const json::object& job, WallTime now, json::array& cells) {
  const json::object& pod = PeekObject(job, {"spec", "jobTemplate", "spec", "template", "spec"});
  const auto zone = PeekString(job, {"spec", "timeZone"});
  const auto last = PeekString(job, {"status", "lastScheduleTime"});
  Name(job, cells);
  cells.emplace_back(PeekString(job, {"spec", "schedule"}));
  cells.emplace_back(zone.empty() ? "<none>" : zone);
  cells.emplace_back(PeekBool(job, {"spec", "suspend"}) ? "True" : "False");
  cells.emplace_back(PeekArray(job, {"status", "active"}).size());
  cells.emplace_back(last.empty() ? "<none>" : Since(last, now));
  cells.emplace_back(Age(job, now));
  ContainerCells(pod, cells);
  cells.emplace_back(FormatSelector(PeekObject(job, {"spec", "jobTemplate", "spec", "selector"})));
}

void ControllerRevisionCells(const json::object& revision, WallTime now, json::array& cells) {
  std::string controller = "<none>";
  for (const json::value& owner : PeekArray(revision, {"metadata", "ownerReferences"}))
    if (PeekBool(owner, {"controller"})) {
      const auto group = Cut(PeekString(owner, {"apiVersion"}), '/');
      controller = ToLower(PeekString(owner, {"kind"})) + (group ? "." + std::string(group->first) : "") + "/" +
                   std::string(PeekString(owner, {"name"}));
    }
  Name(revision, cells);
  cells.emplace_back(controller);
  cells.emplace_back(PeekInt(revision, {"revision"}));
  cells.emplace_back(Age(revision, now));
}

constexpr std::array kTables = {
    KindTable{"", "Pod",
              "Name:string:name|Ready:string|Status:string|Restarts:string|Age:string|IP:string::1|Node:string::1|"
              "Nominated Node:string::1|Readiness Gates:string::1",
              PodCells},
    KindTable{"", "Node",
              "Name:string:name|Status:string|Roles:string|Age:string|Version:string|Internal-IP:string::1|"
              "External-IP:string::1|OS-Image:string::1|Kernel-Version:string::1|Container-Runtime:string::1",
              NodeCells},
    KindTable{"apps", "DaemonSet",
              "Name:string:name|Desired:integer|Current:integer|Ready:integer|Up-to-date:integer|Available:integer|"
              "Node Selector:string|Age:string|Containers:string::1|Images:string::1|Selector:string::1",
              DaemonSetCells},
    KindTable{"apps", "Deployment",
              "Name:string:name|Ready:string|Up-to-date:string|Available:string|Age:string|Containers:string::1|"
              "Images:string::1|Selector:string::1",
              DeploymentCells},
    KindTable{"apps", "ReplicaSet",
              "Name:string:name|Desired:integer|Current:integer|Ready:integer|Age:string|Containers:string::1|"
              "Images:string::1|Selector:string::1",
              ReplicaSetCells},
    KindTable{"", "ReplicationController",
              "Name:string:name|Desired:integer|Current:integer|Ready:integer|Age:string|Containers:string::1|"
              "Images:string::1|Selector:string::1",
              ReplicationControllerCells},
    KindTable{"apps", "StatefulSet", "Name:string:name|Ready:string|Age:string|Containers:string::1|Images:string::1",
              StatefulSetCells},
    KindTable{"batch", "Job",
              "Name:string:name|Status:string|Completions:string|Duration:string|Age:string|Containers:string::1|"
              "Images:string::1|Selector:string::1",
              JobCells},
    KindTable{"batch", "CronJob",
              "Name:string:name|Schedule:string|Timezone:string|Suspend:boolean|Active:integer|Last Schedule:string|"
              "Age:string|Containers:string::1|Images:string::1|Selector:string::1",
              CronJobCells},
    KindTable{"apps", "ControllerRevision", "Name:string:name|Controller:string|Revision:string|Age:string",
              ControllerRevisionCells},
};

}  // namespace

std::string ContainerNames(const json::object& pod_spec) { return JoinContainers(pod_spec, "name"); }
std::string ContainerImages(const json::object& pod_spec) { return JoinContainers(pod_spec, "image"); }

std::span<const KindTable> WorkloadTables() { return kTables; }

}  // namespace gpuop::sim
