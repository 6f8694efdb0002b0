#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

void CheckImage(Findings& out, const Object& container, const Path& at) {
  const std::string_view image = TextAt(container, "image");
  if (image.empty())
    out.Required(at.Child("image"));
  else if (Trim(image) != image)
    out.Invalid(at.Child("image"), image, "must not have leading or trailing whitespace");
}

void CheckPorts(Findings& out, const Object& container, const PodContext& context, const Path& at) {
  std::set<std::string, std::less<>> names;
  std::size_t i = 0;
  EachAt(container, "ports", [&](const Object& port) {
    const Path here = at.Index(i++);
    if (const std::string_view name = TextAt(port, "name"); !name.empty()) {
      const data::Messages wrong = data::CheckPortName(name);
      out.Messages(here.Child("name"), name, wrong);
      if (wrong.empty() && !names.emplace(name).second) out.Duplicate(here.Child("name"), name);
    }
    const std::int64_t number = NumberAt(port, "containerPort").value_or(0);
    if (number == 0)
      out.Required(here.Child("containerPort"));
    else
      PortNumber(out, number, here.Child("containerPort"));
    if (const auto host = NumberAt(port, "hostPort"); host && *host != 0) {
      PortNumber(out, *host, here.Child("hostPort"));
      if (context.host_network && *host != number)
        out.Invalid(here.Child("hostPort"), *host, "must match `containerPort` when `hostNetwork` is true");
    }
    out.OneOf(here.Child("protocol"), TextAt(port, "protocol"), {"SCTP", "TCP", "UDP"});
  });
}

bool HasBackSteps(std::string_view path) {
  const auto parts = Split(path, '/');
  return std::ranges::find(parts, std::string_view("..")) != parts.end();
}

void CheckMounts(Findings& out, const Object& container, const PodContext& context, const Path& at) {
  std::set<std::string, std::less<>> paths;
  const Object* security = ObjectAt(container, "securityContext");
  const bool privileged = security != nullptr && TrueAt(*security, "privileged");
  std::size_t i = 0;
  EachAt(container, "volumeMounts", [&](const Object& mount) {
    const Path here = at.Index(i++);
    const std::string_view name = TextAt(mount, "name"), path = TextAt(mount, "mountPath");
    if (name.empty())
      out.Required(here.Child("name"));
    else if (!context.volumes.contains(name))
      out.NotFound(here.Child("name"), name);
    if (path.empty()) out.Required(here.Child("mountPath"));
    if (!paths.emplace(path).second) out.Invalid(here.Child("mountPath"), path, "must be unique");
    if (const std::string_view sub = TextAt(mount, "subPath"); sub.starts_with('/'))
      out.Invalid(at.Child("subPath"), sub, "must be a relative path");
    else if (HasBackSteps(sub))
      out.Invalid(at.Child("subPath"), sub, "must not contain '..'");
    const std::string_view propagation = TextAt(mount, "mountPropagation");
    out.OneOf(at.Child("mountPropagation"), propagation, {"Bidirectional", "HostToContainer", "None"});
    if (propagation == "Bidirectional" && !privileged)
      out.Forbidden(at.Child("mountPropagation"),
                    "Bidirectional mount propagation is available only to privileged containers");
  });
}

/// A container's security context as Go prints it in errors.
std::string PrintedSecurity(const Object& security) {
  static constexpr std::pair<const char*, const char*> kFields[] = {
      {"Capabilities", "capabilities"},
      {"Privileged", "privileged"},
      {"SELinuxOptions", "seLinuxOptions"},
      {"WindowsOptions", "windowsOptions"},
      {"RunAsUser", "runAsUser"},
      {"RunAsGroup", "runAsGroup"},
      {"RunAsNonRoot", "runAsNonRoot"},
      {"ReadOnlyRootFilesystem", "readOnlyRootFilesystem"},
      {"AllowPrivilegeEscalation", "allowPrivilegeEscalation"},
      {"ProcMount", "procMount"},
      {"SeccompProfile", "seccompProfile"},
      {"AppArmorProfile", "appArmorProfile"}};
  json::object out;
  for (const auto& [name, field] : kFields) out[name] = security.contains(field) ? security.at(field) : json::value();
  return data::ToJson(out);
}

void CheckSecurity(Findings& out, const Object& container, const Path& at) {
  const Object* security = ObjectAt(container, "securityContext");
  if (security == nullptr) return;
  for (const char* id : {"runAsUser", "runAsGroup"})
    if (const auto number = NumberAt(*security, id); number && (*number < 0 || *number > 2147483647))
      out.Invalid(at.Child(id), *number, "must be between 0 and 2147483647, inclusive");
  const json::value* escalation = security->if_contains("allowPrivilegeEscalation");
  if (escalation == nullptr || !escalation->is_bool() || escalation->get_bool()) return;
  if (TrueAt(*security, "privileged"))
    out.InvalidAsPrinted(at, PrintedSecurity(*security),
                         "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

void CheckUsedClaims(Findings& out, const Object& resources, const PodContext& context, const Path& at) {
  std::size_t i = 0;
  const Path list = at.Child("claims");
  EachAt(resources, "claims", [&](const Object& claim) {
    const Path here = list.Index(i++);
    const std::string_view name = TextAt(claim, "name");
    if (name.empty())
      out.Required(here.Child("name"));
    else if (!context.claims.contains(name)) {
      std::string known;
      for (const std::string& one : context.claims) known.append(known.empty() ? "" : ", ").append(one);
      out.NotFound(here, name,
                   known.empty() ? std::string("must be one of the names in pod.spec.resourceClaims which is empty")
                                 : "must be one of the names in pod.spec.resourceClaims: " + known);
    }
  });
}

void CheckOne(Findings& out, const Object& container, ContainerRole role, const PodContext& context, const Path& at) {
  CheckImage(out, container, at);
  CheckProbes(out, container, role, at);
  out.OneOf(at.Child("terminationMessagePolicy"), TextAt(container, "terminationMessagePolicy"),
            {"File", "FallbackToLogsOnError"});
  CheckPorts(out, container, context, at.Child("ports"));
  CheckEnvironment(out, container, at);
  CheckMounts(out, container, context, at.Child("volumeMounts"));
  out.OneOf(at.Child("imagePullPolicy"), TextAt(container, "imagePullPolicy"), {"Always", "IfNotPresent", "Never"});
  if (const Object* resources = ObjectAt(container, "resources")) {
    CheckUsedClaims(out, *resources, context, at.Child("resources"));
    CheckResources(out, *resources, at.Child("resources"));
  }
  CheckSecurity(out, container, at.Child("securityContext"));
}

}  // namespace

void CheckContainers(Findings& out, const Object& spec, const char* list, ContainerRole role, const PodContext& context,
                     std::set<std::string, std::less<>>& names, const Path& at) {
  std::size_t i = 0;
  EachAt(spec, list, [&](const Object& container) {
    const Path here = at.Index(i++);
    const std::string_view name = TextAt(container, "name");
    if (name.empty())
      out.Required(here.Child("name"));
    else
      out.Messages(here.Child("name"), name, data::CheckDnsLabel(name));
    if (!name.empty() && !names.emplace(name).second) out.Duplicate(here.Child("name"), name);
    CheckOne(out, container, role, context, here);
  });
}

}  // namespace gpuop::sim::types
