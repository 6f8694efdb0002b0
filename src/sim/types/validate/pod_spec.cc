#include <boost/json.hpp>

#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using Names = std::set<std::string, std::less<>>;

namespace {

void CheckId(Findings& out, const Object& holder, const char* name, const Path& at) {
  constexpr std::int64_t kMax = 2147483647;
  if (const auto id = NumberAt(holder, name); id && (*id < 0 || *id > kMax))
    out.Invalid(at.Child(name), *id, "must be between 0 and 2147483647, inclusive");
}

bool IsSysctl(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 253) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool edge = i == 0 || i + 1 == name.size() || name[i - 1] == '.' || name[i - 1] == '/' ||
                      name[i + 1] == '.' || name[i + 1] == '/';
    if (plain(name[i])) continue;
    const bool separator = name[i] == '.' || name[i] == '/';
    if ((separator && (i == 0 || i + 1 == name.size())) || (!separator && (edge || (name[i] != '-' && name[i] != '_'))))
      return false;
  }
  return true;
}

void CheckPodSecurity(Findings& out, const Object& spec, const Path& at) {
  const Path here = at.Child("securityContext");
  if (const Object* security = ObjectAt(spec, "securityContext")) {
    for (const char* id : {"runAsUser", "runAsGroup", "fsGroup"}) CheckId(out, *security, id, here);
    if (const json::array* groups = ListAt(*security, "supplementalGroups"))
      for (std::size_t i = 0; i < groups->size(); ++i)
        if ((*groups)[i].is_int64() && (*groups)[i].get_int64() < 0)
          out.Invalid(here.Child("supplementalGroups").Index(i), (*groups)[i],
                      "must be between 0 and 2147483647, inclusive");
    std::size_t i = 0;
    EachAt(*security, "sysctls", [&](const Object& sysctl) {
      const Path list = here.Child("sysctls");
      const Path one = list.Index(i++);
      if (!IsSysctl(TextAt(sysctl, "name")))
        out.Invalid(
            one.Child("name"), TextAt(sysctl, "name"),
            R"(must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$)");
    });
  }
  if (TrueAt(spec, "hostPID") && TrueAt(spec, "shareProcessNamespace"))
    out.Invalid(here.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled");
}

void CheckNames(Findings& out, const Object& spec, const Path& at) {
  const auto check = [&](const char* field, data::Messages (*rule)(std::string_view)) {
    if (const std::string_view name = TextAt(spec, field); !name.empty())
      out.Messages(at.Child(field), name, rule(name));
  };
  check("serviceAccountName", data::CheckDnsSubdomain);
  check("nodeName", data::CheckDnsSubdomain);
  if (const std::string_view host = TextAt(spec, "hostname"); host.contains('.'))
    out.Invalid(at.Child("hostname"), host, "must not contain dots");
  else
    check("hostname", data::CheckDnsLabel);
  check("subdomain", data::CheckDnsLabel);
  check("priorityClassName", data::CheckDnsSubdomain);
  check("runtimeClassName", data::CheckDnsSubdomain);
}

void CheckClaims(Findings& out, const Object& spec, PodContext& context, const Path& at) {
  std::size_t i = 0;
  const Path list = at.Child("resourceClaims");
  EachAt(spec, "resourceClaims", [&](const Object& claim) {
    const Path here = list.Index(i++);
    const std::string_view name = TextAt(claim, "name");
    if (name.empty())
      out.Required(here.Child("name"));
    else if (!context.claims.emplace(name).second)
      out.Duplicate(here.Child("name"), name);
    const bool by_name = claim.contains("resourceClaimName"), by_template = claim.contains("resourceClaimTemplateName");
    if (by_name != by_template) return;
    const auto shown = [&](const char* field) {
      return claim.contains(field) ? data::ToJson(claim.at(field)) : std::string("null");
    };
    out.InvalidAsPrinted(here,
                         "{\"Name\":" + data::ToJson(json::value(name)) +
                             ",\"ResourceClaimName\":" + shown("resourceClaimName") +
                             ",\"ResourceClaimTemplateName\":" + shown("resourceClaimTemplateName") + "}",
                         by_name ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                                 : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
  });
}

void CheckHostAliases(Findings& out, const Object& spec, const Path& at) {
  std::size_t i = 0;
  const Path list = at.Child("hostAliases");
  EachAt(spec, "hostAliases", [&](const Object& alias) {
    const Path here = list.Index(i++);
    CheckIp(out, TextAt(alias, "ip"), here.Child("ip"));
    const json::array* names = ListAt(alias, "hostnames");
    const Path hostnames = here.Child("hostnames");
    for (std::size_t n = 0; names != nullptr && n < names->size(); ++n)
      if ((*names)[n].is_string()) {
        const std::string_view name = data::AsView((*names)[n].get_string());
        out.Messages(hostnames.Index(n), name, data::CheckDnsSubdomain(name));
      }
  });
}

void CheckGates(Findings& out, const Object& spec, const Path& at) {
  std::size_t i = 0;
  const Path list = at.Child("readinessGates");
  EachAt(spec, "readinessGates", [&](const Object& gate) {
    const Path here = list.Index(i++);
    out.Messages(here.Child("conditionType"), TextAt(gate, "conditionType"),
                 data::CheckQualifiedName(TextAt(gate, "conditionType")));
  });
}

}  // namespace

void CheckPodSpec(Findings& out, const Object& spec, const Path& at) {
  PodContext context;
  context.host_network = TrueAt(spec, "hostNetwork");
  context.volumes = CheckVolumes(out, spec, at.Child("volumes"));
  CheckClaims(out, spec, context, at);
  Names names;
  if (ListAt(spec, "containers") == nullptr) out.Required(at.Child("containers"));
  CheckContainers(out, spec, "containers", ContainerRole::kMain, context, names, at.Child("containers"));
  CheckContainers(out, spec, "initContainers", ContainerRole::kInit, context, names, at.Child("initContainers"));
  CheckContainers(out, spec, "ephemeralContainers", ContainerRole::kEphemeral, context, names,
                  at.Child("ephemeralContainers"));
  out.OneOf(at.Child("restartPolicy"), TextAt(spec, "restartPolicy"), {"Always", "OnFailure", "Never"});
  out.OneOf(at.Child("dnsPolicy"), TextAt(spec, "dnsPolicy"),
            {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  CheckScheduling(out, spec, at);
  CheckPodSecurity(out, spec, at);
  CheckGates(out, spec, at);
  if (TextAt(spec, "dnsPolicy") == "None" && ObjectAt(spec, "dnsConfig") == nullptr)
    out.Required(at.Child("dnsConfig"), "must provide `dnsConfig` when `dnsPolicy` is None");
  CheckNames(out, spec, at);
  if (const auto deadline = NumberAt(spec, "activeDeadlineSeconds");
      deadline && (*deadline < 1 || *deadline > 2147483647))
    out.Invalid(at.Child("activeDeadlineSeconds"), *deadline, "must be between 1 and 2147483647, inclusive");
  CheckHostAliases(out, spec, at);
  if (const Object* overhead = ObjectAt(spec, "overhead")) CheckResourceList(out, *overhead, at.Child("overhead"));
}

}  // namespace gpuop::sim::types
