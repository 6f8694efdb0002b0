// A HorizontalPodAutoscaler's cells: the target of each metric, and what there is of it.

#include <string>
#include <vector>

#include "base/text.h"
#include "sim/peek.h"
#include "sim/table/human.h"
#include "sim/table/kind_table.h"
#include "sim/types/autoscalers.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr const char* kUnknown = "<unknown>";
constexpr std::size_t kShown = 2;

struct Source {
  const char *type, *member;
  /// Resources say their name.
  bool named;
};
constexpr Source kSources[] = {{"External", "external", false},
                               {"Pods", "pods", false},
                               {"Object", "object", false},
                               {"Resource", "resource", true},
                               {"ContainerResource", "containerResource", true}};

/// A value of a target or of a status: a quantity, or a share in percent.
std::string Shown(const json::object& from, const char* name) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr || value->is_null()) return "";
  return value->is_string() ? std::string(AsString(value)) : std::to_string(AsInt(value)) + "%";
}

std::string Metric(const json::value& spec, const json::value& status) {
  const std::string_view type = PeekString(spec, {"type"});
  for (const Source& source : kSources) {
    if (type != source.type) continue;
    const json::object& target = PeekObject(spec, {source.member, "target"});
    const json::object& current = PeekObject(status, {source.member, "current"});
    const bool average = target.contains("averageValue");
    const char* which = average ? "averageValue" : source.named ? "averageUtilization" : "value";
    std::string wanted = Shown(target, which), now = Shown(current, which);
    if (wanted.empty()) wanted = source.named ? "<auto>" : "0";
    std::string out = (now.empty() ? kUnknown : now) + "/" + wanted;
    if (source.named) return std::string(PeekString(spec, {source.member, "name"})) + ": " + out;
    return average && type != "Pods" ? out + " (avg)" : out;
  }
  return "<unknown type>";
}

std::string Targets(const json::object& autoscaler) {
  const json::array& metrics = PeekArray(autoscaler, {"spec", "metrics"});
  const json::array& current = PeekArray(autoscaler, {"status", "currentMetrics"});
  if (metrics.empty()) return "<none>";
  std::vector<std::string> out;
  for (std::size_t i = 0; i < metrics.size() && i < kShown; ++i)
    out.push_back(Metric(metrics[i], i < current.size() ? current[i] : json::value()));
  std::string text = Join(out, ", ");
  if (metrics.size() > kShown) text += " + " + std::to_string(metrics.size() - kShown) + " more...";
  return text;
}

}  // namespace

void AutoscalerCells(const json::object& object, WallTime now, json::array& cells) {
  json::object o = object;
  types::ConvertAutoscaler("v2", o);
  cells.emplace_back(PeekString(o, {"metadata", "name"}));
  cells.emplace_back(std::string(PeekString(o, {"spec", "scaleTargetRef", "kind"})) + "/" +
                     std::string(PeekString(o, {"spec", "scaleTargetRef", "name"})));
  cells.emplace_back(Targets(o));
  const json::value* least = Peek(o, {"spec", "minReplicas"});
  cells.emplace_back(least == nullptr ? "<unset>" : std::to_string(AsInt(least)));
  cells.emplace_back(PeekInt(o, {"spec", "maxReplicas"}));
  cells.emplace_back(PeekInt(o, {"status", "currentReplicas"}));
  cells.emplace_back(Age(o, now));
}

}  // namespace gpuop::sim
