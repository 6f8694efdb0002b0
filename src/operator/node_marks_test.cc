#include "operator/node_marks.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "data/json.h"
#include "data/patch.h"
#include "kube/decode.h"
#include "operator/mark_pods.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

const NodeMarks kBoth{"gpu-operator.dev/GPUAdvertised", "gpu-operator.dev/not-ready:NoSchedule"};

constexpr const char* kMarked = R"({
  "metadata": {"name": "n1", "annotations": {
    "nvidia.com/gpu-operator.node-marks": "gpu-operator.dev/GPUAdvertised,gpu-operator.dev/not-ready:NoSchedule"}},
  "spec": {"taints": [{"key": "site", "effect": "NoSchedule"}, {"key": "gpu-operator.dev/not-ready", "effect": "NoExecute"},
    {"key": "gpu-operator.dev/not-ready", "effect": "NoSchedule"}, {"key": "last", "effect": "NoSchedule"}]},
  "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "gpu-operator.dev/GPUAdvertised", "status": "False"}]}})";

MarkSweep SweepOf(const data::Json& node, const NodeMarks& gone) {
  return PlanSweep(kube::Decode<kube::Node>(node.as_object()).value(), gone);
}

NodeMarks MarksOfPlugin(const std::vector<std::pair<const char*, const char*>>& environment) {
  PluginMarks out;
  for (const auto& [variable, value] : environment) out.Add(variable, value);
  return out.Marks();
}

TEST(NodeMarksTest, MarksAreWhatAPluginsEnvironmentAsksForAndSurviveTheirText) {
  EXPECT_EQ(MarksOfPlugin({{"READINESS_TAINT", "true"}, {"READINESS_CONDITION", "true"}}), kBoth);
  EXPECT_EQ(MarksOfPlugin({{"READINESS_TAINT", "a.b/c=v:PreferNoSchedule"}}), NodeMarks{"a.b/c:PreferNoSchedule"});
  EXPECT_EQ(MarksOfPlugin({{"GPU_CONDITION", "true"}}), NodeMarks{"gpu-operator.dev/GPUsHealthy"});
  EXPECT_EQ(MarksOfPlugin({{"GPU_CONDITION", "false"}, {"PASS_DEVICE_SPECS", "true"}}), NodeMarks());
  EXPECT_EQ(ParseMarks(TextOf(kBoth)), kBoth);
  EXPECT_EQ(ParseMarks(""), NodeMarks());
}

TEST(NodeMarksTest, TakesOffItsOwnMarksAndNoOthers) {
  const data::Json node = data::ParseJson(kMarked).value();
  const MarkSweep sweep = SweepOf(node, kBoth);
  ASSERT_TRUE(sweep.status);
  EXPECT_EQ(
      data::Json(*sweep.status),
      data::ParseJson(R"({"status":{"conditions":[{"type":"gpu-operator.dev/GPUAdvertised","$patch":"delete"}]}})")
          .value());
  const auto after = data::ApplyJsonPatch(node, sweep.node);
  ASSERT_TRUE(after) << after.error().text;
  EXPECT_EQ(after->at("spec").at("taints"),
            data::ParseJson(
                R"([{"key":"site","effect":"NoSchedule"},{"key":"gpu-operator.dev/not-ready","effect":"NoExecute"},)"
                R"({"key":"last","effect":"NoSchedule"}])")
                .value());
  EXPECT_TRUE(after->at("metadata").at("annotations").as_object().empty());
}

TEST(NodeMarksTest, SeveralTaintsGoInOneRequest) {
  data::Json node = data::ParseJson(kMarked).value();
  const auto after = data::ApplyJsonPatch(
      node, SweepOf(node, {"last:NoSchedule", "site:NoSchedule", "gpu-operator.dev/not-ready:NoSchedule"}).node);
  ASSERT_TRUE(after) << after.error().text;
  EXPECT_EQ(after->at("spec").at("taints").as_array().size(), 1U);
}

TEST(NodeMarksTest, WhatIsStillInUseStaysWrittenDown) {
  const data::Json node = data::ParseJson(kMarked).value();
  const MarkSweep sweep = SweepOf(node, {"gpu-operator.dev/not-ready:NoSchedule"});
  EXPECT_FALSE(sweep.status);
  const auto after = data::ApplyJsonPatch(node, sweep.node);
  EXPECT_EQ(after->at("metadata").at("annotations").at(kNodeMarks), "gpu-operator.dev/GPUAdvertised");
}

TEST(NodeMarksTest, ATaintThatMovedMeanwhileIsNotMistakenForAnother) {
  const data::Json node = data::ParseJson(kMarked).value();
  data::Json moved = node;
  moved.at("spec").at("taints").as_array().erase(moved.at("spec").at("taints").as_array().begin());
  EXPECT_FALSE(data::ApplyJsonPatch(moved, SweepOf(node, kBoth).node));
}

TEST(NodeMarksTest, ANodeWithoutMarksIsNotWritten) {
  const data::Json node = data::ParseJson(R"({"metadata":{"name":"n1"}})").value();
  EXPECT_FALSE(SweepOf(node, kBoth).status);
  EXPECT_TRUE(SweepOf(node, kBoth).node.empty());
}

/// The marks of a Pod of an operand.
std::string MarksOfPod(const std::string& app, const std::string& phase, const std::string& env = "") {
  const data::Json pod = data::ParseJson(R"({"metadata":{"name":"p","labels":{"app":")" + app +
                                         R"("}},"spec":{"nodeName":"n1","containers":[{"env":[)" + env +
                                         R"(]}]},"status":{"phase":")" + phase + "\"}}")
                             .value();
  return std::string(MarkingPod::FromJson(pod.as_object())->marks.view());
}

TEST(NodeMarksTest, APluginsPodKeepsTheMarksThatItsEnvironmentNamesUntilItEnds) {
  const std::string app = "nvidia-device-plugin-daemonset", taint = R"({"name":"READINESS_TAINT","value":"true"})";
  EXPECT_EQ(MarksOfPod(app, "Running", taint), "gpu-operator.dev/not-ready:NoSchedule");
  EXPECT_EQ(MarksOfPod(app, "Failed", taint), "");
  EXPECT_EQ(MarksOfPod(app, "Running", R"({"name":"PASS_DEVICE_SPECS","value":"true"})"), "");
  EXPECT_EQ(MarksOfPod(app, "Running", R"({"name":"READINESS_TAINT","value":"no effect"})"), "")
      << "such a plugin does not start";
}

TEST(NodeMarksTest, AValidatorsPodKeepsItsConditionUntilItEnds) {
  const std::string app = "nvidia-operator-validator";
  EXPECT_EQ(MarksOfPod(app, "Pending"), "gpu-operator.dev/GPUReady") << "its init containers write it too";
  EXPECT_EQ(MarksOfPod(app, "Running"), "gpu-operator.dev/GPUReady");
  EXPECT_EQ(MarksOfPod(app, "Succeeded"), "");
}

}  // namespace
}  // namespace gpuop::op
