#include "sim/crd/crd_names.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/text.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

/// Names that the other definitions of the group hold.
struct Taken {
  std::set<std::string, std::less<>> resources, kinds;

  explicit Taken(const std::vector<const json::object*>& others) {
    for (const json::object* other : others) {
      const json::object& names = PeekObject(*other, {"status", "acceptedNames"});
      for (const char* field : {"plural", "singular"}) resources.emplace(PeekString(names, {field}));
      for (const json::value& v : PeekArray(names, {"shortNames"})) resources.emplace(AsString(v));
      for (const char* field : {"kind", "listKind"}) kinds.emplace(PeekString(names, {field}));
    }
    resources.erase("");
    kinds.erase("");
  }
};

}  // namespace

void SetCondition(json::object& object, std::string_view type, bool status, std::string_view reason,
                  std::string_view message, WallTime now) {
  json::value& conditions = Ensure(object, {"status"})["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  json::array& list = conditions.get_array();
  auto it = std::ranges::find(list, type, [](const json::value& c) { return PeekString(c, {"type"}); });
  if (it == list.end()) {
    list.push_back(json::object{{"type", type}});
    it = list.end() - 1;
  }
  json::object& condition = it->as_object();
  const std::string_view text = status ? "True" : "False";
  if (PeekString(condition, {"status"}) != text) {
    condition["status"] = text;
    condition["lastTransitionTime"] = FormatTime(now);
  }
  condition["reason"] = reason;
  condition["message"] = message;
}

bool HasCondition(const json::object& object, std::string_view type) {
  return std::ranges::any_of(PeekArray(object, {"status", "conditions"}), [&](const json::value& c) {
    return PeekString(c, {"type"}) == type && PeekString(c, {"status"}) == "True";
  });
}

void AcceptNames(json::object& crd, const std::vector<const json::object*>& others, WallTime now) {
  const Taken taken(others);
  const json::object names = PeekObject(crd, {"spec", "names"});
  json::object accepted = PeekObject(crd, {"status", "acceptedNames"});
  std::string reason, message;  // of the last conflict
  const auto claim = [&](const char* field, const auto& held, const char* conflict) {
    const auto name = PeekString(names, {field});
    if (name.empty() || !held.contains(name)) {
      if (name.empty())
        accepted.erase(field);
      else
        accepted[field] = name;
      return;
    }
    reason = conflict;
    message = Quote(name) + " is already in use";
  };
  claim("plural", taken.resources, "PluralConflict");
  claim("singular", taken.resources, "SingularConflict");
  std::vector<std::string> clashes;
  for (const json::value& v : PeekArray(names, {"shortNames"}))
    if (taken.resources.contains(AsString(v))) clashes.push_back(Quote(AsString(v)) + " is already in use");
  if (!clashes.empty()) {
    reason = "ShortNamesConflict";
    message = clashes.size() == 1 ? clashes[0] : "[" + Join(clashes, ", ") + "]";
  } else if (const json::value* list = Peek(names, {"shortNames"})) {
    accepted["shortNames"] = *list;
  } else {
    accepted.erase("shortNames");
  }
  claim("kind", taken.kinds, "KindConflict");
  claim("listKind", taken.kinds, "ListKindConflict");
  if (const json::value* list = Peek(names, {"categories"}))
    accepted["categories"] = *list;
  else
    accepted.erase("categories");
  Ensure(crd, {"status"})["acceptedNames"] = std::move(accepted);

  if (reason.empty()) {
    SetCondition(crd, "NamesAccepted", true, "NoConflicts", "no conflicts found", now);
    if (!HasCondition(crd, "Established"))
      SetCondition(crd, "Established", true, "InitialNamesAccepted", "the initial names have been accepted", now);
    return;
  }
  SetCondition(crd, "NamesAccepted", false, reason, message, now);
  if (!HasCondition(crd, "Established"))
    SetCondition(crd, "Established", false, "NotAccepted", "not all names are accepted", now);
}

}  // namespace gpuop::sim
