#include "sim/strategy.h"

#include <fmt/core.h>

#include <array>

#include "data/json.h"
#include "sim/fields.h"

namespace gpuop::sim {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

/// Whether anything but metadata, status and the type's name differs.
bool SpecChanged(const object& now, const object& old) {
  const auto counts = [](std::string_view name) {
    return name != "metadata" && name != "status" && name != "kind" && name != "apiVersion";
  };
  for (const auto& [name, v] : now)
    if (counts(name) && !SameField(now, old, name)) return true;
  for (const auto& [name, v] : old)
    if (counts(name) && !now.contains(name)) return true;
  return false;
}

void SetGeneration(object& o, std::int64_t generation) { Child(o, "metadata")["generation"] = generation; }

/// The quality of service class by requests and limits of cpu and memory.
std::string_view QosOf(const object& pod) {
  bool any = false, guaranteed = true;
  for (const char* list : {"spec.containers", "spec.initContainers"}) {
    const array* containers = ArrayAt(pod, list);
    if (containers == nullptr) continue;
    for (const value& c : *containers) {
      for (const char* resource : {"cpu", "memory"}) {
        const auto request = data::GetString(c, fmt::format("resources.requests.{}", resource));
        const auto limit = data::GetString(c, fmt::format("resources.limits.{}", resource));
        any |= request.has_value() || limit.has_value();
        guaranteed &= limit && (!request || *request == *limit);
      }
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void PreparePod(object& pod) {
  object status{{"phase", "Pending"}, {"qosClass", QosOf(pod)}};
  if (const array* gates = ArrayAt(pod, "spec.schedulingGates"); gates != nullptr && !gates->empty())
    status["conditions"] = array{{{"type", "PodScheduled"},
                                  {"status", "False"},
                                  {"lastProbeTime", nullptr},
                                  {"lastTransitionTime", TextAt(pod, "metadata.creationTimestamp")},
                                  {"reason", "SchedulingGated"},
                                  {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
  pod["status"] = std::move(status);
}

void PrepareJob(object& job) {
  object& spec = Child(job, "spec");
  if (const value* manual = spec.if_contains("manualSelector");
      manual != nullptr && manual->is_bool() && manual->get_bool())
    return;
  const object& metadata = Child(job, "metadata");
  const value uid = metadata.at("uid"), name = metadata.at("name");
  object& labels = Child(Child(Child(spec, "template"), "metadata"), "labels");
  labels["controller-uid"] = uid;
  labels["job-name"] = name;
  labels["batch.kubernetes.io/controller-uid"] = uid;
  labels["batch.kubernetes.io/job-name"] = name;
  object& match = Child(Child(spec, "selector"), "matchLabels");
  match["batch.kubernetes.io/controller-uid"] = uid;
}

void PrepareService(object& service) {
  object& spec = Child(service, "spec");
  const value* type = spec.if_contains("type");
  if (type != nullptr && type->is_string() && type->get_string() == "ExternalName") return;
  const std::string ip(TextAt(service, "spec.clusterIP"));
  if (!ip.empty() && !spec.contains("clusterIPs")) spec["clusterIPs"] = array{ip};
  // Nobody knows which families a headless service without a selector will point to.
  const bool open = ip == "None" && !spec.contains("selector");
  if (!spec.contains("ipFamilies")) spec["ipFamilies"] = open ? array{"IPv4", "IPv6"} : array{"IPv4"};
  if (!spec.contains("ipFamilyPolicy")) spec["ipFamilyPolicy"] = open ? "RequireDualStack" : "SingleStack";
}

void PrepareNamespace(object& ns) {
  Child(Child(ns, "metadata"), "labels")["kubernetes.io/metadata.name"] = Child(ns, "metadata")["name"];
  value& finalizers = Child(ns, "spec")["finalizers"];
  if (!finalizers.is_array()) finalizers.emplace_array();
  array& list = finalizers.get_array();
  if (std::ranges::none_of(list, [](const value& v) { return v == "kubernetes"; })) list.emplace_back("kubernetes");
  ns["status"] = object{{"phase", "Active"}};
}

/// The rest of an object, when a subresource may change only `kept` of it.
void KeepOnly(object& o, const object& old, std::string_view kept) {
  object wanted = old;
  if (const value* v = o.if_contains(kept))
    wanted[kept] = *v;
  else
    wanted.erase(kept);
  wanted["metadata"] = std::move(o["metadata"]);
  o = std::move(wanted);
}

void PrepareStatus(const ResourceInfo& info, object& o, const object& old) {
  KeepOnly(o, old, "status");
  object& metadata = Child(o, "metadata");
  const object& before = old.at("metadata").as_object();
  if (info.custom) {  // of a custom resource nothing but the status, and who owns it
    value managed = metadata.contains("managedFields") ? metadata["managedFields"] : value();
    const value revision = metadata["resourceVersion"];
    metadata = before;
    metadata["resourceVersion"] = revision;
    if (managed.is_array()) metadata["managedFields"] = std::move(managed);
  }
  if (info.table == "apps/deployments") CopyField(metadata, before, "labels");
  if (info.table == "/pods") CopyField(metadata, before, "ownerReferences");
}

}  // namespace

void PrepareCreate(const ResourceInfo& info, object& o) {
  const bool keeps_status = info.table == "/nodes";  // the kubelet registers with what it found
  if (info.status_isolated && !keeps_status && o.contains("status")) o["status"] = object();
  if (info.status_isolated && info.custom) o.erase("status");
  if (info.has_generation) SetGeneration(o, 1);
  if (info.table == "/pods") PreparePod(o);
  if (info.table == "/persistentvolumes" || info.table == "/persistentvolumeclaims")
    o["status"] = object{{"phase", "Pending"}};
  if (info.table == "/services") {
    o["status"] = object{{"loadBalancer", object{}}};
    PrepareService(o);
  }
  if (info.table == "/namespaces") PrepareNamespace(o);
  if (info.table == "batch/jobs") PrepareJob(o);
}

void PrepareUpdate(const ResourceInfo& info, const Subresource* subresource, object& o, const object& old) {
  if (subresource != nullptr && subresource->name == "status") {
    PrepareStatus(info, o, old);
  } else if (subresource != nullptr && subresource->name == "finalize") {
    KeepOnly(o, old, "spec");
  } else {
    if (info.status_isolated) CopyField(o, old, "status");
    if (info.table == "/namespaces") {
      CopyField(o, old, "spec");
      Child(Child(o, "metadata"), "labels")["kubernetes.io/metadata.name"] = old.at("metadata").at("name");
    }
    if (info.table == "/services") {  // addresses stay when the client leaves them out
      object& spec = Child(o, "spec");
      const value* before = old.if_contains("spec");
      for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
        if (!spec.contains(field) && before != nullptr && before->is_object())
          CopyField(spec, before->get_object(), field);
      // The first address stands in both fields; who changes the older one alone means both.
      if (before != nullptr && before->is_object() && SameField(spec, before->get_object(), "clusterIPs") &&
          !SameField(spec, before->get_object(), "clusterIP") && !TextAt(o, "spec.clusterIP").empty())
        spec["clusterIPs"] = array{spec["clusterIP"]};
    }
  }
  object& metadata = Child(o, "metadata");
  CopyField(metadata, old.at("metadata").as_object(), "generation");
  if (!info.has_generation) return;
  // Deployments count changes of annotations too.
  const bool annotated = info.table == "apps/deployments" && subresource == nullptr &&
                         !SameField(metadata, old.at("metadata").as_object(), "annotations");
  if (annotated || SpecChanged(o, old)) metadata["generation"] = IntAt(metadata, "generation").value_or(0) + 1;
}

bool ReturnsDeleted(const ResourceInfo& info) {
  constexpr std::array<std::string_view, 7> kTables = {
      "/pods",         "/services",      "/serviceaccounts", "/persistentvolumes", "/persistentvolumeclaims",
      "/podtemplates", "/resourcequotas"};
  return std::ranges::find(kTables, info.table) != kTables.end();
}

std::int64_t PodGraceSeconds(const object& pod, std::optional<std::int64_t> asked) {
  const std::int64_t grace = asked.value_or(IntAt(pod, "spec.terminationGracePeriodSeconds").value_or(30));
  const std::string_view phase = TextAt(pod, "status.phase");
  if (TextAt(pod, "spec.nodeName").empty() || phase == "Failed" || phase == "Succeeded") return 0;
  return grace < 0 ? 1 : grace;
}

}  // namespace gpuop::sim
