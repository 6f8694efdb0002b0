#include "sim/types/autoscalers.h"

#include <boost/json.hpp>
#include <string>
#include <utility>

#include "data/json.h"
#include "sim/types/defaults/fill.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";

/// Moves a member, if it is there, to another object.
void Move(Object& from, std::string_view name, Object& to, std::string_view as) {
  json::value* const value = from.if_contains(name);
  if (value == nullptr) return;
  json::value taken = std::move(*value);  // `to` may be `from`, whose members move as it grows
  from.erase(name);
  to[as] = std::move(taken);
}

/// A metric source's members, v1's names first: pods, object and external name a metric, resources name themselves.
struct Names {
  const char *source, *metric, *selector, *value, *average;
};
constexpr Names kNamed[] = {
    {"pods", "metricName", "selector", nullptr, "targetAverageValue"},
    {"object", "metricName", "selector", "targetValue", "averageValue"},
    {"external", "metricName", "metricSelector", "targetValue", "targetAverageValue"},
};

void NamedToV1(const Names& names, Object& source) {
  Object metric = ObjectMade(source, "metric"), target = ObjectMade(source, "target");
  source.erase("metric");
  source.erase("target");
  if (const Object* of = ObjectAt(source, "describedObject")) {
    // The annotation is text, in which the members' order shows.
    Object reference;
    for (const char* field : {"kind", "name", "apiVersion"})
      if (const json::value* value = of->if_contains(field)) reference[field] = *value;
    source.erase("describedObject");
    source["target"] = std::move(reference);
  }
  Move(metric, "name", source, names.metric);
  if (names.value != nullptr) Move(target, "value", source, names.value);
  Move(metric, "selector", source, names.selector);
  Move(target, "averageValue", source, names.average);
}

void NamedToV2(const Names& names, Object& source) {
  Object metric, target;
  Move(source, "target", source, "describedObject");
  Move(source, names.metric, metric, "name");
  Move(source, names.selector, metric, "selector");
  target["type"] = names.value != nullptr && source.contains(names.value) ? "Value" : "AverageValue";
  if (names.value != nullptr) Move(source, names.value, target, "value");
  Move(source, names.average, target, "averageValue");
  source["target"] = std::move(target);
  source["metric"] = std::move(metric);
}

void ResourceToV1(Object& source) {
  Object target = ObjectMade(source, "target");
  source.erase("target");
  json::value container = source.contains("container") ? source.at("container") : json::value();
  source.erase("container");
  Move(target, "averageUtilization", source, "targetAverageUtilization");
  Move(target, "averageValue", source, "targetAverageValue");
  if (!container.is_null()) source["container"] = std::move(container);
}

void ResourceToV2(Object& source) {
  Object target{{"type", source.contains("targetAverageUtilization") ? "Utilization" : "AverageValue"}};
  Move(source, "targetAverageUtilization", target, "averageUtilization");
  Move(source, "targetAverageValue", target, "averageValue");
  source["target"] = std::move(target);
}

void ConvertMetric(bool to_v1, Object& metric) {
  for (const Names& names : kNamed)
    if (Object* source = ObjectAt(metric, names.source)) (to_v1 ? NamedToV1 : NamedToV2)(names, *source);
  for (const char* name : {"resource", "containerResource"})
    if (Object* source = ObjectAt(metric, name)) (to_v1 ? ResourceToV1 : ResourceToV2)(*source);
}

/// The target of a metric that v1 has a field for: the CPU's utilization. Null for others.
const json::value* CpuUtilization(const Object& metric) {
  const Object* source = ObjectAt(metric, "resource");
  const Object* target = source == nullptr ? nullptr : ObjectAt(*source, "target");
  if (TextAt(metric, "type") != "Resource" || target == nullptr || TextAt(*source, "name") != "cpu") return nullptr;
  return target->if_contains("averageUtilization");
}

/// Behavior as the annotation has it: the members of the server's own type, capital letters first, all of them written.
Object RulesToV1(const Object& rules) {
  const auto member = [](const Object& of, const char* name) {
    const json::value* value = of.if_contains(name);
    return value == nullptr ? json::value() : *value;
  };
  json::array policies;
  EachAt(rules, "policies", [&](const Object& policy) {
    policies.push_back(Object{{"Type", member(policy, "type")},
                              {"Value", member(policy, "value")},
                              {"PeriodSeconds", member(policy, "periodSeconds")}});
  });
  return {{"StabilizationWindowSeconds", member(rules, "stabilizationWindowSeconds")},
          {"SelectPolicy", member(rules, "selectPolicy")},
          {"Policies", std::move(policies)},
          {"Tolerance", member(rules, "tolerance")}};
}

