#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

void CheckRules(Findings& out, const Object& role, bool namespaced) {
  const Path rules("rules");
  std::size_t i = 0;
  EachAt(role, "rules", [&](const Object& rule) {
    const Path here = rules.Index(i++);
    if (ListAt(rule, "verbs") == nullptr) out.Required(here.Child("verbs"), "verbs must contain at least one value");
    const bool resources = ListAt(rule, "apiGroups") != nullptr || ListAt(rule, "resources") != nullptr;
    if (const json::array* urls = ListAt(rule, "nonResourceURLs")) {
      if (namespaced)
        out.Invalid(here.Child("nonResourceURLs"), *urls, "namespaced rules cannot apply to non-resource URLs");
      if (resources)
        out.Invalid(here.Child("nonResourceURLs"), *urls,
                    "rules cannot apply to both regular resources and non-resource URLs");
      return;
    }
    if (ListAt(rule, "apiGroups") == nullptr)
      out.Required(here.Child("apiGroups"), "resource rules must supply at least one api group");
    if (ListAt(rule, "resources") == nullptr)
      out.Required(here.Child("resources"), "resource rules must supply at least one resource");
  });
}

void CheckSubject(Findings& out, const Object& subject, bool namespaced, const Path& at) {
  const std::string_view kind = TextAt(subject, "kind"), name = TextAt(subject, "name"),
                         group = TextAt(subject, "apiGroup");
  if (name.empty()) out.Required(at.Child("name"));
  if (kind == "ServiceAccount") {
    if (!name.empty()) out.Messages(at.Child("name"), name, data::CheckDnsSubdomain(name));
    if (!group.empty()) out.Unsupported(at.Child("apiGroup"), group, {""});
    if (!namespaced && TextAt(subject, "namespace").empty()) out.Required(at.Child("namespace"));
  } else if (kind == "User" || kind == "Group") {
    if (group != kRbac) out.Unsupported(at.Child("apiGroup"), group, {kRbac});
  } else {
    out.Unsupported(at.Child("kind"), kind, {"ServiceAccount", "User", "Group"});
  }
}

/// A role reference as Go prints it.
std::string PrintedRef(const Object& ref) {
  return data::ToJson(
      Object{{"APIGroup", TextAt(ref, "apiGroup")}, {"Kind", TextAt(ref, "kind")}, {"Name", TextAt(ref, "name")}});
}

void CheckBinding(Findings& out, const Object& object, const Object* old, bool namespaced) {
  static const Object& none = *new Object;
  const Path root;
  const Path at = root.Child("roleRef");
  const Object* there = ObjectAt(object, "roleRef");
  const Object& ref = there == nullptr ? none : *there;
  if (TextAt(ref, "apiGroup") != kRbac) out.Unsupported(at.Child("apiGroup"), TextAt(ref, "apiGroup"), {kRbac});
  const std::string_view kind = TextAt(ref, "kind"), name = TextAt(ref, "name");
  if (namespaced && kind != "Role" && kind != "ClusterRole")
    out.Unsupported(at.Child("kind"), kind, {"Role", "ClusterRole"});
  if (!namespaced && kind != "ClusterRole") out.Unsupported(at.Child("kind"), kind, {"ClusterRole"});
  if (name.empty())
    out.Required(at.Child("name"));
  else
    out.Messages(at.Child("name"), name, data::CheckPathSegment(name));
  const Path subjects = root.Child("subjects");
  std::size_t i = 0;
  EachAt(object, "subjects",
         [&](const Object& subject) { CheckSubject(out, subject, namespaced, subjects.Index(i++)); });
  const Object* before = old == nullptr ? nullptr : ObjectAt(*old, "roleRef");
  if (before != nullptr && !data::JsonEqual(*before, ref))
    out.InvalidAsPrinted(at, PrintedRef(ref), "cannot change roleRef");
}

