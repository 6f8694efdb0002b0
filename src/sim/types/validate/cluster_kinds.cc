#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "data/json.h"
#include "data/names.h"
#include "data/quantity.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

const Object& Part(const Object& object, std::string_view name) {
  static const Object& none = *new Object;
  const Object* part = ObjectAt(object, name);
  return part == nullptr ? none : *part;
}

std::string PrintedTaint(const Object& taint) {
  const auto text = [&](const char* field) { return data::ToJson(json::value(TextAt(taint, field))); };
  return "{\"Key\":" + text("key") + ",\"Value\":" + text("value") + ",\"Effect\":" + text("effect") +
         ",\"TimeAdded\":null}";
}

data::Quantity Amount(const Object& list, std::string_view name) {
  return data::Quantity::Parse(TextAt(list, name)).value_or(data::Quantity());
}

/// `low` must not be over `high`; the error stands at `shown`, and says its value.
struct Order {
  const char *low, *high, *shown, *low_words, *high_words;
};
constexpr Order kOrders[] = {
    {"min", "max", "min", "min value ", "max value "},
    {"min", "defaultRequest", "defaultRequest", "min value ", "default request value "},
    {"defaultRequest", "max", "defaultRequest", "default request value ", "max value "},
    {"defaultRequest", "default", "defaultRequest", "default request value ", "default limit value "},
    {"min", "default", "default", "min value ", "default value "},
    {"default", "max", "default", "default value ", "max value "},
};

void CheckOrder(Findings& out, const Object& limit, const Order& order, const Path& at) {
  const Object &lows = Part(limit, order.low), &highs = Part(limit, order.high);
  const Path here = at.Child(order.shown);
  const bool of_request = std::string_view(order.shown) == "defaultRequest";
  for (const auto& [key, value] : lows) {
    const std::string_view name(key.data(), key.size());
    if (!highs.contains(key) || Amount(lows, name) <= Amount(highs, name)) continue;
    out.Invalid(here.Key(name), of_request ? TextAt(Part(limit, order.shown), name) : TextAt(lows, name),
                std::string(order.low_words) + std::string(TextAt(lows, name)) + " is greater than " +
                    order.high_words + std::string(TextAt(highs, name)));
  }
}

void CheckTaints(Findings& out, const Object& spec, const Path& taints) {
  std::set<std::pair<std::string, std::string>> seen;
  std::size_t i = 0;
  EachAt(spec, "taints", [&](const Object& taint) {
    const Path here = taints.Index(i++);
    const std::string_view key = TextAt(taint, "key"), effect = TextAt(taint, "effect");
    out.Messages(here.Child("key"), key, data::CheckQualifiedName(key));
    out.Messages(here.Child("value"), TextAt(taint, "value"), data::CheckLabelValue(TextAt(taint, "value")));
    if (effect.empty())
      out.Required(here.Child("effect"));
    else
      out.OneOf(here.Child("effect"), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (!seen.emplace(key, effect).second)
      out.DuplicateAsPrinted(here, PrintedTaint(taint), "taints must be unique by key and effect pair");
  });
}

}  // namespace

void CheckNamespace(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const json::array* finalizers = ListAt(SpecOf(object), "finalizers");
  for (std::size_t i = 0; finalizers != nullptr && i < finalizers->size(); ++i) {
    if (!(*finalizers)[i].is_string()) continue;
    const std::string_view name = data::AsView((*finalizers)[i].get_string());
    out.Messages(at.Child("finalizers"), name, data::CheckQualifiedName(name));
    if (!name.contains('/') && name != "kubernetes")
      out.Invalid(at.Child("finalizers"), name, "name is neither a standard finalizer name nor is it fully qualified");
  }
}

void CheckNodeStatus(Findings& out, const Object& object, const Object*) {
  const Object& status = Part(object, "status");
  const Path at("status");
  for (const char* list : {"capacity", "allocatable"}) CheckAmounts(out, Part(status, list), at.Child(list));
}

void CheckNode(Findings& out, const Object& object, const Object* old) {
  const Path at("spec"), metadata("metadata");
  const Object& spec = SpecOf(object);
  const Path taints = metadata.Child("taints");
  CheckTaints(out, spec, taints);
  if (old != nullptr) CheckTaints(out, spec, taints);  // an update is checked as an object and as a change
  CheckNodeStatus(out, object, old);
  const Path cidrs = at.Child("podCIDRs");
  if (const std::string_view cidr = TextAt(spec, "podCIDR"); !cidr.empty()) CheckCidr(out, cidr, cidrs.Index(0));
  const std::string_view provider = TextAt(spec, "providerID");
  if (old != nullptr && !TextAt(SpecOf(*old), "providerID").empty() && provider != TextAt(SpecOf(*old), "providerID"))
    out.Forbidden(at.Child("providerID"), "node updates may not change providerID except from \"\" to valid");
}

