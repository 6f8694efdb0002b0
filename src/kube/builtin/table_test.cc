#include "kube/builtin/table.h"

#include <gtest/gtest.h>

#include "kube/builtin/table_text.h"

namespace gpuop::kube::builtin {
namespace {

const data::Property& At(const data::SchemaPtr& schema, std::string_view field) {
  const data::Property* found = schema->Find(field);
  EXPECT_NE(found, nullptr) << field;
  return *found;
}

TEST(BuiltinTableTest, StaysSmall) { EXPECT_LT(TableText().size(), 250'000u); }

TEST(BuiltinTableTest, EveryTypeCanBeRead) {
  for (const std::string& name : TypeNames()) EXPECT_NE(FindType(name), nullptr) << name;
  EXPECT_GT(TypeNames().size(), 500u);
}

TEST(BuiltinTableTest, TheSameTypeIsTheSameNode) {
  const auto pod = FindKind("", "v1", "Pod");
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod, FindType("io.k8s.api.core.v1.Pod"));
  EXPECT_EQ(At(pod, "spec").schema,
            At(At(FindKind("apps", "v1", "DaemonSet"), "spec").schema, "template").schema->Find("spec")->schema);
}

TEST(BuiltinTableTest, KnowsListKeysPatchKeysAndDefaults) {
  const auto container = FindType("io.k8s.api.core.v1.Container");
  const auto ports = At(container, "ports").schema;
  EXPECT_EQ(ports->list_type, data::ListType::kMap);
  EXPECT_EQ(ports->list_keys, (std::vector<std::string>{"containerPort", "protocol"}));
  EXPECT_EQ(ports->patch_merge_key, "containerPort");
  EXPECT_TRUE(ports->patch_merge);
  EXPECT_EQ(At(ports->items, "protocol").schema->default_value, boost::json::value("TCP"));
  EXPECT_TRUE(At(FindType("io.k8s.api.core.v1.PodSpec"), "volumes").schema->patch_retain_keys);
  EXPECT_TRUE(At(FindType("io.k8s.api.core.v1.PodSpec"), "nodeSelector").schema->atomic_map);
  EXPECT_EQ(At(FindType("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"), "finalizers").schema->list_type,
            data::ListType::kSet);
}

TEST(BuiltinTableTest, KnowsProtobufNumbersThroughInlinedMessages) {
  EXPECT_EQ(At(FindType("io.k8s.api.core.v1.Volume"), "name").proto, 1);
  EXPECT_EQ(At(FindType("io.k8s.api.core.v1.Volume"), "hostPath").proto, 2 * 256 + 1);
  EXPECT_EQ(At(FindType("io.k8s.api.core.v1.PodSpec"), "containers").proto, 2);
}

TEST(BuiltinTableTest, KnowsWhatGoWritesForZero) {
  const auto spec = FindType("io.k8s.api.core.v1.PodSpec");
  EXPECT_TRUE(At(spec, "containers").always);
  EXPECT_FALSE(At(spec, "hostNetwork").pointer);
  EXPECT_TRUE(At(spec, "automountServiceAccountToken").pointer);
}

TEST(BuiltinTableTest, JsonSchemaRefersToItself) {
  const auto props = FindType("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  EXPECT_EQ(At(props, "properties").schema->values, props);
  EXPECT_EQ(At(props, "items").schema->items, props);
  EXPECT_EQ(At(props, "items").schema->format, "schema-or-array");
}

TEST(BuiltinTableTest, DeleteOptionsBelongToEveryGroup) {
  EXPECT_NE(FindKind("apps", "v1", "DeleteOptions"), nullptr);
  EXPECT_EQ(FindKind("apps", "v1", "DeleteOptions"), FindKind("", "v1", "DeleteOptions"));
  EXPECT_EQ(FindKind("apps", "v1", "Pod"), nullptr);
}

TEST(BuiltinTableTest, FindsResourcesWithTheirSubresources) {
  const BuiltinResource* pods = FindResource("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_TRUE(pods->namespaced);
  EXPECT_EQ(pods->short_names, std::vector<std::string>{"po"});
  const auto eviction = std::ranges::find(pods->subresources, "eviction", &BuiltinSubresource::name);
  ASSERT_NE(eviction, pods->subresources.end());
  EXPECT_EQ(eviction->group, "policy");
  EXPECT_EQ(FindResource("apps", "v1", "pods"), nullptr);
  EXPECT_FALSE(FindResource("", "v1", "nodes")->namespaced);
}

}  // namespace
}  // namespace gpuop::kube::builtin
