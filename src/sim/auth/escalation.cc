#include "sim/auth/escalation.h"

#include "base/text.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

std::string QuotedWords(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const std::string& s : list) out.append(out.size() > 1 ? " " : "").append(Quote(s));
  return out + "]";
}

bool IsRole(std::string_view kind) { return kind == "Role" || kind == "ClusterRole"; }
bool IsBinding(std::string_view kind) { return kind == "RoleBinding" || kind == "ClusterRoleBinding"; }

/// Whether the asker may use `verb` on the role named.
bool May(const Rbac& rbac, const Request& request, std::string_view verb, std::string_view plural,
         std::string_view name) {
  Attributes what = request.attributes;
  what.verb = verb;
  what.group = kGroup;
  what.version = "v1";
  what.resource = plural;
  what.subresource.clear();
  what.name = name;
  return rbac.Authorize(what).allowed;
}

Answer<> MustHold(const Rbac& rbac, const Request& request, std::string_view name,
                  const std::vector<PolicyRule>& wanted) {
  const auto missing = Uncovered(rbac.RulesFor(request.user(), request.ns()), wanted);
  if (missing.empty()) return {};
  std::string why = "user " + Quote(request.user().name) + " (groups=" + QuotedWords(request.user().groups) +
                    ") is attempting to grant RBAC permissions not currently held:";
  for (const PolicyRule& rule : missing) why += "\n" + Describe(rule);
  return std::unexpected(Forbidden(*request.resource, name, why));
}

}  // namespace

Answer<> CheckEscalation(const Rbac& rbac, const Request& request, const json::object* object,
                         const json::object* old) {
  if (object == nullptr || request.resource->group != kGroup || request.user().In("system:masters")) return {};
  const std::string& kind = request.resource->kind;
  const auto name = PeekString(*object, {"metadata", "name"});
  if (IsRole(kind)) {
    if (old != nullptr && PeekArray(*old, {"rules"}) == PeekArray(*object, {"rules"}) &&
        PeekObject(*old, {"aggregationRule"}) == PeekObject(*object, {"aggregationRule"}))
      return {};
    if (May(rbac, request, "escalate", request.resource->plural, name)) return {};
    // Whoever makes a role collect others could come to hold anything.
    std::vector<PolicyRule> wanted = RulesOf(*object);
    if (Peek(*object, {"aggregationRule"}) != nullptr)
      wanted.insert(wanted.end(), {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}});
    return MustHold(rbac, request, name, wanted);
  }
  if (!IsBinding(kind)) return {};
  if (old != nullptr && PeekObject(*old, {"roleRef"}) == PeekObject(*object, {"roleRef"}) &&
      PeekArray(*old, {"subjects"}) == PeekArray(*object, {"subjects"}))
    return {};
  const auto role_kind = PeekString(*object, {"roleRef", "kind"}), role = PeekString(*object, {"roleRef", "name"});
  const char* plural = role_kind == "Role" ? "roles" : "clusterroles";
  if (May(rbac, request, "bind", plural, role)) return {};
  const auto rules = rbac.Resolve(role_kind, role, request.ns());
  if (rules == nullptr) return std::unexpected(NotFound(kGroup, plural, role));
  return MustHold(rbac, request, name, *rules);
}

}  // namespace gpuop::sim
