#include "operands/readiness_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "base/virtual_executor.h"
#include "data/json.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"

namespace gpuop::operands {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const GateSettings kBoth = ParseGateSettings("true", "true").value();
constexpr WallTime kNow = FakeClock::kStart + 1h;

kube::Taint TaintOf(const char* key, const char* effect) {
  kube::Taint t;
  t.key = key, t.effect = effect;
  return t;
}

kube::Node NodeWith(const std::string& allocatable, WallTime heard = kNow) {
  kube::Node node;
  node.meta.name = "n1";
  if (!allocatable.empty()) node.status.allocatable.Set("nvidia.com/gpu", allocatable);
  kube::Condition ready;
  ready.type = "Ready", ready.status = "True", ready.last_heartbeat = heard;
  node.status.conditions = {ready};
  return node;
}

Advertised Gpus(std::int64_t healthy, bool live = true) { return {live, {{"nvidia.com/gpu", healthy}}}; }

struct Case {
  const char* name;
  GateFacts facts;
  const char* allocatable;
  Duration heard;  // after the streams began
  const char* reason;
};

class JudgeTest : public testing::TestWithParam<Case> {};

TEST_P(JudgeTest, OpensOnlyWhenTheKubeletSaysWhatThePluginOffers) {
  const Case& c = GetParam();
  const GateVerdict verdict = Judge(NodeWith(c.allocatable, c.facts.live_since + c.heard), c.facts);
  EXPECT_EQ(verdict.reason, c.reason) << verdict.message;
  EXPECT_EQ(verdict.open, verdict.reason == "DevicesAllocatable");
  EXPECT_FALSE(verdict.message.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeTest,
    testing::Values(Case{"AllAgree", {Gpus(8), kNow}, "8", 1s, "DevicesAllocatable"},
                    Case{"HeardInTheSameSecond", {Gpus(8), kNow + 900ms}, "8", -900ms, "DevicesAllocatable"},
                    Case{"NotRegistered", {Gpus(8, false), kNow}, "", 1s, "KubeletNotConnected"},
                    Case{"KubeletGoneAndStaleAmounts", {Gpus(8, false), kNow}, "8", 1s, "KubeletNotConnected"},
                    Case{"BackButAmountsAreFromBefore", {Gpus(8), kNow}, "8", -1s, "KubeletNotHeardSince"},
                    Case{"KubeletHasNotSeenThemYet", {Gpus(8), kNow}, "0", 1s, "AllocatableDiffers"},
                    Case{"ResourceIsMissing", {Gpus(8), kNow}, "", 1s, "AllocatableDiffers"},
                    Case{"OneWentUnhealthy", {Gpus(7), kNow}, "8", 1s, "AllocatableDiffers"},
                    Case{"AllUnhealthy", {Gpus(0), kNow}, "0", 1s, "NoHealthyDevice"},
                    Case{"NothingToOffer", {Advertised{true, {}}, kNow}, "", 1s, "NoHealthyDevice"},
                    Case{"OneOfTwoResourcesDiffers",
                         {Advertised{true, {{"nvidia.com/gpu", 8}, {"nvidia.com/mig-1g.5gb", 7}}}, kNow},
                         "8",
                         1s,
                         "AllocatableDiffers"},
                    Case{"AnUnhealthyKindBesideAHealthyOne",
                         {Advertised{true, {{"nvidia.com/gpu", 8}, {"nvidia.com/mig-1g.5gb", 0}}}, kNow},
                         "8",
                         1s,
                         "DevicesAllocatable"},
                    Case{"NotANumber", {Gpus(8), kNow}, "8Gi", 1s, "AllocatableDiffers"},
                    Case{"Ending", {Gpus(8), kNow, true}, "8", 1s, "PluginEnding"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(JudgeTest, ANodeWithoutAReadyConditionHasNotBeenHeard) {
  kube::Node node = NodeWith("8");
  node.status.conditions.clear();
  EXPECT_EQ(Judge(node, {Gpus(8), kNow}).reason, "KubeletNotHeardSince");
}

std::string Text(const GateWrites& writes) {
  return (writes.taint ? data::ToJson(data::Json(*writes.taint)) : "") +
         (writes.condition ? data::ToJson(data::Json(*writes.condition)) : "");
}

TEST(PlanGateTest, ANodeThatSaysItAlreadyIsLeftAlone) {
  kube::Node node = NodeWith("8");
  kube::Condition c;
  c.type = GateSettings::kCondition, c.status = "True", c.reason = "R", c.message = "m";
  node.status.conditions.push_back(c);
  EXPECT_TRUE(PlanGate(node, {true, "R", "m"}, kBoth, kNow).empty());
  node.spec.taints = {*kBoth.taint};
  EXPECT_FALSE(PlanGate(node, {true, "R", "m"}, kBoth, kNow).empty());
  EXPECT_TRUE(
      PlanGate(NodeWith("8"), {true, "R", "m"}, GateSettings{.taint = kBoth.taint, .condition = ""}, kNow).empty());
}

TEST(PlanGateTest, TheFirstTaintIsPutOnlyWhereThereIsStillNone) {
  EXPECT_EQ(
      Text(PlanGate(NodeWith(""), GateVerdict(), GateSettings{.taint = kBoth.taint, .condition = ""}, kNow)),
      R"([{"op":"test","path":"/spec/taints","value":null},)"
      R"({"op":"add","path":"/spec/taints","value":[{"key":"gpu-operator.dev/not-ready","effect":"NoSchedule"}]}])");
}

TEST(PlanGateTest, AnotherTaintIsPutBehindThoseOfOthers) {
  kube::Node node = NodeWith("");
  node.spec.taints = {TaintOf("nvidia.com/gpu", "NoSchedule")};
  auto settings = ParseGateSettings("example.com/gpu=wait:PreferNoSchedule", "").value();
  EXPECT_EQ(Text(PlanGate(node, GateVerdict(), settings, kNow)),
            R"([{"op":"add","path":"/spec/taints/-","value":)"
            R"({"key":"example.com/gpu","effect":"PreferNoSchedule","value":"wait"}}])");
}

TEST(PlanGateTest, OnlyTheOwnTaintIsTakenAndOnlyFromWhereItWasSeen) {
  kube::Node node = NodeWith("");
  node.spec.taints = {TaintOf("gpu-operator.dev/not-ready", "NoExecute"), TaintOf("a", "NoSchedule"), *kBoth.taint};
  EXPECT_EQ(Text(PlanGate(node, GateVerdict{true, "", ""}, GateSettings{.taint = kBoth.taint, .condition = ""}, kNow)),
            R"([{"op":"test","path":"/spec/taints/2/key","value":"gpu-operator.dev/not-ready"},)"
            R"({"op":"test","path":"/spec/taints/2/effect","value":"NoSchedule"},)"
            R"({"op":"remove","path":"/spec/taints/2"}])");
}

TEST(PlanGateTest, AConditionsTransitionTimeIsThatOfItsStatus) {
  kube::Node node = NodeWith("");
  kube::Condition c;
  c.type = "example.com/Gpus", c.status = "False", c.reason = "A", c.last_transition = FakeClock::kStart;
  node.status.conditions.push_back(c);
  const GateSettings settings{.taint = {}, .condition = "example.com/Gpus"};
  EXPECT_THAT(Text(PlanGate(node, {false, "B", "m"}, settings, kNow)),
              HasSubstr(R"("lastTransitionTime":"2026-01-01T00:00:00Z")"));
  EXPECT_THAT(Text(PlanGate(node, {true, "B", "m"}, settings, kNow)),
              HasSubstr(R"("lastTransitionTime":"2026-01-01T01:00:00Z")"));
}

TEST(GateSettingsTest, AreReadAndRefusedByName) {
  EXPECT_FALSE(ParseGateSettings("", "").value().enabled());
  EXPECT_FALSE(ParseGateSettings("false", "false").value().enabled());
  EXPECT_EQ(kBoth.taint->key, "gpu-operator.dev/not-ready");
  EXPECT_EQ(kBoth.condition, "gpu-operator.dev/GPUAdvertised");
  const auto own =
      ParseGateSettings("startup-taint.cluster-autoscaler.kubernetes.io/gpu=x:NoSchedule", "a.b/C").value();
  EXPECT_EQ(own.taint->value, "x");
  for (const char* bad : {"key", "key:", "key:NoExecute", "key:noschedule", ":NoSchedule", "a/b/c:NoSchedule",
                          "k=a b:NoSchedule", "k e:NoSchedule"})
    EXPECT_THAT(ParseGateSettings(bad, "").error().text, HasSubstr("readiness taint")) << bad;
  for (const char* bad : {"a b", "a/b/c", "/x"})
    EXPECT_THAT(ParseGateSettings("", bad).error().text, HasSubstr("readiness condition")) << bad;
}

/// A gate on a small API server with one node, on a virtual clock. The node has a taint of somebody else's.
struct ReadinessGateTest : testing::Test {
  const json::object kOthers{{"key", "nvidia.com/gpu"}, {"effect", "NoSchedule"}};

  ReadinessGateTest() { Report("0"); }

  void Make() {
    gate = std::make_unique<ReadinessGate>(ReadinessGate::Parts{executor, kube::Client(counting), log, &metrics}, "n1",
                                           GateSettings{.taint = kBoth.taint, .condition = ""});
    gate->Start();
    executor.RunFor(1s);
  }
  /// What the kubelet writes.
  void Report(const std::string& allocatable) {
    json::object node = door.Peek(ref).value_or(json::object{{"apiVersion", "v1"},
                                                             {"kind", "Node"},
                                                             {"metadata", {{"name", "n1"}}},
                                                             {"spec", {{"taints", json::array{kOthers}}}}});
    node["status"] = {
        {"allocatable", {{"nvidia.com/gpu", allocatable}}},
        {"conditions",
         json::array{{{"type", "Ready"}, {"status", "True"}, {"lastHeartbeatTime", FormatTime(executor.Wall())}}}}};
    door.Put(kube::Node::kResource, std::move(node));
  }
  void SetTaints(json::array taints) {
    json::object node = *door.Peek(ref);
    node["spec"] = {{"taints", std::move(taints)}};
    door.Put(kube::Node::kResource, std::move(node));
  }
  std::vector<std::string> Taints() const {
    std::vector<std::string> out;
    const data::Json node(*door.Peek(ref));
    if (const auto* taints = data::GetArray(node, "spec.taints"))
      for (const data::Json& t : *taints) out.emplace_back(data::StringOr(t, "key"));
    return out;
  }
  void Set(const Advertised& advertised) {
    gate->Set(advertised);
    executor.RunFor(1s);
  }

  VirtualExecutor executor{7};
  kube::FakeDoor door{executor};
  kube::CountingDoor counting{door};
  FakeLog log;
  MetricRegistry metrics;
  const kube::ObjectRef ref = kube::Ref<kube::Node>("n1");
  std::unique_ptr<ReadinessGate> gate;
};

constexpr const char* kKey = "gpu-operator.dev/not-ready";

TEST_F(ReadinessGateTest, ClosesAtTheStartAndOpensWhenTheKubeletHasSpoken) {
  Make();
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu", kKey));
  Set(Gpus(8));
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu", kKey));
  Report("8");
  executor.RunFor(1s);
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu"));
  EXPECT_TRUE(gate->verdict().open);
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_readiness_gate_open 1"));
}

TEST_F(ReadinessGateTest, AKubeletThatRestartsFindsItClosedUntilItsNewWord) {
  Make();
  Set(Gpus(8));
  Report("8");
  executor.RunFor(1min);
  Set(Gpus(8, false));  // its socket closes
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu", kKey));
  executor.RunFor(5s);
  Set(Gpus(8));  // registered again, while the API still shows the old amounts
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu", kKey));
  EXPECT_EQ(gate->verdict().reason, "KubeletNotHeardSince");
  Report("0");
  executor.RunFor(1s);
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu", kKey));
  Report("8");
  executor.RunFor(1s);
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu"));
}

TEST_F(ReadinessGateTest, ASteadyNodeCostsNoRequest) {
  Make();
  Set(Gpus(8));
  Report("8");
  executor.RunFor(1s);
  const kube::CallScope calls(counting);
  for (int i = 0; i < 100; ++i) {
    Report("8");  // heartbeats
    Set(Gpus(8));
  }
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

TEST_F(ReadinessGateTest, WhatOthersTakeAwayIsPutBackAndTheirTaintsStay) {
  Make();
  SetTaints({{{"key", "other"}, {"effect", "NoExecute"}}});
  executor.RunFor(1s);
  EXPECT_THAT(Taints(), ElementsAre("other", kKey));
  Set(Gpus(8));
  Report("8");
  executor.RunFor(1s);
  EXPECT_THAT(Taints(), ElementsAre("other"));
}

TEST_F(ReadinessGateTest, AWriteThatMeetsAnothersIsMadeAgainFromWhatIsThere) {
  Make();
  Set(Gpus(8));
  bool once = true;
  door.Intercept([&](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
    if (request.method == "PATCH" && std::exchange(once, false))
      SetTaints({{{"key", "other"}, {"effect", "NoSchedule"}}, {{"key", kKey}, {"effect", "NoSchedule"}}});
    return std::nullopt;
  });
  Report("8");
  executor.RunFor(10s);
  EXPECT_FALSE(once);
  EXPECT_THAT(Taints(), ElementsAre("other"));
}

TEST_F(ReadinessGateTest, OutlivesAnApiServerThatIsAway) {
  Make();
  Set(Gpus(8));
  bool away = true;
  door.Intercept([&](const kube::ApiRequest&) -> std::optional<Result<kube::ApiResponse>> {
    if (away) return Result<kube::ApiResponse>(Fail(Code::kUnavailable, "connection refused"));
    return std::nullopt;
  });
  Report("8");
  executor.RunFor(1min);
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu", kKey));
  away = false;
  executor.RunFor(6s);
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu"));
}

TEST_F(ReadinessGateTest, AnOwnWriteIsKnownBeforeTheWatchShowsIt) {
  Make();
  Set(Gpus(8));
  Report("8");
  executor.RunFor(1s);
  door.Mute(true);  // the watch says nothing more
  const kube::CallScope calls(counting);
  Set(Gpus(8, false));
  EXPECT_THAT(Taints(), ElementsAre("nvidia.com/gpu", kKey));
  Set(Gpus(7, false));
  Set(Gpus(8, false));
  EXPECT_EQ(calls.Writes(), 1U) << calls.ToString();
}

TEST(ReadinessGateEndTest, ThePluginsEndIsWrittenBeforeItGoes) {
  ThreadExecutor executor(2);
  kube::FakeDoor door(executor);
  FakeLog log;
  door.Put(kube::Node::kResource,
           {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n1"}}}, {"spec", json::object()}});
  ReadinessGate gate({executor, kube::Client(door), log}, "n1", GateSettings{.taint = kBoth.taint, .condition = ""});
  gate.Start();
  EXPECT_TRUE(gate.End(30s));
  EXPECT_EQ(gate.verdict().reason, "PluginEnding");
  EXPECT_NE(data::Find(data::Json(*door.Peek(kube::Ref<kube::Node>("n1"))), "spec.taints"), nullptr);
  door.Intercept([](const kube::ApiRequest&) -> std::optional<Result<kube::ApiResponse>> {
    return Result<kube::ApiResponse>(Fail(Code::kUnavailable, "away"));
  });
  ReadinessGate deaf({executor, kube::Client(door), log}, "n1", kBoth);
  deaf.Start();
  EXPECT_FALSE(deaf.End(50ms));
}

}  // namespace
}  // namespace gpuop::operands
