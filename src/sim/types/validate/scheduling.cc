#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

void CheckNodeRequirement(Findings& out, const Object& requirement, const Path& at) {
  const std::string_view op = TextAt(requirement, "operator");
  const json::array* values = ListAt(requirement, "values");
  if (op == "In" || op == "NotIn") {
    if (values == nullptr) out.Required(at.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values != nullptr)
      out.Forbidden(at.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (op == "Gt" || op == "Lt") {
    if (values == nullptr || values->size() != 1)
      out.Required(at.Child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else {
    out.Invalid(at.Child("operator"), op, "not a valid selector operator");
  }
  out.Messages(at.Child("key"), TextAt(requirement, "key"), data::CheckQualifiedName(TextAt(requirement, "key")));
}

void CheckNodeTerm(Findings& out, const Object& term, const Path& at) {
  std::size_t i = 0;
  const Path list = at.Child("matchExpressions");
  EachAt(term, "matchExpressions",
         [&](const Object& requirement) { CheckNodeRequirement(out, requirement, list.Index(i++)); });
}

void CheckNodeAffinity(Findings& out, const Object& affinity, const Path& at) {
  if (const Object* required = ObjectAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution")) {
    const Path selector = at.Child("requiredDuringSchedulingIgnoredDuringExecution");
    const Path terms = selector.Child("nodeSelectorTerms");
    if (ListAt(*required, "nodeSelectorTerms") == nullptr)
      out.Required(terms, "must have at least one node selector term");
    std::size_t i = 0;
    EachAt(*required, "nodeSelectorTerms", [&](const Object& term) { CheckNodeTerm(out, term, terms.Index(i++)); });
  }
  std::size_t i = 0;
  const Path list = at.Child("preferredDuringSchedulingIgnoredDuringExecution");
  EachAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution", [&](const Object& preferred) {
    const Path here = list.Index(i++);
    const std::int64_t weight = NumberAt(preferred, "weight").value_or(0);
    if (weight < 1 || weight > 100) out.Invalid(here.Child("weight"), weight, "must be in the range 1-100");
    if (const Object* term = ObjectAt(preferred, "preference")) CheckNodeTerm(out, *term, here.Child("preference"));
  });
}

void CheckPodTerm(Findings& out, const Object& term, const Path& at) {
  for (const char* selector : {"labelSelector", "namespaceSelector"})
    if (const Object* labels = ObjectAt(term, selector)) CheckSelector(out, *labels, at.Child(selector));
  const std::string_view key = TextAt(term, "topologyKey");
  if (key.empty()) out.Required(at.Child("topologyKey"), "can not be empty");
  out.Messages(at.Child("topologyKey"), key, data::CheckQualifiedName(key));
}

void CheckPodAffinity(Findings& out, const Object& affinity, const Path& at) {
  std::size_t i = 0;
  const Path required = at.Child("requiredDuringSchedulingIgnoredDuringExecution");
  EachAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution",
         [&](const Object& term) { CheckPodTerm(out, term, required.Index(i++)); });
  i = 0;
  const Path preferred = at.Child("preferredDuringSchedulingIgnoredDuringExecution");
  EachAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution", [&](const Object& weighted) {
    const Path here = preferred.Index(i++);
    const std::int64_t weight = NumberAt(weighted, "weight").value_or(0);
    if (weight < 1 || weight > 100) out.Invalid(here.Child("weight"), weight, "must be in the range 1-100");
    if (const Object* term = ObjectAt(weighted, "podAffinityTerm"))
      CheckPodTerm(out, *term, here.Child("podAffinityTerm"));
  });
}

void CheckToleration(Findings& out, const Object& toleration, const Path& at) {
  const std::string_view key = TextAt(toleration, "key"), op = TextAt(toleration, "operator"),
                         effect = TextAt(toleration, "effect");
  if (!key.empty()) out.Messages(at.Child("key"), key, data::CheckQualifiedName(key));
  if (key.empty() && op != "Exists")
    out.Invalid(at.Child("operator"), op,
                R"(operator must be Exists when `key` is empty, which means "match all values and all keys")");
  if (toleration.contains("tolerationSeconds") && effect != "NoExecute")
    out.Invalid(at.Child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  const std::string_view value = TextAt(toleration, "value");
  if (op.empty() || op == "Equal")
    out.Messages(at.Child("operator"), value, data::CheckLabelValue(value));
  else if (op == "Exists" && !value.empty())
    out.Invalid(at.Child("operator"), value, "value must be empty when `operator` is 'Exists'");
  else if (op != "Exists")
    out.Unsupported(at.Child("operator"), op, {"Equal", "Exists"});
  out.OneOf(at.Child("effect"), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
}

void CheckSpread(Findings& out, const Object& constraint, const Path& at) {
  const std::int64_t skew = NumberAt(constraint, "maxSkew").value_or(0);
  if (skew <= 0) out.Invalid(at.Child("maxSkew"), skew, "must be greater than zero");
  if (TextAt(constraint, "topologyKey").empty()) out.Required(at.Child("topologyKey"), "can not be empty");
  const std::string_view when = TextAt(constraint, "whenUnsatisfiable");
  if (when != "DoNotSchedule" && when != "ScheduleAnyway")
    out.Unsupported(at.Child("whenUnsatisfiable"), when, {"DoNotSchedule", "ScheduleAnyway"});
  if (const Object* selector = ObjectAt(constraint, "labelSelector"))
    CheckSelector(out, *selector, at.Child("labelSelector"));
}

}  // namespace

void CheckScheduling(Findings& out, const Object& spec, const Path& at) {
  CheckLabelMap(out, ObjectAt(spec, "nodeSelector"), at.Child("nodeSelector"));
  if (const Object* affinity = ObjectAt(spec, "affinity")) {
    const Path here = at.Child("affinity");
    if (const Object* node = ObjectAt(*affinity, "nodeAffinity"))
      CheckNodeAffinity(out, *node, here.Child("nodeAffinity"));
    for (const char* kind : {"podAffinity", "podAntiAffinity"})
      if (const Object* pod = ObjectAt(*affinity, kind)) CheckPodAffinity(out, *pod, here.Child(kind));
  }
  std::size_t i = 0;
  const Path tolerations = at.Child("tolerations");
  EachAt(spec, "tolerations",
         [&](const Object& toleration) { CheckToleration(out, toleration, tolerations.Index(i++)); });
  i = 0;
  const Path spread = at.Child("topologySpreadConstraints");
  EachAt(spec, "topologySpreadConstraints",
         [&](const Object& constraint) { CheckSpread(out, constraint, spread.Index(i++)); });
}

}  // namespace gpuop::sim::types
