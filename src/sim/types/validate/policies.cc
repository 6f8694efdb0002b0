#include <boost/json.hpp>

#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

std::string PrintedBudget(const Object& spec) {
  const auto shown = [&](const char* field) {
    return spec.contains(field) ? data::ToJson(spec.at(field)) : std::string("null");
  };
  return "{\"MinAvailable\":" + shown("minAvailable") + ",\"Selector\":" + shown("selector") +
         ",\"MaxUnavailable\":" + shown("maxUnavailable") +
         ",\"UnhealthyPodEvictionPolicy\":" + shown("unhealthyPodEvictionPolicy") + "}";
}

}  // namespace

void CheckPodDisruptionBudget(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  if (spec.contains("minAvailable") && spec.contains("maxUnavailable"))
    out.InvalidAsPrinted(at, PrintedBudget(spec), "minAvailable and maxUnavailable cannot be both set");
  for (const char* field : {"minAvailable", "maxUnavailable"})
    if (spec.contains(field)) {
      NumberOrPercent(out, spec.at(field), at.Child(field));
      AtMostWhole(out, spec.at(field), at.Child(field));
    }
  if (const Object* selector = ObjectAt(spec, "selector")) CheckSelector(out, *selector, at.Child("selector"));
  out.OneOf(at.Child("unhealthyPodEvictionPolicy"), TextAt(spec, "unhealthyPodEvictionPolicy"),
            {"AlwaysAllow", "IfHealthyBudget"});
}

void CheckPriorityClass(Findings& out, const Object& object, const Object* old) {
  const Path root;
  const Path metadata = root.Child("metadata");
  const Object* own = ObjectAt(object, "metadata");
  const std::string name(own == nullptr ? std::string_view() : TextAt(*own, "name"));
  const std::int64_t value = NumberAt(object, "value").value_or(0);
  const bool system = name == "system-node-critical" || name == "system-cluster-critical";
  if (name.starts_with("system-")) {
    if (!system)
      out.Forbidden(metadata.Child("name"),
                    "priority class names with 'system-' prefix are reserved for system use only. error: " + name +
                        " is not a known system priority class");
  } else if (value > 1000000000) {
    out.Forbidden(root.Child("value"), "maximum allowed value of a user defined priority is 1000000000");
  }
  out.OneOf(root.Child("preemptionPolicy"), TextAt(object, "preemptionPolicy"), {"PreemptLowerPriority", "Never"});
  if (old == nullptr) return;
  if (NumberAt(*old, "value").value_or(0) != value)
    out.Forbidden(root.Child("value"), "may not be changed in an update.");
  Immutable(out, object, *old, "preemptionPolicy", root);
}

void CheckRuntimeClass(Findings& out, const Object& object, const Object* old) {
  const Path root;
  const std::string_view handler = TextAt(object, "handler");
  if (handler.empty())
    out.Required(root.Child("handler"));
  else
    out.Messages(root.Child("handler"), handler, data::CheckDnsLabel(handler));
  if (const Object* overhead = ObjectAt(object, "overhead")) {
    const Path at = root.Child("overhead");
    if (const Object* fixed = ObjectAt(*overhead, "podFixed")) CheckResourceList(out, *fixed, at.Child("limits"));
  }
  if (old != nullptr) Immutable(out, object, *old, "handler", root);
}

void CheckStorageClass(Findings& out, const Object& object, const Object* old) {
  const Path root;
  if (TextAt(object, "provisioner").empty()) out.Required(root.Child("provisioner"));
  out.OneOf(root.Child("reclaimPolicy"), TextAt(object, "reclaimPolicy"), {"Delete", "Retain"});
  out.OneOf(root.Child("volumeBindingMode"), TextAt(object, "volumeBindingMode"),
            {"Immediate", "WaitForFirstConsumer"});
  if (old == nullptr) return;
  for (const char* field : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"})
    Immutable(out, object, *old, field, root);
}

void CheckLease(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  if (const auto duration = NumberAt(spec, "leaseDurationSeconds"); duration && *duration <= 0)
    out.Invalid(at.Child("leaseDurationSeconds"), *duration, "must be greater than 0");
  NotNegative(out, spec, at, {"leaseTransitions"});
}

}  // namespace gpuop::sim::types