void CheckPersistentVolume(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  if (ListAt(spec, "accessModes") == nullptr) out.Required(at.Child("accessModes"));
  const Object& capacity = Part(spec, "capacity");
  if (capacity.empty()) out.Required(at.Child("capacity"));
  if (!capacity.contains("storage") || capacity.size() > 1)
    out.Unsupported(at.Child("capacity"), capacity, {"storage"});
  out.OneOf(at.Child("persistentVolumeReclaimPolicy"), TextAt(spec, "persistentVolumeReclaimPolicy"),
            {"Delete", "Recycle", "Retain"});
  const bool source = std::ranges::any_of(spec, [](const auto& member) {
    const std::string_view name(member.key().data(), member.key().size());
    return member.value().is_object() && name != "capacity" && name != "claimRef" && name != "nodeAffinity";
  });
  if (!source) out.Required(at, "must specify a volume type");
}

void CheckPersistentVolumeClaim(Findings& out, const Object& object, const Object* old) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  const json::array* modes = ListAt(spec, "accessModes");
  if (modes == nullptr) out.Required(at.Child("accessModes"), "at least 1 access mode is required");
  for (std::size_t i = 0; modes != nullptr && i < modes->size(); ++i)
    if ((*modes)[i].is_string())
      out.OneOf(at.Child("accessModes"), data::AsView((*modes)[i].get_string()),
                {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
  const Path resources = at.Child("resources");
  const Object& requests = Part(Part(spec, "resources"), "requests");
  if (!requests.contains("storage")) out.Required(resources.Key("storage"));
  if (old == nullptr) return;
  Object now = spec, was = SpecOf(*old);
  for (Object* side : {&now, &was})
    for (const char* field : {"resources", "volumeAttributesClassName"}) side->erase(field);
  if (TextAt(was, "volumeName").empty()) now.erase("volumeName");
  if (!was.contains("storageClassName")) now.erase("storageClassName");
  if (!data::JsonEqual(now, was))
    out.Forbidden(
        at,
        "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims");
  const Path root;
  if (TextAt(now, "volumeMode") != TextAt(was, "volumeMode"))
    out.Invalid(root.Child("volumeMode"), TextAt(now, "volumeMode"), "field is immutable");
}

void CheckLimitRange(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Path limits = at.Child("limits");
  std::size_t i = 0;
  EachAt(SpecOf(object), "limits", [&](const Object& limit) {
    const Path here = limits.Index(i++);
    for (const Order& order : kOrders) CheckOrder(out, limit, order, here);
  });
}

void CheckResourceQuota(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Path hard = at.Child("hard");
  for (const auto& [key, value] : Part(SpecOf(object), "hard")) {
    const std::string_view name(key.data(), key.size());
    const data::Messages wrong = data::CheckQualifiedName(name);
    out.Messages(hard.Key(name), name, wrong);
    if (!name.contains('/') && !wrong.empty())
      out.Invalid(hard.Key(name), name, "must be a standard resource for quota");
    const data::Quantity amount = Amount(Part(SpecOf(object), "hard"), name);
    const bool counted = name == "pods" || name == "services" || name == "secrets" || name == "configmaps" ||
                         name == "persistentvolumeclaims" || name == "replicationcontrollers" ||
                         name == "resourcequotas" || name.starts_with("count/") || name.starts_with("services.");
    if (amount.Sign() < 0) out.Invalid(hard.Key(name), value, "must be greater than or equal to 0");
    if (counted && amount != data::Quantity::Of(amount.Value()))
      out.Invalid(hard.Key(name), value, "must be an integer");
  }
}

void CheckEvent(Findings& out, const Object& object, const Object*) {
  const Path at("involvedObject");
  const std::string_view about = TextAt(Part(object, "involvedObject"), "namespace"),
                         own = TextAt(Part(object, "metadata"), "namespace");
  const bool cluster_wide = about.empty() && (own == "default" || own == "kube-system");
  if (about != own && !cluster_wide && Missing(object, "eventTime"))
    out.Invalid(at.Child("namespace"), about, "does not match event.namespace");
}

}  // namespace gpuop::sim::types
