#include "sim/crd/crd_rules.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "base/text.h"
#include "data/json.h"
#include "data/names.h"
#include "sim/crd/cel_rules.h"
#include "sim/crd/defaults_check.h"
#include "sim/crd/structural.h"
#include "sim/crd/version_rules.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using Errors = std::vector<FieldError>;

constexpr const char* kApproval = "api-approved.kubernetes.io";
constexpr const char* kSeeApproval = ", see https://github.com/kubernetes/enhancements/pull/1111";

bool IsProtectedGroup(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

void CheckApproval(const json::object& crd, Errors& errors) {
  if (!IsProtectedGroup(PeekString(crd, {"spec", "group"}))) return;
  const std::string path = std::string("metadata.annotations[") + kApproval + "]";
  const std::string must = "protected groups must have approval annotation " + Quote(kApproval);
  const auto value = PeekString(crd, {"metadata", "annotations", kApproval});
  if (value.empty()) {
    errors.push_back(RequiredField(path, must + kSeeApproval));
  } else if (!value.starts_with("unapproved") && !value.starts_with("https://") && !value.starts_with("http://")) {
    errors.push_back(InvalidField(path, Quote(value),
                                  must + " with either a URL or a reason starting with \"unapproved\"" + kSeeApproval));
  }
}

void CheckGroupAndScope(const json::object& spec, Errors& errors) {
  const auto group = PeekString(spec, {"group"}), scope = PeekString(spec, {"scope"});
  if (group.empty())
    errors.push_back(RequiredField("spec.group"));
  else if (const auto wrong = data::CheckDnsSubdomain(group); !wrong.empty())
    errors.push_back(InvalidField("spec.group", Quote(group), Join(wrong, ",")));
  else if (!group.contains('.'))
    errors.push_back(InvalidField("spec.group", Quote(group), "should be a domain with at least one dot"));
  if (scope.empty())
    errors.push_back(RequiredField("spec.scope"));
  else if (scope != "Cluster" && scope != "Namespaced")
    errors.push_back(UnsupportedValue("spec.scope", scope, {"Cluster", "Namespaced"}));
}

void CheckLabel(std::string_view value, const std::string& path, std::string_view prefix, Errors& errors) {
  const auto wrong = data::CheckDns1035Label(prefix.empty() ? value : std::string_view(ToLower(value)));
  if (!wrong.empty()) errors.push_back(InvalidField(path, Quote(value), std::string(prefix) + Join(wrong, ",")));
}

void CheckNames(const json::object& names, Errors& errors) {
  constexpr std::string_view kMixedCase = "may have mixed case, but should otherwise match: ";
  for (const char* field : {"plural", "singular", "kind", "listKind"})
    if (PeekString(names, {field}).empty()) errors.push_back(RequiredField(std::string("spec.names.") + field));
  for (const char* field : {"plural", "singular", "kind", "listKind"}) {
    const auto name = PeekString(names, {field});
    const bool kind = std::string_view(field).ends_with("ind");
    if (!name.empty()) CheckLabel(name, std::string("spec.names.") + field, kind ? kMixedCase : "", errors);
  }
  const auto kind = PeekString(names, {"kind"}), list_kind = PeekString(names, {"listKind"});
  const auto check_list = [&](const std::string& field) {
    const json::array& list = PeekArray(names, {field});
    for (std::size_t i = 0; i < list.size(); ++i)
      CheckLabel(AsString(list[i]), "spec.names." + field + "[" + std::to_string(i) + "]", "", errors);
  };
  check_list("shortNames");
  if (!kind.empty() && kind == list_kind)
    errors.push_back(InvalidField("spec.names.listKind", Quote(list_kind), "kind and listKind may not be the same"));
  check_list("categories");
}

/// The versions as the server's messages print them.
std::string PrintVersions(const json::array& versions) {
  json::array out;
  for (const json::value& v : versions)
    out.push_back({{"Name", PeekString(v, {"name"})},
                   {"Served", PeekBool(v, {"served"})},
                   {"Storage", PeekBool(v, {"storage"})},
                   {"Deprecated", PeekBool(v, {"deprecated"})},
                   {"DeprecationWarning", nullptr},
                   {"Schema", nullptr},
                   {"Subresources", nullptr},
                   {"AdditionalPrinterColumns", nullptr},
                   {"SelectableFields", nullptr}});
  return data::ToJson(std::move(out));
}

void CheckVersionSet(const json::array& versions, Errors& errors) {
  std::set<std::string_view> names;
  for (const json::value& v : versions) names.insert(PeekString(v, {"name"}));
  if (names.size() != versions.size())
    errors.push_back(InvalidField("spec.versions", PrintVersions(versions), "must contain unique version names"));
  if (std::ranges::count_if(versions, [](const json::value& v) { return PeekBool(v, {"storage"}); }) != 1)
    errors.push_back(InvalidField("spec.versions", PrintVersions(versions),
                                  "must have exactly one version marked as storage version"));
  // The first version used to be a field of its own, and is checked as such once more.
  if (!versions.empty() && !PeekString(versions[0], {"name"}).empty())
    CheckLabel(PeekString(versions[0], {"name"}), "spec.version", "", errors);
}

/// Parts of a version that all versions share are told of as if they stood in the specification itself.
bool AllEqual(const json::array& versions, std::string_view field) {
  const auto at = [&](const json::value& v) {
    const json::value* part = Peek(v, {field});
    return part == nullptr ? json::value() : *part;
  };
  return std::ranges::all_of(versions, [&](const json::value& v) { return at(v) == at(versions[0]); });
}

void CheckVersions(const json::object& spec, Errors& errors) {
  const json::array& versions = PeekArray(spec, {"versions"});
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (PeekObject(versions[i], {"schema", "openAPIV3Schema"}).empty())
      errors.push_back(RequiredField("spec.versions[" + std::to_string(i) + "].schema.openAPIV3Schema"));
  Errors shared;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string path = "spec.versions[" + std::to_string(i) + "]";
    CheckLabel(PeekString(versions[i], {"name"}), path + ".name", "", errors);
    if (Peek(versions[i], {"deprecationWarning"}) != nullptr && !PeekBool(versions[i], {"deprecated"}))
      errors.push_back(InvalidField(path + ".deprecationWarning",
                                    Quote(PeekString(versions[i], {"deprecationWarning"})),
                                    "can only be set for deprecated versions"));
    for (const auto& [field, check] : kVersionParts) {
      const bool together = AllEqual(versions, field);
      if (!together)
        check(AsObject(versions[i]), path + ".", errors);
      else if (i == 0)
        check(AsObject(versions[i]), "spec.", shared);
    }
  }
  CheckVersionSet(versions, errors);
  CheckNames(PeekObject(spec, {"names"}), errors);
  std::ranges::move(shared, std::back_inserter(errors));
}

