#include <array>
#include <boost/json.hpp>

#include "data/json.h"
#include "data/quantity.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsStandard(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
}

/// Names of one's own, which are counted in whole numbers and never lent twice.
bool IsExtended(std::string_view name) {
  if (!name.contains('/')) return false;
  const std::string_view domain = name.substr(0, name.find('/'));
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io") && !name.starts_with("requests.");
}

bool Overcommits(std::string_view name) { return !IsExtended(name) && !IsHugePages(name); }

data::Quantity Amount(const json::value& value) {
  if (!value.is_string()) return {};
  return data::Quantity::Parse(data::AsView(value.get_string())).value_or(data::Quantity());
}

void CheckName(Findings& out, std::string_view name, const Path& at) {
  const data::Messages wrong = data::CheckQualifiedName(name);
  out.Messages(at, name, wrong);
  if (!name.contains('/')) {
    if (!wrong.empty()) return;
    if (IsStandard(name)) return;
    out.Invalid(at, name, "must be a standard resource type or fully qualified");
    out.Invalid(at, name, "must be a standard resource for containers");
  } else if (!wrong.empty() && IsExtended(name)) {
    out.Invalid(at, name, "doesn't follow extended resource name standard");
  }
}

}  // namespace

void CheckResourceList(Findings& out, const Object& amounts, const Path& at) {
  for (const auto& [key, value] : amounts) {
    const std::string_view name(key.data(), key.size());
    const Path here = at.Key(name);
    const std::size_t before = out.errors.size();
    CheckName(out, name, here);
    if (out.errors.size() != before) continue;
    const data::Quantity amount = Amount(value);
    if (amount.Sign() < 0) out.Invalid(here, value, "must be greater than or equal to 0");
    if (IsExtended(name) && amount != data::Quantity::Of(amount.Value()))
      out.Invalid(here, value, "must be an integer");
  }
}

void CheckAmounts(Findings& out, const Object& amounts, const Path& at) {
  for (const auto& [key, value] : amounts) {
    const std::string_view name(key.data(), key.size());
    const data::Quantity amount = Amount(value);
    if (amount.Sign() < 0) out.Invalid(at.Child(name), value, "must be greater than or equal to 0");
    if (IsExtended(name) && amount != data::Quantity::Of(amount.Value()))
      out.Invalid(at.Child(name), value, "must be an integer");
  }
}

void CheckResources(Findings& out, const Object& resources, const Path& at) {
  static const Object kNone;
  const Object* limits_there = ObjectAt(resources, "limits");
  const Object* requests_there = ObjectAt(resources, "requests");
  const Object& limits = limits_there == nullptr ? kNone : *limits_there;
  const Object& requests = requests_there == nullptr ? kNone : *requests_there;
  CheckResourceList(out, limits, at.Child("limits"));
  const Path requests_at = at.Child("requests");
  for (const auto& [key, value] : requests) {
    const std::string_view name(key.data(), key.size());
    CheckResourceList(out, Object{{key, value}}, requests_at);
    const json::value* limit = limits.if_contains(key);
    if (limit == nullptr) {
      if (!Overcommits(name)) out.Required(at.Child("limits"), "Limit must be set for non overcommitable resources");
      continue;
    }
    const std::string shown = limit->is_string() ? std::string(data::AsView(limit->get_string())) : "";
    if (!Overcommits(name) && Amount(value) != Amount(*limit))
      out.Invalid(requests_at, value, std::string("must be equal to ").append(name).append(" limit of ").append(shown));
    else if (Overcommits(name) && Amount(value) > Amount(*limit))
      out.Invalid(requests_at, value,
                  std::string("must be less than or equal to ").append(name).append(" limit of ").append(shown));
  }
  bool huge = false, base = false;
  for (const Object* list : {&limits, &requests})
    for (const auto& [key, value] : *list) {
      huge = huge || IsHugePages({key.data(), key.size()});
      base = base || key == "cpu" || key == "memory";
    }
  if (huge && !base) out.Forbidden(at, "HugePages require cpu or memory");
}

}  // namespace gpuop::sim::types
