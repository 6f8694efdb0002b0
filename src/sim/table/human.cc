#include "sim/table/human.h"

#include <algorithm>

#include "base/text.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

std::string Two(std::int64_t a, char a_unit, std::int64_t b, char b_unit) {
  std::string out = std::to_string(a) + a_unit;
  return b == 0 ? out : out + std::to_string(b) + b_unit;
}

std::vector<std::string> SortedValues(const json::array& values) {
  std::vector<std::string> out;
  for (const json::value& v : values) out.emplace_back(AsString(v));
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::string HumanDuration(Duration span) {
  using std::chrono::duration_cast;
  const std::int64_t seconds = duration_cast<std::chrono::seconds>(span).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const std::int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (minutes < 10) return Two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return std::to_string(minutes) + "m";
  if (hours < 8) return Two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return std::to_string(hours) + "h";
  if (days < 8) return Two(days, 'd', hours % 24, 'h');
  if (days < 730) return std::to_string(days) + "d";
  if (days < 2920) return Two(days / 365, 'y', days % 365, 'd');
  return std::to_string(days / 365) + "y";
}

std::string Since(std::string_view time, WallTime now) {
  const auto at = ParseTime(time);
  return at ? HumanDuration(now - *at) : "<unknown>";
}

std::string Age(const json::object& object, WallTime now) {
  return Since(PeekString(object, {"metadata", "creationTimestamp"}), now);
}

std::string FormatLabels(const json::object& labels) {
  if (labels.empty()) return "<none>";
  std::vector<std::string> parts;
  for (const auto& [key, value] : labels) parts.push_back(std::string(key) + "=" + std::string(AsString(value)));
  std::ranges::sort(parts);
  return Join(parts, ",");
}

std::string FormatSelector(const json::object& selector) {
  std::vector<std::pair<std::string, std::string>> parts;  // by key
  for (const auto& [key, value] : PeekObject(selector, {"matchLabels"}))
    parts.emplace_back(key, std::string(key) + "=" + std::string(AsString(value)));
  for (const json::value& e : PeekArray(selector, {"matchExpressions"})) {
    const std::string key(PeekString(e, {"key"})), op(PeekString(e, {"operator"}));
    const std::string values = " (" + Join(SortedValues(PeekArray(e, {"values"})), ",") + ")";
    if (op == "In")
      parts.emplace_back(key, key + " in" + values);
    else if (op == "NotIn")
      parts.emplace_back(key, key + " notin" + values);
    else
      parts.emplace_back(key, op == "Exists" ? key : "!" + key);
  }
  if (parts.empty()) return "<none>";
  std::ranges::sort(parts, {}, [](const auto& p) { return p.first; });
  std::string out;
  for (const auto& [key, text] : parts) out.append(out.empty() ? "" : ",").append(text);
  return out;
}

std::string FirstThree(const std::vector<std::string>& all) {
  if (all.size() <= 3) return Join(all, ",");
  return all[0] + "," + all[1] + "," + all[2] + " + " + std::to_string(all.size() - 3) + " more...";
}

}  // namespace gpuop::sim