void CheckWebhookRule(Findings& out, const Object& rule, const Path& at) {
  const json::array* operations = ListAt(rule, "operations");
  const Path operations_at = at.Child("operations");
  if (operations == nullptr) out.Required(operations_at);
  for (std::size_t i = 0; operations != nullptr && i < operations->size(); ++i)
    if ((*operations)[i].is_string())
      out.OneOf(operations_at.Index(i), data::AsView((*operations)[i].get_string()),
                {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"});
  for (const char* list : {"apiGroups", "apiVersions", "resources"})
    if (ListAt(rule, list) == nullptr) out.Required(at.Child(list));
  const json::array* resources = ListAt(rule, "resources");
  const bool star = resources != nullptr &&
                    std::ranges::any_of(*resources, [](const json::value& r) { return r == json::value("*"); });
  if (star && resources->size() > 1 && std::ranges::any_of(*resources, [](const json::value& r) {
        return r.is_string() && !data::AsView(r.get_string()).contains('/') && r != json::value("*");
      }))
    out.Invalid(at.Child("resources"), *resources,
                "if '*' is present, must not specify other resources without subresources");
}

void CheckClient(Findings& out, const Object& hook, const Path& at) {
  const Object* client = ObjectAt(hook, "clientConfig");
  const bool url = client != nullptr && client->contains("url"),
             service = client != nullptr && client->contains("service");
  if (url == service) return out.Required(at, "exactly one of url or service is required");
  if (!url) {
    const Object* named = ObjectAt(*client, "service");
    const Path here = at.Child("service");
    for (const char* field : {"name", "namespace"})
      if (named != nullptr && TextAt(*named, field).empty())
        out.Required(here.Child(field), std::string("service ") + field + " is required");
    return;
  }
  const std::string_view text = TextAt(*client, "url");
  const std::string_view scheme = text.substr(0, std::min(text.find(':'), text.size()));
  if (scheme != "https")
    out.Invalid(at.Child("url"), scheme, "'https' is the only allowed URL scheme; desired format: https://host[/path]");
}

void CheckWebhook(Findings& out, const Object& hook, const Path& at) {
  const std::string_view name = TextAt(hook, "name");
  const data::Messages wrong = data::CheckDnsSubdomain(name);
  out.Messages(at.Child("name"), name, wrong);
  if (wrong.empty() && std::ranges::count(name, '.') < 2)
    out.Invalid(at.Child("name"), name, "should be a domain with at least three segments separated by dots");
  const Path rules = at.Child("rules");
  std::size_t i = 0;
  EachAt(hook, "rules", [&](const Object& rule) { CheckWebhookRule(out, rule, rules.Index(i++)); });
  out.OneOf(at.Child("failurePolicy"), TextAt(hook, "failurePolicy"), {"Fail", "Ignore"});
  out.OneOf(at.Child("matchPolicy"), TextAt(hook, "matchPolicy"), {"Equivalent", "Exact"});
  const std::string_view effects = TextAt(hook, "sideEffects");
  if (effects.empty())
    out.Required(at.Child("sideEffects"), "must specify one of None, NoneOnDryRun");
  else
    out.OneOf(at.Child("sideEffects"), effects, {"None", "NoneOnDryRun"});
  if (const auto timeout = NumberAt(hook, "timeoutSeconds"); timeout && (*timeout < 1 || *timeout > 30))
    out.Invalid(at.Child("timeoutSeconds"), *timeout, "the timeout value must be between 1 and 30 seconds");
  CheckClient(out, hook, at.Child("clientConfig"));
  if (ListAt(hook, "admissionReviewVersions") == nullptr)
    out.Required(at.Child("admissionReviewVersions"), "must specify one of v1, v1beta1");
}

}  // namespace

void CheckRole(Findings& out, const Object& object, const Object*) { CheckRules(out, object, true); }
void CheckClusterRole(Findings& out, const Object& object, const Object*) { CheckRules(out, object, false); }
void CheckRoleBinding(Findings& out, const Object& object, const Object* old) { CheckBinding(out, object, old, true); }
void CheckClusterRoleBinding(Findings& out, const Object& object, const Object* old) {
  CheckBinding(out, object, old, false);
}

void CheckWebhooks(Findings& out, const Object& object, const Object*) {
  const Path list("webhooks");
  std::size_t i = 0;
  EachAt(object, "webhooks", [&](const Object& hook) { CheckWebhook(out, hook, list.Index(i++)); });
}

}  // namespace gpuop::sim::types
