#include "data/names.h"

#include <boost/json.hpp>

#include "base/ascii.h"
#include "base/text.h"

namespace gpuop::data {
namespace {

constexpr std::string_view kLabelForm = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kNameForm = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::size_t kAnnotationLimit = 256 * 1024;

bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }

bool IsLabel(std::string_view s) {
  return !s.empty() && IsLowerOrDigit(s.front()) && IsLowerOrDigit(s.back()) &&
         std::ranges::all_of(s, [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsSubdomain(std::string_view s) { return std::ranges::all_of(Split(s, '.'), IsLabel); }

/// Letters and digits, with - _ . between.
bool IsName(std::string_view s) {
  return !s.empty() && IsAlphanumeric(s.front()) && IsAlphanumeric(s.back()) &&
         std::ranges::all_of(s, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

/// Labels count in bytes, names in characters, as the API server's messages have it.
std::string TooLong(std::size_t limit, std::string_view unit = "characters") {
  return "must be no more than " + std::to_string(limit) + " " + std::string(unit);
}

/// The message, examples and expression of a form that does not match.
std::string Form(std::string_view message, std::string_view form, std::initializer_list<std::string_view> examples) {
  std::string out(message);
  out += " (e.g. ";
  bool first = true;
  for (const std::string_view example : examples) {
    if (!first) out += " or ";
    first = false;
    out.append("'").append(example).append("', ");
  }
  return out.append("regex used for validation is '").append(form).append("')");
}

std::string NameForm() {
  return Form(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      kNameForm, {"MyName", "my.name", "123-abc"});
}

Messages Subdomain(std::string_view name, std::string_view unit) {
  Messages out;
  if (name.size() > 253) out.push_back(TooLong(253, unit));
  if (!IsSubdomain(name))
    out.push_back(
        Form("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
             "and must start and end with an alphanumeric character",
             std::string(kLabelForm) + "(\\." + std::string(kLabelForm) + ")*", {"example.com"}));
  return out;
}

}  // namespace

Messages CheckDnsLabel(std::string_view name) {
  Messages out;
  if (name.size() > 63) out.push_back(TooLong(63));
  if (IsLabel(name)) return out;
  if (IsSubdomain(name)) {
    out.emplace_back("must not contain dots");
  } else {
    out.push_back(
        Form("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
             "start and end with an alphanumeric character",
             kLabelForm, {"my-name", "123-abc"}));
  }
  return out;
}

Messages CheckDnsSubdomain(std::string_view name) { return Subdomain(name, "characters"); }

Messages CheckDns1035Label(std::string_view name) {
  Messages out;
  if (name.size() > 63) out.push_back(TooLong(63));
  if (!IsLabel(name) || !IsLower(name.front()))
    out.push_back(
        Form("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
             "alphabetic character, and end with an alphanumeric character",
             "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  return out;
}

Messages CheckQualifiedName(std::string_view name) {
  Messages out;
  const auto parts = Split(name, '/');
  if (parts.size() > 2)
    return {"a valid label key " + NameForm() +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  if (parts.size() == 2) {
    if (parts[0].empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& message : Subdomain(parts[0], "bytes")) out.push_back("prefix part " + message);
    }
  }
  const std::string_view last = parts.back();
  if (last.empty()) out.emplace_back("name part must be non-empty");
  if (last.size() > 63) out.push_back("name part " + TooLong(63, "bytes"));
  if (!IsName(last)) out.push_back("name part " + NameForm());
  return out;
}

Messages CheckLabelValue(std::string_view value) {
  Messages out;
  if (value.size() > 63) out.push_back(TooLong(63, "bytes"));
  if (!value.empty() && !IsName(value))
    out.push_back(
        Form("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
             "and must start and end with an alphanumeric character",
             "(" + std::string(kNameForm) + ")?", {"MyValue", "my_value", "12345"}));
  return out;
}

Messages CheckPathSegment(std::string_view name) {
  if (name == "." || name == "..") return {"may not be '" + std::string(name) + "'"};
  Messages out;
  for (const char c : {'/', '%'})
    if (name.contains(c)) out.push_back(std::string("may not contain '") + c + "'");
  return out;
}

Messages CheckConfigKey(std::string_view key) {
  Messages out;
  if (key.size() > 253) out.push_back(TooLong(253));
  const bool good = !key.empty() && std::ranges::all_of(key, [](char c) {
    return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
  if (!good)
    out.push_back(Form("a valid config key must consist of alphanumeric characters, '-', '_' or '.'", "[-._a-zA-Z0-9]+",
                       {"key.name", "KEY_NAME", "key-name"}));
  if (key == "." || key == "..") {
    out.push_back("must not be '" + std::string(key) + "'");
  } else if (key.starts_with("..")) {
    out.emplace_back("must not start with '..'");
  }
  return out;
}

Messages CheckPortName(std::string_view name) {
  Messages out;
  if (name.size() > 15) out.push_back(TooLong(15));
  if (name.empty() || !std::ranges::all_of(name, [](char c) { return IsLowerOrDigit(c) || c == '-'; }))
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!std::ranges::any_of(name, IsLower)) out.emplace_back("must contain at least one letter (a-z)");
  if (name.contains("--")) out.emplace_back("must not contain consecutive hyphens");
  if (!name.empty() && (name.front() == '-' || name.back() == '-'))
    out.emplace_back("must not begin or end with a hyphen");
  return out;
}

std::vector<FieldError> CheckLabels(const JsonObject& labels, std::string_view path) {
  std::vector<FieldError> out;
  for (const auto& label : labels) {
    for (std::string& message : CheckQualifiedName(label.key()))
      out.push_back(FieldError::Invalid(std::string(path), label.key(), std::move(message)));
    const boost::json::string* value = label.value().if_string();
    if (value == nullptr) continue;
    for (std::string& message : CheckLabelValue(AsView(*value)))
      out.push_back(FieldError::Invalid(std::string(path), *value, std::move(message)));
  }
  return out;
}

std::vector<FieldError> CheckAnnotations(const JsonObject& annotations, std::string_view path) {
  std::vector<FieldError> out;
  std::size_t size = 0;
  for (const auto& annotation : annotations) {
    size += annotation.key().size();
    if (const boost::json::string* value = annotation.value().if_string()) size += value->size();
    for (std::string& message : CheckQualifiedName(ToLower(annotation.key())))
      out.push_back(FieldError::Invalid(std::string(path), annotation.key(), std::move(message)));
  }
  if (size > kAnnotationLimit)
    out.push_back({FieldError::Kind::kTooLong, std::string(path),
                   "may not be more than " + std::to_string(kAnnotationLimit) + " bytes", std::nullopt});
  return out;
}

}  // namespace gpuop::data
