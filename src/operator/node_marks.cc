#include "operator/node_marks.h"

#include <algorithm>
#include <boost/json.hpp>

#include "api/chain.h"
#include "base/text.h"
#include "data/patch.h"
#include "operands/device_plugin/news_setting.h"
#include "operands/readiness_gate_plan.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

namespace json = boost::json;

/// Takes the taint off `node`, which then is as the requests leave it.
void SweepTaint(std::string_view mark, kube::Node& node, json::array& out) {
  const auto gate = operands::ParseGateSettings(mark, "");
  if (!gate || !gate->taint) return;  // the annotation was changed by hand
  const auto writes = operands::PlanGate(node, {.open = true, .reason = {}, .message = {}}, *gate, {});
  if (!writes.taint) return;
  out.insert(out.end(), writes.taint->begin(), writes.taint->end());
  std::erase_if(node.spec.taints,
                [&gate](const kube::Taint& t) { return t.key == gate->taint->key && t.effect == gate->taint->effect; });
}

}  // namespace

void PluginMarks::Add(std::string_view variable, std::string_view value) {
  if (variable == operands::GateSettings::kTaintVariable) taint_ = value;
  if (variable == operands::GateSettings::kConditionVariable) condition_ = value;
  if (variable == operands::device_plugin::kNewsVariable) tells_news_ = operands::device_plugin::AsksForNews(value);
}

NodeMarks PluginMarks::Marks() const {
  const auto gate = operands::ParseGateSettings(taint_, condition_);
  if (!gate) return {};
  NodeMarks out;
  if (gate->taint) out.insert(std::string(gate->taint->key.view()).append(":").append(gate->taint->effect.view()));
  if (!gate->condition.empty()) out.insert(gate->condition);
  if (tells_news_) out.emplace(operands::device_plugin::kNewsCondition);
  return out;
}

NodeMarks ValidatorMarks() { return {std::string(api::kGpuReadyCondition)}; }

NodeMarks ParseMarks(std::string_view text) {
  NodeMarks out;
  for (const std::string_view mark : Split(text, ','))
    if (!mark.empty()) out.emplace(mark);
  return out;
}

std::string TextOf(const NodeMarks& marks) { return Join(std::vector<std::string>(marks.begin(), marks.end()), ","); }

MarkSweep PlanSweep(const kube::Node& node, const NodeMarks& gone) {
  MarkSweep out;
  kube::Node left = node;
  json::array conditions;
  for (const std::string& mark : gone) {
    if (mark.contains(':')) {
      SweepTaint(mark, left, out.node);
    } else if (kube::FindCondition(node.status.conditions, mark) != nullptr) {
      conditions.push_back(json::object{{"type", mark}, {"$patch", "delete"}});
    }
  }
  if (!conditions.empty()) out.status = {{"status", {{"conditions", std::move(conditions)}}}};
  const Interned* recorded = node.meta.annotations.Find(kNodeMarks);
  if (recorded == nullptr) return out;
  NodeMarks marks = ParseMarks(*recorded);
  std::erase_if(marks, [&gone](const std::string& mark) { return gone.contains(mark); });
  const std::string path = "/metadata/annotations/" + data::PointerToken(kNodeMarks);
  out.node.push_back(json::object{{"op", "test"}, {"path", path}, {"value", recorded->view()}});
  if (marks.empty()) {
    out.node.push_back(json::object{{"op", "remove"}, {"path", path}});
  } else {
    out.node.push_back(json::object{{"op", "add"}, {"path", path}, {"value", TextOf(marks)}});
  }
  return out;
}

}  // namespace gpuop::op
