#include <boost/json.hpp>
#include <string>

#include "data/json.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

constexpr std::int64_t kLongestWindow = 3600, kLongestPeriod = 1800;
constexpr const char* kSources[] = {"object", "pods", "resource", "containerResource", "external"};

/// The member of a metric of this type; empty for an unknown one.
std::string SourceOf(std::string_view type) {
  std::string name(type);
  if (!name.empty() && name[0] >= 'A' && name[0] <= 'Z') name[0] = static_cast<char>(name[0] - 'A' + 'a');
  for (const char* source : kSources)
    if (name == source && name != type) return name;
  return {};
}

void CheckTarget(Findings& out, const Object& target, const Path& at, bool of_resource) {
  const std::string_view type = TextAt(target, "type");
  if (type.empty()) out.Required(at.Child("type"), "must specify a metric target type");
  if (type != "Utilization" && type != "Value" && type != "AverageValue")
    out.Invalid(at.Child("type"), type, "must be either Utilization, Value, or AverageValue");
  if (const auto share = NumberAt(target, "averageUtilization"); share && *share < 1)
    out.Invalid(at.Child("averageUtilization"), *share, "must be greater than 0");
  const bool average = target.contains("averageValue"), share = target.contains("averageUtilization");
  if (!of_resource) {
    if (!average && !target.contains("value"))
      out.Required(at.Child("averageValue"), "must set either a target value for metric or a per-pod target");
    return;
  }
  if (!average && !share)
    out.Required(at.Child("averageUtilization"), "must set either a target raw value or a target utilization");
  if (average && share)
    out.Forbidden(at.Child("averageValue"), "may not set both a target raw value and a target utilization");
}

void CheckSource(Findings& out, const Object& metric, const std::string& source, const Path& at) {
  const Object& of = *ObjectAt(metric, source);
  const bool resource = source == "resource" || source == "containerResource";
  if (resource) {
    if (TextAt(of, "name").empty()) out.Required(at.Child("name"), "must specify a resource name");
    if (source == "containerResource" && TextAt(of, "container").empty())
      out.Required(at.Child("container"), "must specify a container");
  } else {
    const Object* named = ObjectAt(of, "metric");
    if (named == nullptr || TextAt(*named, "name").empty())
      out.Required(at.Child("metric").Child("name"), "must specify a metric name");
  }
  const Object* target = ObjectAt(of, "target");
  const Object none;
  CheckTarget(out, target == nullptr ? none : *target, at.Child("target"), resource);
}

void CheckMetric(Findings& out, const Object& metric, const Path& at) {
  const std::string_view type = TextAt(metric, "type");
  if (type.empty()) out.Required(at.Child("type"), "must specify a metric source type");
  const std::string source = SourceOf(type);
  const auto unsupported = [&] {
    if (!type.empty() && source.empty())
      out.Unsupported(at.Child("type"), type, {"ContainerResource", "External", "Object", "Pods", "Resource"});
  };
  unsupported();
  for (const char* other : kSources) {
    if (!metric.contains(other)) continue;
    if (source.empty() || source == other)
      CheckSource(out, metric, other, at.Child(other));
    else
      out.Forbidden(at.Child(other), "must populate the given metric source only");
  }
  unsupported();  // the real server says this twice
  if (!source.empty() && !metric.contains(source))
    out.Required(at.Child(source), "must populate information for the given metric source");
}

void CheckRules(Findings& out, const Object& rules, const Path& at) {
  const auto window = NumberAt(rules, "stabilizationWindowSeconds");
  const Path window_at = at.Child("stabilizationWindowSeconds");
  if (window && *window < 0) out.Invalid(window_at, *window, "must be greater than or equal to zero");
  if (window && *window > kLongestWindow)
    out.Invalid(window_at, *window, "must be less than or equal to " + std::to_string(kLongestWindow));
  out.OneOf(at.Child("selectPolicy"), TextAt(rules, "selectPolicy"), {"Disabled", "Max", "Min"});
  const Path policies = at.Child("policies");
  if (ListAt(rules, "policies") == nullptr) out.Required(policies, "must specify at least one Policy");
  std::size_t i = 0;
  EachAt(rules, "policies", [&](const Object& policy) {
    const Path one = policies.Index(i++);
    const std::string_view type = TextAt(policy, "type");
    const std::int64_t value = NumberAt(policy, "value").value_or(0),
                       period = NumberAt(policy, "periodSeconds").value_or(0);
    if (type != "Pods" && type != "Percent") out.Unsupported(one.Child("type"), type, {"Percent", "Pods"});
    if (value <= 0) out.Invalid(one.Child("value"), value, "must be greater than zero");
    if (period <= 0) out.Invalid(one.Child("periodSeconds"), period, "must be greater than zero");
    if (period > kLongestPeriod)
      out.Invalid(one.Child("periodSeconds"), period,
                  "must be less than or equal to " + std::to_string(kLongestPeriod));
  });
}

void CheckReference(Findings& out, const Object& spec, const Path& at) {
  const Object none;
  const Object* given = ObjectAt(spec, "scaleTargetRef");
  const Object& target = given == nullptr ? none : *given;
  for (const char* field : {"kind", "name"})
    if (TextAt(target, field).empty()) out.Required(at.Child(field));
  const std::string_view version = TextAt(target, "apiVersion");
  if (!version.contains('/') && TextAt(target, "kind") != "ReplicationController")
    out.Invalid(at.Child("apiVersion"), version, "apiVersion must specify API group");
}

}  // namespace

void CheckAutoscaler(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  const std::int64_t most = NumberAt(spec, "maxReplicas").value_or(0);
  const std::int64_t least = NumberAt(spec, "minReplicas").value_or(1);
  if (least < 1) out.Invalid(at.Child("minReplicas"), least, "must be greater than or equal to 1");
  if (most < 1) out.Required(at.Child("maxReplicas"), "must be set and greater than 0");
  if (most < least) out.Invalid(at.Child("maxReplicas"), most, "must be greater than or equal to `minReplicas`");
  CheckReference(out, spec, at.Child("scaleTargetRef"));
  std::size_t i = 0;
  bool countable = false;
  EachAt(spec, "metrics", [&](const Object& metric) {
    CheckMetric(out, metric, at.Child("metrics").Index(i++));
    countable |= TextAt(metric, "type") == "Object" || TextAt(metric, "type") == "External";
  });
  if (least == 0 && i > 0 && !countable)
    out.Forbidden(at.Child("metrics"),
                  "must specify at least one Object or External metric to support scaling to zero replicas");
  const Object* behavior = ObjectAt(spec, "behavior");
  if (behavior == nullptr) return;
  for (const char* way : {"scaleUp", "scaleDown"})
    if (const Object* rules = ObjectAt(*behavior, way)) CheckRules(out, *rules, at.Child("behavior").Child(way));
}

}  // namespace gpuop::sim::types
