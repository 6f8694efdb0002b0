#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "data/label_selector.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

const Object& Part(const Object& object, std::string_view name) {
  static const Object& none = *new Object;
  const Object* part = ObjectAt(object, name);
  return part == nullptr ? none : *part;
}

/// A Job's Pods end: they are never restarted always.
void CheckRestart(Findings& out, const Object& job_spec, const Path& at) {
  const std::string_view policy = TextAt(Part(Part(job_spec, "template"), "spec"), "restartPolicy");
  if (policy == "OnFailure" || policy == "Never") return;
  const Path pod_template = at.Child("template");
  const Path pod = pod_template.Child("spec");
  if (policy.empty() || policy == "Always")
    out.Required(pod.Child("restartPolicy"), R"(valid values: "OnFailure", "Never")");
  else
    out.Unsupported(pod.Child("restartPolicy"), policy, {"OnFailure", "Never"});
}

void CheckNumbers(Findings& out, const Object& spec, const Path& at) {
  NotNegative(out, spec, at,
              {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"});
  const std::string_view mode = TextAt(spec, "completionMode");
  out.OneOf(at.Child("completionMode"), mode, {"NonIndexed", "Indexed"});
  if (mode == "Indexed" && !spec.contains("completions"))
    out.Required(at.Child("completions"), "when completion mode is Indexed");
}

/// The server makes the selector; one written by hand is a mistake unless it is asked for.
void CheckGenerated(Findings& out, const Object& object, const Object& spec, const Path& at) {
  if (TrueAt(spec, "manualSelector")) return;
  const Object* selector = ObjectAt(spec, "selector");
  if (selector == nullptr) return;
  const Object expected{{"batch.kubernetes.io/controller-uid", TextAt(Part(object, "metadata"), "uid")}};
  if (!data::JsonEqual(Object{{"matchLabels", expected}}, *selector))
    out.Invalid(at.Child("selector"), *selector, "`selector` not auto-generated");
}

void CheckSelectorAndTemplate(Findings& out, const Object& spec, const Path& at) {
  const Object* labels = ObjectAt(Part(Part(spec, "template"), "metadata"), "labels");
  if (const json::value* selector = spec.if_contains("selector"); selector != nullptr && selector->is_object()) {
    const auto parsed = data::LabelSelector::FromJson(selector);
    if (parsed && !parsed->Matches(labels)) {
      const Path pod_template = at.Child("template");
      const Path metadata = pod_template.Child("metadata");
      out.Invalid(metadata.Child("labels"), labels == nullptr ? json::value() : json::value(*labels),
                  "`selector` does not match template `labels`");
    }
  }
  const Path pod_template = at.Child("template");
  CheckPodSpec(out, Part(Part(spec, "template"), "spec"), pod_template.Child("spec"));
}

/// Minute, hour, day, month, weekday, or one of the words that stand for a schedule.
bool IsSchedule(std::string_view text, std::string& why) {
  if (text.starts_with('@')) return true;
  std::vector<std::string> fields;
  std::string list;
  for (std::string_view field : Split(text, ' ')) {
    if (field.empty()) continue;
    fields.emplace_back(field);
    list.append(list.empty() ? "" : " ").append(field);
  }
  if (fields.size() == 5) return true;
  why = "expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [" + list + "]";
  return false;
}

}  // namespace

void CheckJob(Findings& out, const Object& object, const Object* old) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  if (old == nullptr) CheckGenerated(out, object, spec, at);
  CheckNumbers(out, spec, at);
  CheckSelectorAndTemplate(out, spec, at);
  CheckRestart(out, spec, at);
  if (old == nullptr) return;
  const Object& before = SpecOf(*old);
  if (TextAt(before, "completionMode") != "Indexed" || TextAt(spec, "completionMode") != "Indexed")
    Immutable(out, spec, before, "completions", at);
  Immutable(out, spec, before, "selector", at);
  const bool may_move = TrueAt(before, "suspend");  // a suspended Job's Pods may still be sent elsewhere
  Object now = Part(Part(spec, "template"), "spec"), was = Part(Part(before, "template"), "spec");
  if (may_move)
    for (Object* pod : {&now, &was})
      for (const char* field : {"nodeSelector", "tolerations", "affinity", "schedulingGates"}) pod->erase(field);
  if (!data::JsonEqual(now, was)) {
    const Path pod_template = at.Child("template");
    out.Invalid(pod_template.Child("spec"), now, "field is immutable");
  }
  Immutable(out, spec, before, "completionMode", at);
  Immutable(out, spec, before, "podFailurePolicy", at);
  Immutable(out, spec, before, "backoffLimitPerIndex", at);
}

void CheckCronJob(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  const std::string_view schedule = TextAt(spec, "schedule");
  std::string why;
  if (schedule.empty())
    out.Required(at.Child("schedule"));
  else if (!IsSchedule(schedule, why))
    out.Invalid(at.Child("schedule"), schedule, why);
  NotNegative(out, spec, at, {"startingDeadlineSeconds"});
  out.OneOf(at.Child("concurrencyPolicy"), TextAt(spec, "concurrencyPolicy"), {"Allow", "Forbid", "Replace"});
  const Object& job = Part(Part(spec, "jobTemplate"), "spec");
  const Path job_template = at.Child("jobTemplate");
  const Path job_at = job_template.Child("spec");
  CheckNumbers(out, job, job_at);
  const Path pod_template = job_at.Child("template");
  CheckPodSpec(out, Part(Part(job, "template"), "spec"), pod_template.Child("spec"));
  CheckRestart(out, job, job_at);
  NotNegative(out, spec, at, {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"});
}

}  // namespace gpuop::sim::types
