#include <array>
#include <boost/json.hpp>

#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {

namespace {

constexpr std::array kHandlers = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};

/// Exactly one way to act.
void CheckHandler(Findings& out, const Object& handler, const Path& at) {
  int found = 0;
  for (const char* kind : kHandlers) {
    const Object* action = ObjectAt(handler, kind);
    if (action == nullptr) continue;
    const Path here = at.Child(kind);
    if (++found > 1) {
      out.Forbidden(here, "may not specify more than 1 handler type");
      continue;
    }
    const std::string_view name(kind);
    if (name == "exec" && ListAt(*action, "command") == nullptr) out.Required(here.Child("command"));
    if (name == "httpGet") {
      if (TextAt(*action, "path").empty()) out.Required(here.Child("path"));
      PortReference(out, *action, "port", here);
      out.OneOf(here.Child("scheme"), TextAt(*action, "scheme"), {"HTTP", "HTTPS"});
    }
    if (name == "tcpSocket") PortReference(out, *action, "port", here);
    if (name == "grpc") PortNumber(out, NumberAt(*action, "port").value_or(0), here.Child("port"));
  }
  if (found == 0) out.Required(at, "must specify a handler type");
}

void CheckProbe(Findings& out, const Object& probe, bool once, const Path& at) {
  CheckHandler(out, probe, at);
  NotNegative(out, probe, at,
              {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"});
  const auto successes = NumberAt(probe, "successThreshold");
  if (once && successes && *successes != 1) out.Invalid(at.Child("successThreshold"), *successes, "must be 1");
}

}  // namespace

void CheckProbes(Findings& out, const Object& container, ContainerRole role, const Path& at) {
  const bool short_lived = role == ContainerRole::kInit && TextAt(container, "restartPolicy") != "Always";
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Object* probe = ObjectAt(container, name);
    if (probe == nullptr) continue;
    if (short_lived)
      out.Forbidden(at.Child(name), "may not be set for init containers without restartPolicy=Always");
    else
      CheckProbe(out, *probe, std::string_view(name) != "readinessProbe", at.Child(name));
  }
  const Object* lifecycle = ObjectAt(container, "lifecycle");
  if (lifecycle == nullptr) return;
  const Path here = at.Child("lifecycle");
  if (short_lived) return out.Forbidden(here, "may not be set for init containers without restartPolicy=Always");
  for (const char* hook : {"postStart", "preStop"})
    if (const Object* handler = ObjectAt(*lifecycle, hook)) CheckHandler(out, *handler, here.Child(hook));
}

}  // namespace gpuop::sim::types