void CheckConversion(const json::object& spec, Errors& errors) {
  const auto strategy = PeekString(spec, {"conversion", "strategy"});
  if (strategy == "Webhook") {
    errors.push_back(ForbiddenField("spec.conversion.strategy", "this server does not call conversion webhooks"));
  } else if (strategy != "None") {
    errors.push_back(UnsupportedValue("spec.conversion.strategy", strategy, {"None", "Webhook"}));
  } else if (Peek(spec, {"conversion", "webhook"}) != nullptr) {
    errors.push_back(ForbiddenField("spec.conversion.conversionReviewVersions",
                                    "should not be set when strategy is not set to Webhook"));
  }
}

void CheckStoredVersions(const json::object& crd, Errors& errors) {
  const json::array& versions = PeekArray(crd, {"spec", "versions"});
  const json::array& stored = PeekArray(crd, {"status", "storedVersions"});
  if (stored.empty())
    errors.push_back(InvalidField("status.storedVersions", "null", "must have at least one stored version"));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::string name(AsString(stored[i]));
    if (std::ranges::any_of(versions, [&](const json::value& v) { return PeekString(v, {"name"}) == name; })) continue;
    errors.push_back(InvalidField("status.storedVersions[" + std::to_string(i) + "]", Quote(name),
                                  "missing from spec.versions; " + name +
                                      " was previously a storage version, and must remain in spec.versions until a "
                                      "storage migration ensures no data remains persisted in " +
                                      name + " and removes " + name + " from status.storedVersions"));
  }
  if (stored.empty()) return;
  for (const json::value& v : versions) {
    const auto name = PeekString(v, {"name"});
    if (PeekBool(v, {"storage"}) && std::ranges::find(stored, json::value(name)) == stored.end())
      errors.push_back(InvalidField("status.storedVersions", data::ToJson(stored),
                                    "must have the storage version " + std::string(name)));
  }
}