/// "StabilizationWindowSeconds" as "stabilizationWindowSeconds", at every depth; what is null is left out.
json::value Lowered(const json::value& value) {
  if (const json::array* list = value.if_array()) {
    json::array out;
    for (const json::value& element : *list) out.push_back(Lowered(element));
    return out;
  }
  const Object* object = value.if_object();
  if (object == nullptr) return value;
  Object out;
  for (const auto& [key, member] : *object) {
    if (member.is_null()) continue;
    std::string name(key);
    if (!name.empty() && name[0] >= 'A' && name[0] <= 'Z') name[0] = static_cast<char>(name[0] - 'A' + 'a');
    out[name] = Lowered(member);
  }
  return out;
}

void Annotate(Object& autoscaler, const char* name, const json::value& value) {
  ObjectMade(ObjectMade(autoscaler, "metadata"), "annotations")[name] = data::ToJson(value);
}

/// The value of an annotation, which goes; null without one.
json::value TakeAnnotation(Object& autoscaler, const char* name) {
  Object& metadata = ObjectMade(autoscaler, "metadata");
  Object* annotations = ObjectAt(metadata, "annotations");
  if (annotations == nullptr || !annotations->contains(name)) return nullptr;
  auto value = data::ParseJson(TextAt(*annotations, name));
  annotations->erase(name);
  if (annotations->empty()) metadata.erase("annotations");
  return value ? *std::move(value) : json::value();
}

void ToV1(Object& autoscaler) {
  Object& spec = ObjectMade(autoscaler, "spec");
  json::array others;
  EachAt(spec, "metrics", [&](Object& metric) {
    if (const json::value* cpu = CpuUtilization(metric)) {
      SetIfMissing(spec, "targetCPUUtilizationPercentage", *cpu);
      return;
    }
    ConvertMetric(true, metric);
    others.push_back(metric);
  });
  spec.erase("metrics");
  if (Object* behavior = ObjectAt(spec, "behavior")) {
    const auto rules = [&](const char* name) {
      const Object* of = ObjectAt(*behavior, name);
      return of == nullptr ? json::value() : json::value(RulesToV1(*of));
    };
    Annotate(autoscaler, kBehavior, Object{{"ScaleUp", rules("scaleUp")}, {"ScaleDown", rules("scaleDown")}});
    spec.erase("behavior");
  }
  Object& status = ObjectMade(autoscaler, "status");
  if (const json::value* conditions = status.if_contains("conditions")) Annotate(autoscaler, kConditions, *conditions);
  if (!others.empty()) Annotate(autoscaler, kMetrics, others);
  status.erase("conditions");
  status.erase("currentMetrics");
  SetIfMissing(status, "currentReplicas", 0);
  SetIfMissing(status, "desiredReplicas", 0);
}

void ToV2(Object& autoscaler) {
  Object& spec = ObjectMade(autoscaler, "spec");
  json::array metrics;
  if (json::value others = TakeAnnotation(autoscaler, kMetrics); others.is_array())
    for (json::value& metric : others.get_array()) {
      if (!metric.is_object()) continue;
      ConvertMetric(false, metric.get_object());
      metrics.push_back(std::move(metric));
    }
  if (const json::value* cpu = spec.if_contains("targetCPUUtilizationPercentage")) {
    Object target{{"type", "Utilization"}, {"averageUtilization", *cpu}};
    metrics.push_back(
        Object{{"type", "Resource"}, {"resource", Object{{"name", "cpu"}, {"target", std::move(target)}}}});
    spec.erase("targetCPUUtilizationPercentage");
  }
  if (!metrics.empty()) spec["metrics"] = std::move(metrics);
  if (json::value behavior = TakeAnnotation(autoscaler, kBehavior); behavior.is_object())
    spec["behavior"] = Lowered(behavior);
  Object& status = ObjectMade(autoscaler, "status");
  if (json::value conditions = TakeAnnotation(autoscaler, kConditions); conditions.is_array())
    status["conditions"] = std::move(conditions);
  status.erase("currentCPUUtilizationPercentage");
  if (const json::value* none = status.if_contains("currentReplicas"); none != nullptr && *none == 0)
    status.erase("currentReplicas");
  SetIfMissing(status, "desiredReplicas", 0);
  if (!status.contains("currentMetrics")) status["currentMetrics"] = nullptr;
}

}  // namespace

void ConvertAutoscaler(std::string_view version, Object& autoscaler) {
  for (const char* part : {"metadata", "spec", "status"}) ObjectMade(autoscaler, part);  // nothing moves after this
  const bool is_v1 = TextAt(autoscaler, "apiVersion") == "autoscaling/v1";
  if (version == "v1" && !is_v1) ToV1(autoscaler);
  if (version == "v2" && is_v1) ToV2(autoscaler);
}

}  // namespace gpuop::sim::types
