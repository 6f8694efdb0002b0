#include "kube/field_mask.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "kube/json_walker.h"

namespace gpuop::kube {
namespace {

std::string Masked(const FieldMask& mask, std::string_view text) {
  const auto object = mask.Parse(text);
  return object ? boost::json::serialize(*object) : object.error().text;
}

TEST(FieldMaskTest, OnlyWhatIsWantedIsParsed) {
  const FieldMask mask{"metadata.name", "metadata.labels", "spec.containers.name", "status.conditions.type", "kind"};
  EXPECT_EQ(Masked(mask, R"({"metadata":{"uid":"u","name":"a","labels":{"x":"1","y":"}"},"managedFields":[{"f":{}}]},
                            "spec": {"volumes": [1, {"a": "]"}], "containers": [{"env": [], "name": "m"}, {"name": "s"}]},
                            "status":{"images":["\\\"}"],"conditions":null}, "kind" : "Pod"})"),
            R"({"metadata":{"name":"a","labels":{"x":"1","y":"}"}},"spec":{"containers":[{"name":"m"},{"name":"s"}]},)"
            R"("status":{"conditions":null},"kind":"Pod"})");
  EXPECT_EQ(Masked(mask, "{}"), "{}");
  EXPECT_EQ(Masked(mask, R"({"metadata":"text","spec":{"containers":[]}})"),
            R"({"metadata":"text","spec":{"containers":[]}})");
}

TEST(FieldMaskTest, WhatIsNoObjectIsRefused) {
  const FieldMask mask{"a.b"};
  for (const char* text : {"", "[]", "7", R"({"a":{"b":1})", R"({"a":{"b":)", R"({"a":{"b":"x)", R"({"a")",
                           R"({"a" 1})", R"({"a":{"b":nonsense}})", R"({"x":"\"})"})
    EXPECT_FALSE(mask.Parse(text)) << text;
}

TEST(JsonWalkerTest, AStringEndsAtTheQuoteThatIsNotEscaped) {
  for (const char* text : {R"("")", R"("a\"b")", R"("a\\")", R"("\\\"{")"}) EXPECT_EQ(JsonWalker(text).Value(), text);
  EXPECT_EQ(JsonWalker(R"("a\")").Value(), "") << "it does not end";
  EXPECT_EQ(JsonWalker(R"( {"a": ["}", {}]} ,)").Value(), R"({"a": ["}", {}]})");
}

}  // namespace
}  // namespace gpuop::kube