bool IsEstablished(const json::object& crd) {
  return std::ranges::any_of(PeekArray(crd, {"status", "conditions"}), [](const json::value& c) {
    return PeekString(c, {"type"}) == "Established" && PeekString(c, {"status"}) == "True";
  });
}

void CheckImmutable(const json::object& crd, const json::object& old, Errors& errors) {
  const auto same = [&](PeekPath path, const char* field) {
    const auto now = PeekString(crd, path);
    if (now != PeekString(old, path)) errors.push_back(InvalidField(field, Quote(now), "field is immutable"));
  };
  if (IsEstablished(old)) {
    same({"spec", "scope"}, "spec.scope");
    same({"spec", "names", "kind"}, "spec.names.kind");
  }
  same({"spec", "group"}, "spec.group");
  same({"spec", "names", "plural"}, "spec.names.plural");
}

}  // namespace

void DefaultCrd(json::object& crd) {
  json::object& spec = Ensure(crd, {"spec"});
  json::object& names = Ensure(spec, {"names"});
  const std::string kind(PeekString(names, {"kind"}));
  if (!kind.empty() && PeekString(names, {"singular"}).empty()) names["singular"] = ToLower(kind);
  if (!kind.empty() && PeekString(names, {"listKind"}).empty()) names["listKind"] = kind + "List";
  json::object& conversion = Ensure(spec, {"conversion"});
  if (PeekString(conversion, {"strategy"}).empty()) conversion["strategy"] = "None";
  if (Peek(crd, {"status"}) == nullptr)
    crd["status"] = {
        {"conditions", nullptr}, {"acceptedNames", {{"plural", ""}, {"kind", ""}}}, {"storedVersions", json::array()}};
}

void KeepStoredVersions(json::object& crd) {
  json::value& stored = Ensure(crd, {"status"})["storedVersions"];
  if (!stored.is_array()) stored.emplace_array();
  for (const json::value& v : PeekArray(crd, {"spec", "versions"})) {
    if (!PeekBool(v, {"storage"})) continue;
    const json::value name(PeekString(v, {"name"}));
    if (std::ranges::find(stored.get_array(), name) == stored.get_array().end()) stored.get_array().push_back(name);
    return;
  }
}

std::vector<FieldError> ValidateCrd(const json::object& crd, const json::object* old) {
  Errors errors;
  const json::object& spec = PeekObject(crd, {"spec"});
  const auto name = PeekString(crd, {"metadata", "name"});
  if (old != nullptr) {
    CheckImmutable(crd, *old, errors);
    if (!errors.empty()) return errors;
  }
  if (name != std::string(PeekString(spec, {"names", "plural"})).append(".").append(PeekString(spec, {"group"})))
    errors.push_back(InvalidField("metadata.name", Quote(name), "must be spec.names.plural+\".\"+spec.group"));
  CheckGroupAndScope(spec, errors);
  CheckVersions(spec, errors);
  if (PeekBool(spec, {"preserveUnknownFields"}))
    errors.push_back(InvalidField("spec.preserveUnknownFields", "true",
                                  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                                  "spec.versions[*].schema instead"));
  CheckConversion(spec, errors);
  CheckApproval(crd, errors);
  CheckStoredVersions(crd, errors);
  return errors;
}

}  // namespace gpuop::sim
