#include <gtest/gtest.h>

#include "data/json.h"
#include "operands/build/kinds.h"

namespace gpuop::operands {
namespace {

TEST(EnvTest, ANameStandsOnceWhereItWasFirstSet) {
  Env env{{.name = "A", .value = "1"}, NodeName()};
  env.Set("B", "2");
  env.Set("A", "3");
  ASSERT_EQ(env.vars().size(), 3U);
  EXPECT_EQ(env.vars()[0], (EnvVar{.name = "A", .value = "3"}));
  EXPECT_EQ(env.Get("B"), "2");
  EXPECT_EQ(env.Get("NODE_NAME"), "");
  EXPECT_TRUE(env.contains("NODE_NAME"));
  EXPECT_FALSE(env.contains("C"));
}

TEST(ToObjectTest, ADaemonSetHoldsWhatWasSetAndNothingElse) {
  DaemonSet ds;
  ds.meta = {.name = "agent", .ns = "gpu", .labels = {{"app", "agent"}}};
  ds.selector.match_labels = {{"app", "agent"}};
  ds.pod.meta.labels = {{"app", "agent"}};
  ds.pod.spec.containers = {{.name = "main",
                             .image = "x/y:1",
                             .env = {NodeName(), {.name = "EMPTY"}},
                             .security = SecurityContext{.privileged = true, .run_as_user = 0},
                             .mounts = {{.name = "root", .path = "/host", .read_only = true}}}};
  ds.pod.spec.volumes = {HostVolume("root", "/"), ConfigVolume("c", "cm", 0700), EmptyVolume("e")};
  ds.strategy = {.type = "RollingUpdate",
                 .rolling = RollingUpdate{.max_unavailable = data::IntOrString{std::int64_t{1}}}};
  const Object object = ToObject(ds);
  EXPECT_EQ(object.Title(), "DaemonSet agent");
  EXPECT_EQ(object.ns(), "gpu");
  EXPECT_EQ(
      data::ToJson(object.body),
      R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"gpu","labels":{"app":"agent"}},)"
      R"("spec":{"selector":{"matchLabels":{"app":"agent"}},"template":{"metadata":{"labels":{"app":"agent"}},"spec":{)"
      R"("containers":[{"name":"main","image":"x/y:1","env":[{"name":"NODE_NAME","valueFrom":{"fieldRef":{"fieldPath":)"
      R"("spec.nodeName"}}},{"name":"EMPTY"}],"securityContext":{"privileged":true,"runAsUser":0},"volumeMounts":[{)"
      R"("name":"root","mountPath":"/host","readOnly":true}]}],"volumes":[{"name":"root","hostPath":{"path":"/"}},{)"
      R"("name":"c","configMap":{"name":"cm","defaultMode":448}},{"name":"e","emptyDir":{}}]}},"updateStrategy":{)"
      R"("type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1}}}})");
}

TEST(ToObjectTest, RolesAndBindingsAreClusterWideWithoutANamespace) {
  EXPECT_EQ(ToObject(Role{.meta = {.name = "r"}}).resource.kind, "ClusterRole");
  EXPECT_EQ(ToObject(Role{.meta = {.name = "r", .ns = "n"}}).resource.kind, "Role");
  const Object binding = ToObject(Binding{.meta = {.name = "r"}, .account = "a", .account_ns = "n"});
  EXPECT_EQ(binding.resource.kind, "ClusterRoleBinding");
  EXPECT_EQ(data::StringOr(data::Json(binding.body), "roleRef.kind"), "ClusterRole");
}

}  // namespace
}  // namespace gpuop::operands
