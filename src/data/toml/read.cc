#include <cstdio>

#include "data/toml.h"
#include "data/toml/scan.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

namespace gpuop::data {
namespace {

std::string Text(const toml::date& date) {
  char out[16];
  std::snprintf(out, sizeof out, "%04u-%02u-%02u", date.year, date.month, date.day);
  return out;
}

std::string Text(const toml::time& time) {
  char out[32];
  std::snprintf(out, sizeof out, "%02u:%02u:%02u", time.hour, time.minute, time.second);
  std::string text = out;
  if (time.nanosecond == 0) return text;
  std::snprintf(out, sizeof out, ".%09u", time.nanosecond);
  return text + out;
}

std::string Text(const toml::date_time& moment) {
  std::string text = Text(moment.date) + "T" + Text(moment.time);
  if (!moment.offset) return text;
  const int minutes = moment.offset->minutes;
  if (minutes == 0) return text + "Z";
  char out[16];
  std::snprintf(out, sizeof out, "%c%02d:%02d", minutes < 0 ? '-' : '+', std::abs(minutes) / 60,
                std::abs(minutes) % 60);
  return text + out;
}

Json ToJsonValue(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    JsonObject object;
    for (const auto& [key, value] : *table) object[key.str()] = ToJsonValue(value);
    return object;
  }
  if (const auto* list = node.as_array()) {
    JsonArray array;
    for (const toml::node& item : *list) array.push_back(ToJsonValue(item));
    return array;
  }
  if (const auto* v = node.as_string()) return Json(v->get());
  if (const auto* v = node.as_integer()) return Json(v->get());
  if (const auto* v = node.as_floating_point()) return Json(v->get());
  if (const auto* v = node.as_boolean()) return Json(v->get());
  if (const auto* v = node.as_date()) return Json(Text(v->get()));
  if (const auto* v = node.as_time()) return Json(Text(v->get()));
  return Json(Text(node.as_date_time()->get()));
}

}  // namespace

Result<Json> ParseToml(std::string_view text) {
  // Before the real reader, because it bounds the depth of keys.
  TRY(ScanToml(text));
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Fail(Code::kInvalid, "toml: line " + std::to_string(error.source().begin.line) + ", column " +
                                    std::to_string(error.source().begin.column) + ": " +
                                    std::string(error.description()));
  }
  return ToJsonValue(parsed.table());
}

}  // namespace gpuop::data
