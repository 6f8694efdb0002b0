#include "sim/admission/pod_security.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <map>

#include "base/text.h"
#include "sim/admission/pod_security_checks.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kPrefix = "pod-security.kubernetes.io/";

std::optional<PodSecurityLevel> ParseLevel(std::string_view text) {
  if (text == "privileged") return PodSecurityLevel::kPrivileged;
  if (text == "baseline") return PodSecurityLevel::kBaseline;
  if (text == "restricted") return PodSecurityLevel::kRestricted;
  return std::nullopt;
}

/// "latest", "v1.30".
bool IsVersion(std::string_view text) {
  if (text == "latest") return true;
  return text.starts_with("v1.") && text.size() > 3 && text.find_first_not_of("0123456789", 3) == text.npos;
}

/// "baseline:latest (check, check)" as messages go on, or empty when the level is kept.
std::string Violation(const json::object& labels, const char* mode, const json::object& pod_spec) {
  const auto text = PeekString(labels, {std::string(kPrefix) + mode});
  const auto level = ParseLevel(text);
  if (!level) return "";
  const auto violations = PodSecurityViolations(*level, pod_spec);
  if (violations.empty()) return "";
  const auto version = PeekString(labels, {std::string(kPrefix) + mode + "-version"});
  return "PodSecurity " + Quote(std::string(text) + ":" + std::string(version.empty() ? "latest" : version)) + ": " +
         Join(violations, ", ");
}

/// The level that a namespace's labels enforce, and its version.
struct Enforced {
  PodSecurityLevel level = PodSecurityLevel::kPrivileged;
  std::string text = "privileged", version = "latest";
};
Enforced EnforcedBy(const json::object& ns) {
  Enforced out;
  const auto label = [&](const char* name) {
    return PeekString(ns, {"metadata", "labels", std::string(kPrefix) + name});
  };
  if (const auto level = ParseLevel(label("enforce"))) out.level = *level, out.text = label("enforce");
  if (const auto version = label("enforce-version"); !version.empty()) out.version = version;
  return out;
}

/// Warns of Pods that are there and would not be admitted by the level that a namespace is to have from now on.
void WarnOfExisting(const Store& store, Request& request, const json::object& now, const json::object& old) {
  const Enforced wanted = EnforcedBy(now), before = EnforcedBy(old);
  if (wanted.version == before.version && wanted.level <= before.level) return;
  const std::string name(PeekString(now, {"metadata", "name"}));
  std::map<std::string, std::vector<std::string_view>> pods;  // names by what is wrong with them
  const Page all = store.List("/pods", {.ns = name, .from = {}, .matches = {}});
  for (const StoredPtr& pod : all.items) {
    const json::value parsed = json::parse(pod->json);
    std::vector<std::string> reasons;
    for (const std::string& why : PodSecurityViolations(wanted.level, PeekObject(parsed, {"spec"})))
      reasons.push_back(why.substr(0, why.find(" (")));  // without whose fault it is
    if (!reasons.empty()) pods[Join(reasons, ", ")].push_back(pod->name);
  }
  if (pods.empty()) return;
  request.warnings.push_back("existing pods in namespace " + Quote(name) +
                             " violate the new PodSecurity enforce level " + Quote(wanted.text + ":" + wanted.version));
  std::vector<std::string> lines;
  for (const auto& [why, names] : pods) {
    std::string line(names.front());
    if (names.size() > 1)
      line += " (and " + std::to_string(names.size() - 1) + (names.size() == 2 ? " other pod)" : " other pods)");
    lines.push_back(line + ": " + why);
  }
  std::ranges::sort(lines);
  request.warnings.insert(request.warnings.end(), lines.begin(), lines.end());
}

/// Where the pod's specification stands in an object of the kind; null for kinds without one.
const json::object* PodSpecOf(std::string_view kind, const json::object& object) {
  static const std::vector<std::string_view> kWorkloads = {"Deployment",  "DaemonSet", "ReplicaSet",
                                                           "StatefulSet", "Job",       "ReplicationController"};
  const json::value* spec = nullptr;
  if (kind == "Pod")
    spec = Peek(object, {"spec"});
  else if (kind == "CronJob")
    spec = Peek(object, {"spec", "jobTemplate", "spec", "template", "spec"});
  else if (std::ranges::find(kWorkloads, kind) != kWorkloads.end())
    spec = Peek(object, {"spec", "template", "spec"});
  return spec != nullptr && spec->is_object() ? &spec->get_object() : nullptr;
}

Answer<> CheckNamespaceLabels(const Request& request, const json::object& object) {
  std::vector<FieldError> errors;
  for (const char* mode : {"enforce", "audit", "warn"}) {
    const std::string label = std::string(kPrefix) + mode;
    const json::value* value = Peek(object, {"metadata", "labels", label});
    if (value == nullptr || ParseLevel(AsString(value))) continue;
    errors.push_back({FieldError::Kind::kInvalid, "metadata.labels[" + label + "]", Quote(AsString(value)),
                      "must be one of privileged, baseline, restricted"});
  }
  for (const char* mode : {"enforce", "audit", "warn"}) {
    const std::string label = std::string(kPrefix) + mode + "-version";
    const json::value* value = Peek(object, {"metadata", "labels", label});
    if (value == nullptr || IsVersion(AsString(value))) continue;
    errors.push_back({FieldError::Kind::kInvalid, "metadata.labels[" + label + "]", Quote(AsString(value)),
                      "must be \"latest\" or \"v1.x\""});
  }
  if (errors.empty()) return {};
  return std::unexpected(Invalid(*request.resource, PeekString(object, {"metadata", "name"}), errors));
}

}  // namespace

std::vector<std::string> PodSecurityViolations(PodSecurityLevel level, const json::object& pod_spec) {
  std::vector<std::string> out;
  const auto run = [&](std::span<const PodSecurityCheck> checks) {
    for (const PodSecurityCheck check : checks)
      if (auto why = check(pod_spec)) out.push_back(*std::move(why));
  };
  if (level == PodSecurityLevel::kBaseline) run(BaselineChecks());
  if (level == PodSecurityLevel::kRestricted) {
    run(BaselineChecksKeptByRestricted());
    run(RestrictedChecks());
  }
  return out;
}

void AddPodSecurity(ApiServer& server) {
  server.AddCheck([&server](Request& request, json::object* object, const json::object* old) -> Answer<> {
    if (object == nullptr || request.subresource != nullptr) return {};
    const std::string& kind = request.resource->kind;
    if (kind == "Namespace" && request.resource->group.empty()) {
      TRY(CheckNamespaceLabels(request, *object));
      if (old != nullptr) WarnOfExisting(server.store(), request, *object, *old);
      return {};
    }
    if (request.ns().empty() || request.resource->custom) return {};
    const json::object* spec = PodSpecOf(kind, *object);
    if (spec == nullptr || (kind == "Pod" && old != nullptr)) return {};
    const StoredPtr ns = server.store().Get("/namespaces", "", request.ns());
    if (ns == nullptr || !ns->json.contains(kPrefix)) return {};
    const json::value parsed = json::parse(ns->json);
    const json::object& labels = PeekObject(parsed, {"metadata", "labels"});
    if (kind == "Pod")
      if (const std::string why = Violation(labels, "enforce", *spec); !why.empty())
        return std::unexpected(
            Forbidden(*request.resource, PeekString(*object, {"metadata", "name"}), "violates " + why));
    if (std::string why = Violation(labels, "warn", *spec); !why.empty())
      request.warnings.push_back("would violate " + std::move(why));
    return {};
  });
}

}  // namespace gpuop::sim
