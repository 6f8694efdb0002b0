#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <string>

#include "data/json.h"
#include "sim/types/validate/pods.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

std::size_t Length(const Object& spec, const char* list) {
  const json::array* elements = ListAt(spec, list);
  return elements == nullptr ? 0 : elements->size();
}

/// Old tolerations stay; more may be added.
bool OnlyAdds(const Object& now, const Object& old) {
  const json::array *before = ListAt(old, "tolerations"), *after = ListAt(now, "tolerations");
  if (before == nullptr) return true;
  if (after == nullptr) return false;
  return std::ranges::all_of(*before, [&](const json::value& toleration) {
    return std::ranges::any_of(*after, [&](const json::value& other) { return data::JsonEqual(toleration, other); });
  });
}

void CopyMember(Object& to, const Object& from, const char* name) {
  if (from.contains(name))
    to[name] = from.at(name);
  else
    to.erase(name);
}

/// `now` with everything that may change put back as it was in `old`.
Object WithoutWhatMayChange(const Object& now, const Object& old) {
  Object out = now;
  for (const char* list : {"containers", "initContainers"}) {
    const json::array* before = ListAt(old, list);
    std::size_t i = 0;
    EachAt(out, list, [&](Object& container) {
      if (before != nullptr && i < before->size() && (*before)[i].is_object())
        CopyMember(container, (*before)[i].get_object(), "image");
      ++i;
    });
  }
  CopyMember(out, old, "activeDeadlineSeconds");
  CopyMember(out, old, "tolerations");
  if (NumberAt(old, "terminationGracePeriodSeconds").value_or(0) < 0 &&
      NumberAt(now, "terminationGracePeriodSeconds") == 1)
    CopyMember(out, old, "terminationGracePeriodSeconds");
  if (ListAt(old, "schedulingGates") != nullptr) {  // a gated Pod has not been placed yet
    for (const char* field : {"schedulingGates", "nodeSelector", "affinity"}) CopyMember(out, old, field);
  }
  return out;
}

void CheckDeadline(Findings& out, const Object& now, const Object& old, const Path& at) {
  const auto is = NumberAt(now, "activeDeadlineSeconds"), was = NumberAt(old, "activeDeadlineSeconds");
  const Path here = at.Child("activeDeadlineSeconds");
  if (is && was && *is > *was) out.Invalid(here, *is, "must be less than or equal to previous value");
  if (!is && was) out.Invalid(here, json::value(), "must not update from a positive integer to nil value");
}

/// Gates are taken away one by one, never added.
void CheckGates(Findings& out, const Object& now, const Object& old, const Path& at) {
  std::set<std::string, std::less<>> before;
  EachAt(old, "schedulingGates", [&](const Object& gate) { before.emplace(TextAt(gate, "name")); });
  std::size_t i = 0;
  EachAt(now, "schedulingGates", [&](const Object& gate) {
    const std::string name(TextAt(gate, "name"));
    if (!before.contains(name))
      out.Forbidden(at.Index(i).Child("name"),
                    "only deletion is allowed, but found new scheduling gate '" + name + "'");
    ++i;
  });
}

}  // namespace

void CheckPodUpdate(Findings& out, const Object& now, const Object& old, const Path& at) {
  if (Length(now, "containers") != Length(old, "containers"))
    return out.Forbidden(at.Child("containers"), "pod updates may not add or remove containers");
  if (Length(now, "initContainers") != Length(old, "initContainers"))
    return out.Forbidden(at.Child("initContainers"), "pod updates may not add or remove containers");
  CheckDeadline(out, now, old, at);
  if (!OnlyAdds(now, old))
    out.Forbidden(at.Child("tolerations"), "existing toleration can not be modified except its tolerationSeconds");
  CheckGates(out, now, old, at.Child("schedulingGates"));
  if (!data::JsonEqual(WithoutWhatMayChange(now, old), old))
    out.Forbidden(at,
                  "pod updates may not change fields other than `spec.containers[*].image`,"
                  "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                  "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
                  "previously negative)");
}

}  // namespace gpuop::sim::types
