#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {

namespace {

/// Fields of a Pod that its containers may see.
bool IsFieldOfPod(std::string_view path) {
  constexpr std::array kFields = {
      "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
      "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};
  if (std::ranges::find(kFields, path) != kFields.end()) return true;
  return (path.starts_with("metadata.labels['") || path.starts_with("metadata.annotations['")) && path.ends_with("']");
}

void CheckField(Findings& out, const Object& ref, const Path& at) {
  const std::string_view path = TextAt(ref, "fieldPath");
  if (path.empty())
    out.Required(at.Child("fieldPath"));
  else if (!IsFieldOfPod(path))
    out.Invalid(at.Child("fieldPath"), path,
                "error converting fieldPath: field label not supported: " + std::string(path));
}

void CheckSource(Findings& out, const Object& env, const Object& from, const Path& at) {
  int found = 0;
  for (const char* kind : {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) {
    const Object* ref = ObjectAt(from, kind);
    if (ref == nullptr) continue;
    ++found;
    const Path here = at.Child(kind);
    const std::string_view name(kind);
    if (name == "fieldRef") CheckField(out, *ref, here);
    if (name == "resourceFieldRef" && TextAt(*ref, "resource").empty()) out.Required(here.Child("resource"));
    if (name == "configMapKeyRef" || name == "secretKeyRef") {
      const std::string_view key = TextAt(*ref, "key");
      if (key.empty())
        out.Required(here.Child("key"));
      else
        out.Messages(here.Child("key"), key, data::CheckConfigKey(key));
    }
  }
  if (found == 0)
    out.Invalid(
        at, "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  else if (!TextAt(env, "value").empty())
    out.Invalid(at, "", "may not be specified when `value` is not empty");
  else if (found > 1)
    out.Invalid(at, "", "may not have more than one field specified at a time");
}

/// Printable ASCII but for '='.
bool IsVariableName(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7f && c != '='; });
}

}  // namespace

void CheckEnvironment(Findings& out, const Object& container, const Path& at) {
  std::size_t i = 0;
  const Path list = at.Child("env");
  EachAt(container, "env", [&](const Object& env) {
    const Path here = list.Index(i++);
    const std::string_view name = TextAt(env, "name");
    if (name.empty())
      out.Required(here.Child("name"));
    else if (!IsVariableName(name))
      out.Invalid(here.Child("name"), name,
                  "a valid environment variable name must consist only of printable ASCII characters other than '='");
    if (const Object* from = ObjectAt(env, "valueFrom")) CheckSource(out, env, *from, here.Child("valueFrom"));
  });
}

}  // namespace gpuop::sim::types
