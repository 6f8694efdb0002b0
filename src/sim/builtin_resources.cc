#include <array>

#include "base/text.h"
#include "kube/builtin/table.h"
#include "sim/resource.h"

namespace gpuop::sim {
namespace {

enum Flags : unsigned {
  kGeneration = 1,       // metadata.generation counts changes
  kNoUnconditional = 2,  // an update needs a resourceVersion
  kCreateOnUpdate = 4,   // PUT creates
};

/// How a kind differs from most.
struct Trait {
  const char* table;
  unsigned flags;
  NameRule names = NameRule::kDnsSubdomain;
};

constexpr std::array kTraits = {
    Trait{"/endpoints", kCreateOnUpdate},
    Trait{"/events", kCreateOnUpdate},
    Trait{"/limitranges", kCreateOnUpdate},
    Trait{"/namespaces", 0, NameRule::kDnsLabel},
    Trait{"/pods", kGeneration},
    Trait{"/podtemplates", kGeneration},
    Trait{"/replicationcontrollers", kGeneration},
    Trait{"/services", kCreateOnUpdate, NameRule::kDnsLabel},
    Trait{"admissionregistration.k8s.io/mutatingadmissionpolicies", kGeneration},
    Trait{"admissionregistration.k8s.io/mutatingadmissionpolicybindings", kGeneration},
    Trait{"admissionregistration.k8s.io/mutatingwebhookconfigurations", kGeneration},
    Trait{"admissionregistration.k8s.io/validatingadmissionpolicies", kGeneration},
    Trait{"admissionregistration.k8s.io/validatingadmissionpolicybindings", kGeneration},
    Trait{"admissionregistration.k8s.io/validatingwebhookconfigurations", kGeneration},
    Trait{"apiextensions.k8s.io/customresourcedefinitions", kGeneration | kNoUnconditional},
    Trait{"apiregistration.k8s.io/apiservices", kNoUnconditional},
    Trait{"apps/daemonsets", kGeneration},
    Trait{"apps/deployments", kGeneration},
    Trait{"apps/replicasets", kGeneration},
    Trait{"apps/statefulsets", kGeneration},
    Trait{"batch/cronjobs", kGeneration},
    Trait{"batch/jobs", kGeneration},
    Trait{"coordination.k8s.io/leases", kCreateOnUpdate | kNoUnconditional},
    Trait{"discovery.k8s.io/endpointslices", kGeneration},
    Trait{"networking.k8s.io/ingressclasses", kGeneration},
    Trait{"networking.k8s.io/ingresses", kGeneration},
    Trait{"networking.k8s.io/networkpolicies", kGeneration},
    Trait{"policy/poddisruptionbudgets", kGeneration | kNoUnconditional},
    Trait{"rbac.authorization.k8s.io/clusterrolebindings", kCreateOnUpdate, NameRule::kPathSegment},
    Trait{"rbac.authorization.k8s.io/clusterroles", kCreateOnUpdate, NameRule::kPathSegment},
    Trait{"rbac.authorization.k8s.io/rolebindings", kCreateOnUpdate, NameRule::kPathSegment},
    Trait{"rbac.authorization.k8s.io/roles", kCreateOnUpdate, NameRule::kPathSegment},
    Trait{"resource.k8s.io/deviceclasses", kGeneration},
    Trait{"resource.k8s.io/resourceslices", kGeneration},
    Trait{"scheduling.k8s.io/priorityclasses", kGeneration},
    Trait{"storage.k8s.io/csidrivers", kGeneration},
};

/// Resources of the real server that this one leaves out.
constexpr std::array<std::string_view, 1> kLeftOut = {"/componentstatuses"};
/// Subresources that need a node with processes, or a network.
constexpr std::array<std::string_view, 5> kNoSubresource = {"attach", "exec", "portforward", "proxy", "resize"};

struct FieldRow {
  const char *table, *label, *path, *fallback;
};

constexpr std::array kFields = {
    FieldRow{"/pods", "spec.nodeName", "", ""},
    FieldRow{"/pods", "spec.restartPolicy", "", ""},
    FieldRow{"/pods", "spec.schedulerName", "", ""},
    FieldRow{"/pods", "spec.serviceAccountName", "", ""},
    FieldRow{"/pods", "spec.hostNetwork", "", "false"},
    FieldRow{"/pods", "status.phase", "", ""},
    FieldRow{"/pods", "status.podIP", "", ""},
    FieldRow{"/pods", "status.nominatedNodeName", "", ""},
    FieldRow{"/nodes", "spec.unschedulable", "", "false"},
    FieldRow{"/namespaces", "status.phase", "", ""},
    FieldRow{"/namespaces", "name", "metadata.name", ""},
    FieldRow{"/secrets", "type", "", ""},
    FieldRow{"/services", "spec.clusterIP", "", ""},
    FieldRow{"/services", "spec.type", "", ""},
    FieldRow{"/replicationcontrollers", "status.replicas", "", "0"},
    FieldRow{"apps/replicasets", "status.replicas", "", "0"},
    FieldRow{"batch/jobs", "status.successful", "status.succeeded", "0"},
    FieldRow{"resource.k8s.io/resourceslices", "spec.nodeName", "", ""},
    FieldRow{"resource.k8s.io/resourceslices", "spec.driver", "", ""},
    FieldRow{"/events", "involvedObject.kind", "", ""},
    FieldRow{"/events", "involvedObject.namespace", "", ""},
    FieldRow{"/events", "involvedObject.name", "", ""},
    FieldRow{"/events", "involvedObject.uid", "", ""},
    FieldRow{"/events", "involvedObject.apiVersion", "", ""},
    FieldRow{"/events", "involvedObject.resourceVersion", "", ""},
    FieldRow{"/events", "involvedObject.fieldPath", "", ""},
    FieldRow{"/events", "reason", "", ""},
    FieldRow{"/events", "reportingComponent", "", ""},
    FieldRow{"/events", "source", "source.component|reportingComponent", ""},
    FieldRow{"/events", "type", "", ""},
};

std::vector<SelectableField> SelectableOf(std::string_view table) {
  std::vector<SelectableField> fields;
  for (const FieldRow& row : kFields) {
    if (row.table != table) continue;
    SelectableField f{row.label, {}, row.fallback};
    const std::string_view paths = *row.path == '\0' ? row.label : row.path;
    for (std::string_view path : Split(paths, '|')) {
      std::vector<std::string> parts;
      for (std::string_view part : Split(path, '.')) parts.emplace_back(part);
      f.paths.push_back(std::move(parts));
    }
    fields.push_back(std::move(f));
  }
  return fields;
}

Trait TraitOf(std::string_view table) {
  for (const Trait& trait : kTraits)
    if (trait.table == table) return trait;
  return {"", 0};
}

void AddSubresources(ResourceInfo& info, const kube::builtin::BuiltinResource& from) {
  for (const auto& sub : from.subresources) {
    if (std::ranges::find(kNoSubresource, sub.name) != kNoSubresource.end()) continue;
    info.subresources.push_back({sub.name, sub.kind, sub.group, sub.version, sub.verbs});
    if (sub.name == "status") info.status_isolated = true;
    if (sub.name == "scale") info.scale.selector = "spec.selector";
  }
}

ResourceInfo Make(const kube::builtin::BuiltinResource& from) {
  ResourceInfo info;
  info.group = from.group, info.version = from.version, info.plural = from.plural, info.singular = from.singular;
  info.kind = from.kind, info.list_kind = info.kind + "List";
  info.namespaced = from.namespaced;
  info.short_names = from.short_names, info.categories = from.categories, info.verbs = from.verbs;
  // Built-in resources have one version, but for autoscalers.
  info.storage_version = info.group == "autoscaling" ? "v2" : info.version;
  info.table = info.group + "/" + info.plural;
  if (info.table == "events.k8s.io/events") info.table = "/events";  // two views of the same objects
  info.renderer = ToLower(info.kind);
  info.selectable = SelectableOf(info.table);
  const Trait trait = TraitOf(info.table);
  info.name_rule = trait.names;
  info.has_generation = (trait.flags & kGeneration) != 0;
  info.unconditional_update = (trait.flags & kNoUnconditional) == 0;
  info.create_on_update = (trait.flags & kCreateOnUpdate) != 0;
  AddSubresources(info, from);
  info.schema = kube::builtin::FindKind(info.group, info.version, info.kind);
  return info;
}

}  // namespace

void AddBuiltinResources(Registry& registry) {
  for (const kube::builtin::BuiltinResource& from : kube::builtin::Resources()) {
    const std::string table = from.group + "/" + from.plural;
    if (std::ranges::find(kLeftOut, table) == kLeftOut.end()) registry.Add(Make(from));
  }
}

}  // namespace gpuop::sim
