#include <boost/json.hpp>

#include "data/json.h"
#include "data/label_selector.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

const Object& Empty() {
  static const Object& none = *new Object;
  return none;
}

const Object& Part(const Object& object, std::string_view name) {
  const Object* part = ObjectAt(object, name);
  return part == nullptr ? Empty() : *part;
}

const Path& SpecPath() {
  static const Path& root = *new Path("spec");
  return root;
}

/// What every workload's selector must be. `empty_message` is for one that selects everything.
void CheckWorkloadSelector(Findings& out, const Object& spec, std::string_view empty_message) {
  const Path at = SpecPath().Child("selector");
  const Object* selector = ObjectAt(spec, "selector");
  if (selector == nullptr) return out.Required(at);
  CheckSelector(out, *selector, at);
  const bool empty = ListAt(*selector, "matchExpressions") == nullptr && Part(*selector, "matchLabels").empty();
  if (empty) out.Invalid(at, *selector, std::string(empty_message));
}

bool SelectorIsWellFormed(const Object& spec) {
  const Object* selector = ObjectAt(spec, "selector");
  return selector != nullptr && data::LabelSelector::FromJson(&spec.at("selector")).has_value();
}

void SelectorMatchesTemplate(Findings& out, const Object& spec) {
  const Object* selector = ObjectAt(spec, "selector");
  const Object* labels = ObjectAt(Part(Part(spec, "template"), "metadata"), "labels");
  if (selector != nullptr && selector->empty()) return;
  const auto parsed = selector == nullptr
                          ? data::LabelSelector::Nothing()
                          : data::LabelSelector::FromJson(&spec.at("selector")).value_or(data::LabelSelector());
  if (parsed.Matches(labels)) return;
  const Path at = SpecPath().Child("template");
  const Path metadata = at.Child("metadata");
  out.Invalid(metadata.Child("labels"), labels == nullptr ? json::value() : json::value(*labels),
              "`selector` does not match template `labels`");
}

/// A workload's Pod template, whose Pods must always be restarted.
void CheckTemplate(Findings& out, const Object& spec, const char* owner) {
  const Path at = SpecPath().Child("template");
  const Object& pod_template = Part(spec, "template");
  const Object& pod = Part(pod_template, "spec");
  CheckLabelMap(out, ObjectAt(Part(pod_template, "metadata"), "labels"), at.Child("labels"));
  const Path pod_at = at.Child("spec");
  CheckPodSpec(out, pod, pod_at);
  if (ListAt(pod, "ephemeralContainers") != nullptr)
    out.Forbidden(pod_at.Child("ephemeralContainers"), "ephemeral containers not allowed in pod template");
  const std::string_view restart = TextAt(pod, "restartPolicy");
  if (owner != nullptr && (restart == "Never" || restart == "OnFailure"))
    out.Unsupported(pod_at.Child("restartPolicy"), restart, {"Always"});
  if (owner != nullptr && pod.contains("activeDeadlineSeconds"))
    out.Forbidden(pod_at.Child("activeDeadlineSeconds"),
                  std::string("activeDeadlineSeconds in ") + owner + " is not Supported");
}

/// A strategy as Go prints it when its type is wrong.
std::string PrintedStrategy(const Object& strategy) {
  return "{\"Type\":" + data::ToJson(json::value(TextAt(strategy, "type"))) + ",\"RollingUpdate\":null}";
}

void CheckRolling(Findings& out, const Object& rolling, const Path& at) {
  for (const char* field : {"maxUnavailable", "maxSurge"})
    if (rolling.contains(field)) NumberOrPercent(out, rolling.at(field), at.Child(field));
}

void CheckDeploymentStrategy(Findings& out, const Object& spec) {
  const Path at = SpecPath().Child("strategy");
  const Object& strategy = Part(spec, "strategy");
  const Object* rolling = ObjectAt(strategy, "rollingUpdate");
  const std::string_view type = TextAt(strategy, "type");
  if (type == "Recreate") {
    if (rolling != nullptr)
      out.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'");
    return;
  }
  if (type != "RollingUpdate")
    return out.UnsupportedAsPrinted(at, PrintedStrategy(strategy), {"Recreate", "RollingUpdate"});
  if (rolling == nullptr) return;
  const Path here = at.Child("rollingUpdate");
  CheckRolling(out, *rolling, here);
  if (IsZeroAmount(*rolling, "maxUnavailable") && IsZeroAmount(*rolling, "maxSurge"))
    out.Invalid(here.Child("maxUnavailable"),
                rolling->contains("maxUnavailable") ? rolling->at("maxUnavailable") : json::value(0),
                "may not be 0 when `maxSurge` is 0");
  if (rolling->contains("maxUnavailable"))
    AtMostWhole(out, rolling->at("maxUnavailable"), here.Child("maxUnavailable"));
}

