#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "data/json.h"

namespace gpuop::data {
namespace {

/// Which bytes a JSON string cannot hold as they are.
constexpr std::array<bool, 256> kEscaped = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 0x20; ++c) table[c] = true;
  table['"'] = table['\\'] = true;
  return table;
}();

void AppendEscape(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
}

template <class Int>
void AppendInt(std::string& out, Int number) {
  std::array<char, 24> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  out.append(buffer.data(), end);
}

void AppendScalar(std::string& out, const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: out += "null"; return;
    case boost::json::kind::bool_: out += value.get_bool() ? "true" : "false"; return;
    case boost::json::kind::int64: AppendInt(out, value.get_int64()); return;
    case boost::json::kind::uint64: AppendInt(out, value.get_uint64()); return;
    case boost::json::kind::double_: out += FormatDouble(value.get_double()); return;
    case boost::json::kind::string: AppendJsonString(out, AsView(value.get_string())); return;
    default: return;
  }
}

void NewLine(std::string& out, int indent, int depth) {
  out += '\n';
  out.append(static_cast<std::size_t>(indent * depth), ' ');
}

void AppendPretty(std::string& out, const Json& value, int indent, int depth) {
  const JsonObject* object = value.if_object();
  const JsonArray* array = value.if_array();
  if (object == nullptr && array == nullptr) return AppendScalar(out, value);
  const bool empty = object != nullptr ? object->empty() : array->empty();
  out += object != nullptr ? '{' : '[';
  bool first = true;
  const auto next = [&] {
    if (!first) out += ',';
    first = false;
    NewLine(out, indent, depth + 1);
  };
  if (object != nullptr) {
    for (const auto& member : *object) {
      next();
      AppendJsonString(out, member.key());
      out += ": ";
      AppendPretty(out, member.value(), indent, depth + 1);
    }
  } else {
    for (const Json& item : *array) {
      next();
      AppendPretty(out, item, indent, depth + 1);
    }
  }
  if (!empty) NewLine(out, indent, depth);
  out += object != nullptr ? '}' : ']';
}

void AppendGoText(std::string& out, const Json& value) {
  if (value.is_null()) {
    out += "<nil>";
  } else if (const boost::json::string* text = value.if_string()) {
    out += AsView(*text);
  } else if (const JsonArray* array = value.if_array()) {
    out += '[';
    for (const Json& item : *array) {
      if (&item != array->data()) out += ' ';
      AppendGoText(out, item);
    }
    out += ']';
  } else if (const JsonObject* object = value.if_object()) {
    std::map<std::string_view, const Json*> sorted;
    for (const auto& member : *object) sorted.emplace(member.key(), &member.value());
    out += "map[";
    for (bool first = true; const auto& [key, member] : sorted) {
      if (!first) out += ' ';
      first = false;
      out.append(key).append(":");
      AppendGoText(out, *member);
    }
    out += ']';
  } else {
    AppendScalar(out, value);
  }
}

}  // namespace

std::string GoText(const Json& value) {
  std::string out;
  AppendGoText(out, value);
  return out;
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!kEscaped[static_cast<unsigned char>(text[i])]) continue;
    out.append(text, start, i - start);
    AppendEscape(out, text[i]);
    start = i + 1;
  }
  out.append(text, start);
  out += '"';
}

void AppendJson(std::string& out, const JsonObject& value) {
  out += '{';
  bool first = true;
  for (const auto& member : value) {
    if (!first) out += ',';
    first = false;
    AppendJsonString(out, member.key());
    out += ':';
    AppendJson(out, member.value());
  }
  out += '}';
}

void AppendJson(std::string& out, const Json& value) {
  if (const JsonObject* object = value.if_object()) return AppendJson(out, *object);
  const JsonArray* array = value.if_array();
  if (array == nullptr) return AppendScalar(out, value);
  out += '[';
  bool first = true;
  for (const Json& item : *array) {
    if (!first) out += ',';
    first = false;
    AppendJson(out, item);
  }
  out += ']';
}

std::string ToJson(const Json& value) {
  std::string out;
  AppendJson(out, value);
  return out;
}

std::string ToPrettyJson(const Json& value, int indent) {
  std::string out;
  AppendPretty(out, value, indent, 0);
  return out;
}

std::string FormatDouble(double number) {
  if (!std::isfinite(number)) return "null";  // JSON has no word for it; the reader never makes one
  const double size = std::fabs(number);
  std::array<char, 64> buffer;
  const bool fixed = size == 0 || (size >= 1e-6 && size < 1e15);
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string out(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format).ptr);
  if (fixed) return out;
  const std::size_t e = out.find('e');
  if (size >= 1e15 && size < 1e21) {  // the shortest digits and then zeros, which the library's fixed form is not
    const auto exponent = static_cast<std::size_t>(std::atoi(out.c_str() + e + 1));
    std::string digits = out.substr(0, e);
    const std::size_t dot = digits.find('.');
    const std::size_t fraction = dot == std::string::npos ? 0 : digits.size() - dot - 1;
    if (dot != std::string::npos) digits.erase(dot, 1);
    if (fraction <= exponent) return digits.append(exponent - fraction, '0');
    return digits.insert(digits.size() - (fraction - exponent), 1, '.');
  }
  // Go writes e-9 where the C library writes e-09.
  if (out[e + 1] == '-' && out[e + 2] == '0') out.erase(e + 2, 1);
  return out;
}

}  // namespace gpuop::data
