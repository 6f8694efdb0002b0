#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/text.h"
#include "data/toml.h"

namespace gpuop::data {
namespace {

bool IsBareKey(std::string_view key) {
  const auto bare = [](char c) { return IsAlphanumeric(c) || c == '_' || c == '-'; };
  return !key.empty() && std::ranges::all_of(key, bare);
}

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = FormatDouble(value);
  if (text.find_first_of(".eE") == std::string::npos) text += ".0";
  return text;
}

template <class Range, class Print>
std::string List(const Range& items, char open, char close, Print print) {
  std::string out(1, open);
  for (const auto& item : items) {
    const std::string text = print(item);
    if (text.empty()) continue;
    if (out.size() > 1) out += ", ";
    out += text;
  }
  return out + close;
}

}  // namespace

std::string TomlKey(std::string_view key) { return IsBareKey(key) ? std::string(key) : Quote(key); }

std::string TomlLiteral(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "";
    case boost::json::kind::bool_: return value.get_bool() ? "true" : "false";
    case boost::json::kind::int64: return std::to_string(value.get_int64());
    case boost::json::kind::uint64: return std::to_string(value.get_uint64());
    case boost::json::kind::double_: return FloatText(value.get_double());
    case boost::json::kind::string: return Quote(AsView(value.get_string()));
    case boost::json::kind::array: return List(value.get_array(), '[', ']', TomlLiteral);
    case boost::json::kind::object: break;
  }
  return List(value.get_object(), '{', '}', [](const auto& member) {
    const std::string text = TomlLiteral(member.value());
    return text.empty() ? text : TomlKey(member.key()) + " = " + text;
  });
}

std::string TomlTable(const TomlPath& path, const JsonObject& table, std::string_view indent) {
  std::string out, name;
  for (const std::string& part : path) name.append(name.empty() ? "" : ".").append(TomlKey(part));
  const auto is_table = [](const auto& member) { return member.value().is_object(); };
  if (table.empty() || !std::ranges::all_of(table, is_table)) out.append(indent).append("[" + name + "]\n");
  const std::string inner = std::string(indent) + "  ";
  for (const auto& member : table)
    if (!is_table(member) && !member.value().is_null())
      out += inner + TomlKey(member.key()) + " = " + TomlLiteral(member.value()) + "\n";
  for (const auto& member : table) {
    if (!is_table(member)) continue;
    TomlPath below = path;
    below.emplace_back(member.key());
    out.append(out.empty() ? "" : "\n").append(TomlTable(below, member.value().get_object(), inner));
  }
  return out;
}

std::string ToToml(const JsonObject& value) {
  std::string out;
  for (const auto& member : value)
    if (!member.value().is_object() && !member.value().is_null())
      out += TomlKey(member.key()) + " = " + TomlLiteral(member.value()) + "\n";
  for (const auto& member : value)
    if (const JsonObject* table = member.value().if_object())
      out.append(out.empty() ? "" : "\n").append(TomlTable({std::string(member.key())}, *table, ""));
  return out;
}

}  // namespace gpuop::data