void CheckDaemonStrategy(Findings& out, const Object& spec) {
  const Path at = SpecPath().Child("updateStrategy");
  const Object& strategy = Part(spec, "updateStrategy");
  const std::string_view type = TextAt(strategy, "type");
  if (type == "OnDelete") return;
  if (type != "RollingUpdate")
    return out.UnsupportedAsPrinted(at, PrintedStrategy(strategy), {"RollingUpdate", "OnDelete"});
  const Path here = at.Child("rollingUpdate");
  const Object* rolling = ObjectAt(strategy, "rollingUpdate");
  if (rolling == nullptr) return out.Required(here);
  CheckRolling(out, *rolling, here);
  const bool no_unavailable = IsZeroAmount(*rolling, "maxUnavailable"), no_surge = IsZeroAmount(*rolling, "maxSurge");
  if (!no_unavailable && !no_surge)
    out.Invalid(here.Child("maxSurge"), rolling->at("maxSurge"), "may not be set when maxUnavailable is non-zero");
  if (no_unavailable && no_surge) out.Required(here.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0");
}

void SelectorIsImmutable(Findings& out, const Object& spec, const Object* old) {
  if (old != nullptr) Immutable(out, spec, SpecOf(*old), "selector", SpecPath());
}

}  // namespace

void CheckPod(Findings& out, const Object& object, const Object* old) {
  const Object& spec = SpecOf(object);
  CheckPodSpec(out, spec, SpecPath());
  if (old != nullptr) CheckPodUpdate(out, spec, SpecOf(*old), SpecPath());
}

void CheckPodTemplateObject(Findings& out, const Object& object, const Object*) {
  const Path at("template");
  CheckPodSpec(out, Part(Part(object, "template"), "spec"), at.Child("spec"));
}

void CheckDeployment(Findings& out, const Object& object, const Object* old) {
  const Object& spec = SpecOf(object);
  NotNegative(out, spec, SpecPath(), {"replicas"});
  CheckWorkloadSelector(out, spec, "empty selector is invalid for deployment");
  if (ObjectAt(spec, "selector") != nullptr && !SelectorIsWellFormed(spec)) {
    out.Invalid(SpecPath().Child("selector"), spec.at("selector"), "invalid label selector");
  } else {
    SelectorMatchesTemplate(out, spec);
    CheckTemplate(out, spec, "ReplicaSet");
  }
  CheckDeploymentStrategy(out, spec);
  NotNegative(out, spec, SpecPath(), {"minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"});
  const auto deadline = NumberAt(spec, "progressDeadlineSeconds"), ready = NumberAt(spec, "minReadySeconds");
  if (deadline && *deadline >= 0 && *deadline <= ready.value_or(0))
    out.Invalid(SpecPath().Child("progressDeadlineSeconds"), *deadline, "must be greater than minReadySeconds");
  SelectorIsImmutable(out, spec, old);
}

void CheckReplicaSet(Findings& out, const Object& object, const Object* old) {
  const Object& spec = SpecOf(object);
  NotNegative(out, spec, SpecPath(), {"replicas", "minReadySeconds"});
  CheckWorkloadSelector(out, spec, "empty selector is invalid for deployment");
  SelectorMatchesTemplate(out, spec);
  CheckTemplate(out, spec, "ReplicaSet");
  SelectorIsImmutable(out, spec, old);
}

void CheckDaemonSet(Findings& out, const Object& object, const Object* old) {
  const Object& spec = SpecOf(object);
  if (ObjectAt(spec, "selector") != nullptr)
    CheckSelector(out, *ObjectAt(spec, "selector"), SpecPath().Child("selector"));
  SelectorMatchesTemplate(out, spec);
  const Object* selector = ObjectAt(spec, "selector");
  if (selector == nullptr)
    out.Required(SpecPath().Child("selector"));
  else if (selector->empty())
    out.Invalid(SpecPath().Child("selector"), *selector, "empty selector is invalid for daemonset");
  CheckTemplate(out, spec, "DaemonSet");
  NotNegative(out, spec, SpecPath(), {"minReadySeconds"});
  CheckDaemonStrategy(out, spec);
  NotNegative(out, spec, SpecPath(), {"revisionHistoryLimit"});
  SelectorIsImmutable(out, spec, old);
}

void CheckStatefulSet(Findings& out, const Object& object, const Object* old) {
  const Object& spec = SpecOf(object);
  if (const std::string_view policy = TextAt(spec, "podManagementPolicy");
      policy != "OrderedReady" && policy != "Parallel")
    out.Invalid(SpecPath().Child("podManagementPolicy"), policy, "must be 'OrderedReady' or 'Parallel'");
  const Object& strategy = Part(spec, "updateStrategy");
  const Path at = SpecPath().Child("updateStrategy");
  const std::string_view type = TextAt(strategy, "type");
  if (type != "RollingUpdate" && type != "OnDelete")
    out.InvalidAsPrinted(at, PrintedStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  NotNegative(out, Part(strategy, "rollingUpdate"), at.Child("rollingUpdate"), {"partition"});
  NotNegative(out, spec, SpecPath(), {"replicas", "minReadySeconds"});
  CheckWorkloadSelector(out, spec, "empty selector is invalid for statefulset");
  SelectorMatchesTemplate(out, spec);
  CheckTemplate(out, spec, "StatefulSet");
  if (old == nullptr) return;
  Object now = spec, was = SpecOf(*old);
  for (const char* field : {"replicas", "ordinals", "template", "updateStrategy",
                            "persistentVolumeClaimRetentionPolicy", "minReadySeconds", "revisionHistoryLimit"}) {
    now.erase(field);
    was.erase(field);
  }
  if (!data::JsonEqual(now, was))
    out.Forbidden(SpecPath(),
                  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                  "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                  "'minReadySeconds' are forbidden");
}

void CheckControllerRevision(Findings& out, const Object& object, const Object* old) {
  const Path root;
  NotNegative(out, object, root, {"revision"});
  if (old != nullptr) Immutable(out, object, *old, "data", root);
}

}  // namespace gpuop::sim::types
