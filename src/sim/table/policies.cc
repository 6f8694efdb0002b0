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

std::string_view NameOf(const json::object& o) { return PeekString(o, {"metadata", "name"}); }

void NameCreatedCells(const json::object& o, WallTime, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekString(o, {"metadata", "creationTimestamp"}));
}

/// Names of the binding's subjects of one kind.
std::string Subjects(const json::object& binding, std::string_view kind) {
  std::vector<std::string> out;
  for (const json::value& s : PeekArray(binding, {"subjects"})) {
    if (PeekString(s, {"kind"}) != kind) continue;
    std::string name(PeekString(s, {"name"}));
    if (kind == "ServiceAccount") name.insert(0, "/").insert(0, PeekString(s, {"namespace"}));
    out.push_back(std::move(name));
  }
  return Join(out, ", ");
}

void BindingCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(
      std::string(PeekString(o, {"roleRef", "kind"})).append("/").append(PeekString(o, {"roleRef", "name"})));
  cells.emplace_back(Age(o, now));
  for (const char* kind : {"User", "Group", "ServiceAccount"}) cells.emplace_back(Subjects(o, kind));
}

/// An integer or a percentage as text, "N/A" when it is not set.
std::string IntOrPercent(const json::value* v) {
  if (v == nullptr) return "N/A";
  return v->is_string() ? std::string(AsString(v)) : std::to_string(AsInt(v));
}

void BudgetCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(IntOrPercent(Peek(o, {"spec", "minAvailable"})));
  cells.emplace_back(IntOrPercent(Peek(o, {"spec", "maxUnavailable"})));
  cells.emplace_back(PeekInt(o, {"status", "disruptionsAllowed"}));
  cells.emplace_back(Age(o, now));
}

void WebhookCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekArray(o, {"webhooks"}).size());
  cells.emplace_back(Age(o, now));
}

void ApiServiceCells(const json::object& o, WallTime now, json::array& cells) {
  std::string service = "Local";
  if (const json::value* s = Peek(o, {"spec", "service"}))
    service = std::string(PeekString(*s, {"namespace"})).append("/").append(PeekString(*s, {"name"}));
  std::string available = "Unknown";
  for (const json::value& c : PeekArray(o, {"status", "conditions"})) {
    if (PeekString(c, {"type"}) != "Available") continue;
    available = PeekString(c, {"status"});
    if (available != "True") available.append(" (").append(PeekString(c, {"reason"})).append(")");
  }
  cells.emplace_back(NameOf(o));
  cells.emplace_back(std::move(service));
  cells.emplace_back(std::move(available));
  cells.emplace_back(Age(o, now));
}

constexpr std::string_view kNameCreated = "Name:string:name|Created At:date";
constexpr std::string_view kBinding =
    "Name:string:name|Role:string|Age:string|Users:string::1|Groups:string::1|ServiceAccounts:string::1";
constexpr std::string_view kWebhooks = "Name:string:name|Webhooks:integer|Age:string";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io", kAdmission = "admissionregistration.k8s.io";

constexpr std::array kTables = {
    KindTable{kRbac, "Role", kNameCreated, NameCreatedCells},
    KindTable{kRbac, "ClusterRole", kNameCreated, NameCreatedCells},
    KindTable{kRbac, "RoleBinding", kBinding, BindingCells},
    KindTable{kRbac, "ClusterRoleBinding", kBinding, BindingCells},
    KindTable{"policy", "PodDisruptionBudget",
              "Name:string:name|Min Available:string|Max Unavailable:string|Allowed Disruptions:integer|Age:string",
              BudgetCells},
    KindTable{kAdmission, "ValidatingWebhookConfiguration", kWebhooks, WebhookCells},
    KindTable{kAdmission, "MutatingWebhookConfiguration", kWebhooks, WebhookCells},
    KindTable{"apiextensions.k8s.io", "CustomResourceDefinition", kNameCreated, NameCreatedCells},
    KindTable{
        "autoscaling", "HorizontalPodAutoscaler",
        "Name:string:name|Reference:string|Targets:string|MinPods:string|MaxPods:string|Replicas:string|Age:string",
        AutoscalerCells},
    KindTable{"apiregistration.k8s.io", "APIService", "Name:string:name|Service:string|Available:string|Age:string",
              ApiServiceCells},
};

}  // namespace

std::span<const KindTable> PolicyTables() { return kTables; }

const KindTable* FindKindTable(std::string_view group, std::string_view kind) {
  for (const auto& tables : {WorkloadTables(), ClusterTables(), NetworkTables(), PolicyTables()})
    for (const KindTable& t : tables)
      if (t.group == group && t.kind == kind) return &t;
  return nullptr;
}

}  // namespace gpuop::sim
