#include "sim/types/scalars.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>

#include "base/text.h"
#include "data/json.h"
#include "data/quantity.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using data::Schema;
using data::Type;

Form FormOf(const Schema& schema) {
  struct Named {
    std::string_view format;
    Form form;
  };
  static constexpr std::array kForms = {
      Named{"quantity", Form::kQuantity},
      Named{"int-or-string", Form::kIntOrString},
      Named{"date-time", Form::kTime},
      Named{"micro-time", Form::kMicroTime},
      Named{"raw", Form::kRaw},
      Named{"json", Form::kJson},
      Named{"schema-or-bool", Form::kSchemaOrBool},
      Named{"schema-or-array", Form::kSchemaOrArray},
      Named{"schema-or-strings", Form::kSchemaOrStrings},
  };
  if (schema.format.empty()) return Form::kNone;
  const auto* it = std::ranges::find(kForms, schema.format, &Named::format);
  return it == kForms.end() ? Form::kNone : it->form;
}

json::value ZeroOf(const Schema& schema) {
  switch (FormOf(schema)) {
    case Form::kNone: break;
    case Form::kQuantity: return "0";
    case Form::kIntOrString: return 0;
    default: return nullptr;
  }
  switch (schema.type) {
    case Type::kString: return schema.format == "byte" ? json::value(nullptr) : json::value("");
    case Type::kInteger:
    case Type::kNumber: return 0;
    case Type::kBoolean: return false;
    case Type::kObject: return schema.name.empty() ? json::value(nullptr) : json::value(json::object());
    default: return nullptr;
  }
}

bool IsZero(const Schema& schema, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return true;
    case json::kind::bool_: return schema.type == Type::kBoolean && !value.get_bool();
    case json::kind::int64: return schema.type != Type::kAny && value.get_int64() == 0;
    case json::kind::double_: return schema.type == Type::kNumber && value.get_double() == 0;
    case json::kind::string: return schema.type == Type::kString && value.get_string().empty();
    case json::kind::array: return value.get_array().empty();
    case json::kind::object: return schema.name.empty() && value.get_object().empty();
    default: return false;
  }
}

std::optional<std::size_t> BadBase64(std::string_view text) {
  std::size_t digits = 0, i = 0;
  const auto alphabet = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '/'; };
  for (; i < text.size() && text[i] != '='; ++i) {
    if (text[i] == '\n' || text[i] == '\r') continue;
    if (!alphabet(text[i])) return i;
    ++digits;
  }
  std::size_t padding = 0;
  for (std::size_t p = i; p < text.size(); ++p) {
    if (text[p] == '\n' || text[p] == '\r') continue;
    if (text[p] != '=' || ++padding > 2) return p;
  }
  if ((digits + padding) % 4 != 0 || (padding > 0 && digits % 4 < 2)) return padding > 0 ? i : text.size();
  return std::nullopt;
}

std::string TimeError(std::string_view text, bool micro) {
  const std::string_view layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  static constexpr std::array<std::string_view, 11> kParts = {"2006", "-", "01", "-", "02", "T",
                                                              "15",   ":", "04", ":", "05"};
  const std::string head = "parsing time " + Quote(text) + " as " + Quote(layout) + ": cannot parse ";
  std::string_view rest = text;
  const auto failed = [&](std::string_view part) { return head + Quote(rest) + " as " + Quote(part); };
  for (std::string_view part : kParts) {
    const bool digits = std::isdigit(static_cast<unsigned char>(part[0])) != 0;
    const bool fits =
        digits ? rest.size() >= part.size() &&
                     std::ranges::all_of(rest.substr(0, part.size()),
                                         [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; })
               : rest.starts_with(part);
    if (!fits) return failed(part);
    rest.remove_prefix(part.size());
  }
  if (micro && !rest.starts_with('.')) return failed(".000000");
  if (rest.empty() || rest.starts_with('.') || std::string_view("Z+-").contains(rest[0])) {
    if (rest.starts_with("Z") && rest.size() > 1)
      return "parsing time " + Quote(text) + ": extra text: " + Quote(rest.substr(1));
    if (!rest.starts_with("Z")) return failed("Z07:00");
    return "parsing time " + Quote(text) + ": day out of range";
  }
  return failed("Z07:00");
}

std::expected<std::string, std::string> CanonicalQuantity(const json::value& value) {
  std::string text;
  if (value.is_string())
    text = data::AsView(value.get_string());
  else if (value.is_number())
    text = data::ToJson(value);
  else
    text = "x";  // lists, objects and booleans are read as text, which no quantity matches
  auto quantity = data::Quantity::Parse(text);
  if (!quantity) return std::unexpected(std::move(quantity.error().text));
  return quantity->ToString();
}

}  // namespace gpuop::sim::types
