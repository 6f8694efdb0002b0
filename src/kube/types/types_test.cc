#include <gtest/gtest.h>

#include "kube/list_text.h"
#include "kube/types/apps.h"
#include "kube/types/batch.h"
#include "kube/types/cluster.h"
#include "kube/types/core.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::kube {
namespace {

template <class T>
Result<T> Read(std::string_view text) {
  ASSIGN(const boost::json::object object, ParseObject(text));
  return Decode<T>(object);
}

TEST(Types, ANodeIsReadAsFarAsItIsKnown) {
  const auto node = Read<Node>(R"({"kind":"Node","metadata":{"name":"n1","uid":"u","resourceVersion":"7",
    "labels":{"b":"2","a":"1"},"managedFields":[{"manager":"x"}],"creationTimestamp":"2026-01-02T03:04:05Z"},
    "spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}]},
    "status":{"allocatable":{"cpu":"4","nvidia.com/gpu":8},"images":[{"names":["x"]}],
    "conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"architecture":"arm64"}}})");
  ASSERT_TRUE(node) << node.error().text;
  EXPECT_EQ(node->meta.Key(), "n1");
  EXPECT_EQ(node->meta.labels, (StringMap{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(FormatTime(node->meta.created), "2026-01-02T03:04:05Z");
  EXPECT_TRUE(node->spec.unschedulable);
  EXPECT_EQ(node->spec.taints.at(0).effect, "NoSchedule");
  EXPECT_EQ(node->status.allocatable.Get("nvidia.com/gpu"), "8");
  EXPECT_TRUE(node->ready());
  EXPECT_EQ(node->status.info.architecture, "arm64");
}

TEST(Types, AnIllTypedFieldIsNamedByItsPath) {
  const auto node = Read<Node>(R"({"spec":{"taints":[{"key":"a"},{"key":5}]}})");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, Code::kInvalid);
  EXPECT_EQ(node.error().text, "spec: taints: [1]: key: expected a string, got a number");
}

TEST(Types, AHeartbeatIsNoDifference) {
  Node a;
  a.meta.resource_version = "1";
  a.status.conditions.emplace_back().type = "Ready";
  a.status.conditions[0].status = "True";
  Node b = a;
  b.meta.resource_version = "2";
  b.status.conditions[0].last_heartbeat = FakeClock::kStart;
  EXPECT_FALSE(DiffersBeyondHeartbeat(a, b));
  b.status.conditions[0].status = "Unknown";
  EXPECT_TRUE(DiffersBeyondHeartbeat(a, b));
}

TEST(Types, ADaemonSetKeepsItsTemplateWhole) {
  const auto ds = Read<DaemonSet>(R"({"metadata":{"namespace":"x","name":"d"},"spec":{
    "selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"anything":[1]}},
    "updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"10%","maxSurge":0}}}})");
  ASSERT_TRUE(ds) << ds.error().text;
  EXPECT_EQ(ds->spec.pod_template.labels.Get("app"), "d");
  EXPECT_EQ(ds->spec.pod_template.whole.text, R"({"metadata":{"labels":{"app":"d"}},"spec":{"anything":[1]}})");
  EXPECT_EQ(ds->spec.strategy.rolling.max_unavailable->text, "10%");
  EXPECT_EQ(ds->spec.strategy.rolling.max_surge->number, 0);
  EXPECT_TRUE(Matches(ds->spec.selector, {{"app", "d"}, {"other", "x"}}));
  EXPECT_FALSE(Matches(ds->spec.selector, {{"app", "e"}}));
}

struct RequirementCase {
  SelectorRequirement requirement;
  StringMap labels;
  bool want;
};

TEST(Types, SelectorRequirementsMeanWhatTheApiSays) {
  const RequirementCase cases[] = {
      {{"a", "In", {"1", "2"}}, {{"a", "2"}}, true},
      {{"a", "In", {"1"}}, {}, false},
      {{"a", "NotIn", {"1"}}, {}, true},
      {{"a", "NotIn", {"1"}}, {{"a", "1"}}, false},
      {{"a", "Exists", {}}, {{"a", ""}}, true},
      {{"a", "DoesNotExist", {}}, {{"a", ""}}, false},
      {{"a", "Gt", {"5"}}, {{"a", "10"}}, true},
      {{"a", "Lt", {"5"}}, {{"a", "10"}}, false},
      {{"a", "Gt", {"5"}}, {{"a", "many"}}, false},
      {{"a", "Perhaps", {"5"}}, {{"a", "5"}}, false},
  };
  for (const RequirementCase& c : cases) EXPECT_EQ(Matches(c.requirement, c.labels), c.want) << c.requirement.op.view();
}

TEST(Types, OtherKindsReadTheirFields) {
  const auto lease = Read<Lease>(R"({"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"leaseTransitions":2,
    "renewTime":"2026-01-01T00:00:01.000002Z"}})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(FormatMicroTime(lease->spec.renewed), "2026-01-01T00:00:01.000002Z");
  const auto map = Read<ConfigMap>(R"({"data":{"z":"1","a":"2"}})");
  ASSERT_TRUE(map);
  EXPECT_EQ(*map->Find("a"), "2");
  EXPECT_EQ(map->data.front().first, "z");
  const auto job = Read<Job>(R"({"spec":{"template":{}},"status":{"succeeded":1}})");
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->spec.completions);
  const auto pdb = Read<PodDisruptionBudget>(R"({"spec":{"maxUnavailable":1,"selector":{}}})");
  ASSERT_TRUE(pdb);
  EXPECT_TRUE(pdb->spec.selector && pdb->spec.selector->empty());
}

}  // namespace
}  // namespace gpuop::kube
