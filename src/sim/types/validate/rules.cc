#include "sim/types/validate/rules.h"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::sim::types {
namespace json = boost::json;

std::optional<std::int64_t> NumberAt(const Object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr || !value->is_int64() ? std::nullopt : std::optional(value->get_int64());
}

const json::array* ListAt(const Object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr || !value->is_array() || value->get_array().empty() ? nullptr : &value->get_array();
}

void NotNegative(Findings& out, const Object& object, const Path& at, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto number = NumberAt(object, name); number && *number < 0)
      out.Invalid(at.Child(name), *number, "must be greater than or equal to 0");
}

void PortNumber(Findings& out, std::int64_t port, const Path& at) {
  if (port < 1 || port > 65535) out.Invalid(at, port, "must be between 1 and 65535, inclusive");
}

void PortReference(Findings& out, const Object& object, std::string_view name, const Path& at) {
  const json::value* value = object.if_contains(name);
  const Path here = at.Child(name);
  if (value == nullptr || value->is_null()) return PortNumber(out, 0, here);
  if (value->is_int64()) return PortNumber(out, value->get_int64(), here);
  if (value->is_string()) {
    const std::string_view text = data::AsView(value->get_string());
    out.Messages(here, text, data::CheckPortName(text));
  }
}

void NumberOrPercent(Findings& out, const json::value& value, const Path& at) {
  if (value.is_int64() && value.get_int64() < 0) out.Invalid(at, value, "must be greater than or equal to 0");
  if (!value.is_string()) return;
  const std::string_view text = data::AsView(value.get_string());
  const bool percent =
      text.size() > 1 && text.ends_with('%') &&
      std::ranges::all_of(text.substr(0, text.size() - 1), [](char c) { return c >= '0' && c <= '9'; });
  if (!percent)
    out.Invalid(
        at, value,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex "
        "used for validation is '[0-9]+%')");
}

void AtMostWhole(Findings& out, const json::value& value, const Path& at) {
  if (!value.is_string()) return;
  const std::string_view text = data::AsView(value.get_string());
  const auto number = text.ends_with('%') ? ParseInt(text.substr(0, text.size() - 1)) : std::nullopt;
  if (number && *number > 100) out.Invalid(at, value, "must not be greater than 100%");
}

bool IsZeroAmount(const Object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr || (value->is_int64() && value->get_int64() == 0) || *value == json::value("0%");
}

void CheckLabelMap(Findings& out, const Object* labels, const Path& at) {
  if (labels == nullptr) return;
  for (const auto& [key, value] : *labels) {
    const std::string_view name(key.data(), key.size());
    out.Messages(at, name, data::CheckQualifiedName(name));
    if (value.is_string())
      out.Messages(at, data::AsView(value.get_string()), data::CheckLabelValue(data::AsView(value.get_string())));
  }
}

void CheckSelector(Findings& out, const Object& selector, const Path& at) {
  CheckLabelMap(out, ObjectAt(selector, "matchLabels"), at.Child("matchLabels"));
  std::size_t i = 0;
  const Path expressions = at.Child("matchExpressions");
  EachAt(selector, "matchExpressions", [&](const Object& expression) {
    const Path here = expressions.Index(i++);
    const std::string_view op = TextAt(expression, "operator");
    const bool values = ListAt(expression, "values") != nullptr;
    if (op == "In" || op == "NotIn") {
      if (!values) out.Required(here.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (values)
        out.Forbidden(here.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
      out.Invalid(here.Child("operator"), op, "not a valid selector operator");
    }
    out.Messages(here.Child("key"), TextAt(expression, "key"), data::CheckQualifiedName(TextAt(expression, "key")));
  });
}

bool IsIp(std::string_view address) {
  const std::string text(address);
  in6_addr buffer{};
  return inet_pton(AF_INET, text.c_str(), &buffer) == 1 || inet_pton(AF_INET6, text.c_str(), &buffer) == 1;
}

bool IsCidr(std::string_view block) {
  const auto parts = Cut(block, '/');
  if (!parts || !IsIp(parts->first)) return false;
  const auto bits = ParseInt(parts->second);
  return bits && *bits >= 0 && *bits <= (parts->first.contains(':') ? 128 : 32);
}

void CheckIp(Findings& out, std::string_view address, const Path& at) {
  if (!IsIp(address)) out.Invalid(at, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void CheckCidr(Findings& out, std::string_view block, const Path& at) {
  if (!IsCidr(block)) out.Invalid(at, block, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

void Immutable(Findings& out, const Object& now, const Object& old, std::string_view name, const Path& at) {
  const json::value *is = now.if_contains(name), *was = old.if_contains(name);
  const json::value none;
  if (!data::JsonEqual(is == nullptr ? none : *is, was == nullptr ? none : *was))
    out.Invalid(at.Child(name), is == nullptr ? none : *is, "field is immutable");
}

}  // namespace gpuop::sim::types
