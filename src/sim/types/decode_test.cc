#include "sim/types/decode.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "kube/builtin/table.h"
#include "sim/types/conform.h"

namespace gpuop::sim::types {
namespace {

struct Case {
  const char *name, *content_type, *body;
  const char* message;  // what the server says; empty: the body is read
};

class DecodeTest : public testing::TestWithParam<Case> {};

/// Reads and conforms a Deployment as the server does; the first error's words.
std::string Read(const Case& c, std::vector<std::string>& problems) {
  auto read = DecodeBody({"apps", "v1", "Deployment"}, c.content_type, c.body, problems);
  if (!read) return read.error().message;
  auto done = Conform(*kube::builtin::FindKind("apps", "v1", "Deployment"), *read, problems);
  return done ? "" : done.error().text;
}

TEST_P(DecodeTest, SpeaksAsTheRealServer) {
  std::vector<std::string> problems;
  EXPECT_EQ(Read(GetParam(), problems), GetParam().message);
}

constexpr const char* kJson = "application/json";
INSTANTIATE_TEST_SUITE_P(
    Bodies, DecodeTest,
    testing::Values(
        Case{"Object", kJson, R"({"spec":{"replicas":3}})", ""}, Case{"Null", kJson, "null", ""},
        Case{"Yaml", "application/yaml", "spec:\n  replicas: 3\n", ""},
        Case{"EndsTooEarly", kJson, "{",
             "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse "
             "error: "
             "unexpected end of JSON input ({)"},
        Case{"Empty", kJson, "",
             "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse "
             "error: "
             "unexpected end of JSON input (<empty>)"},
        Case{"List", kJson, "[]",
             "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse "
             "error: "
             "json: cannot unmarshal array into Go value of type struct { APIVersion string "
             "\"json:\\\"apiVersion,omitempty\\\"\"; "
             "Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)"},
        Case{"KindIsANumber", kJson, R"({"apiVersion": "apps/v1", "kind": 1})",
             "the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse "
             "error: "
             "json: cannot unmarshal number into Go struct field .kind of type string ({\"apiVersion\": \"apps/v1\", "
             "\"kin ...)"},
        Case{"UnknownFormat", "text/plain", "x",
             "the body of the request was in an unknown format - accepted media types include: application/json, "
             "application/yaml, application/vnd.kubernetes.protobuf"},
        Case{"TextForANumber", kJson, R"({"spec":{"replicas":"3"}})",
             "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"},
        Case{"AFraction", kJson, R"({"spec":{"replicas":3.5}})",
             "json: cannot unmarshal number 3.5 into Go struct field DeploymentSpec.spec.replicas of type int32"},
        Case{"TooBig", kJson, R"({"spec":{"replicas":30000000000}})",
             "json: cannot unmarshal number 30000000000 into Go struct field DeploymentSpec.spec.replicas of type "
             "int32"},
        Case{"AListForAStruct", kJson, R"({"spec":{"template":[]}})",
             "json: cannot unmarshal array into Go struct field DeploymentSpec.spec.template of type "
             "v1.PodTemplateSpec"},
        Case{"AnObjectForAList", kJson, R"({"spec":{"template":{"spec":{"containers":{}}}}})",
             "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type "
             "[]v1.Container"},
        Case{"AListForAMap", kJson, R"({"metadata":{"labels":[]}})",
             "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string"},
        Case{"ANumberInAMap", kJson, R"({"metadata":{"labels":{"a":1}}})",
             "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"},
        Case{"NoTime", kJson, R"({"metadata":{"creationTimestamp":"x"}})",
             R"(parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006")"},
        Case{"NoQuantity", kJson,
             R"({"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"abc"}}}]}}}})",
             "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(DecodeTest, NamesUnknownAndDuplicateFields) {
  std::vector<std::string> problems;
  const Case c{"", kJson,
               R"({"spec":{"foo":1,"replicas":1,"replicas":2,"template":{"spec":{"containers":[{"bar":1}]}}}})", ""};
  EXPECT_EQ(Read(c, problems), "");
  EXPECT_EQ(problems, (std::vector<std::string>{R"(duplicate field "spec.replicas")", R"(unknown field "spec.foo")",
                                                R"(unknown field "spec.template.spec.containers[0].bar")"}));
}

TEST(DecodeTest, CanonicalFormsAndZerosAreThoseOfTheServer) {
  std::vector<std::string> problems;
  auto object =
      boost::json::parse(R"({"metadata":{"labels":{},"name":"x","creationTimestamp":"2026-01-01T02:00:00+02:00"},
    "spec":{"template":{"spec":{"hostNetwork":false,"automountServiceAccountToken":false,"nodeSelector":null,
    "containers":[{"name":"c","args":[],"resources":{"limits":{"cpu":"1000m","memory":"1024Ki","x.y/z":1}}}]}}}})")
          .as_object();
  ASSERT_TRUE(Conform(*kube::builtin::FindKind("apps", "v1", "Deployment"), object, problems));
  EXPECT_EQ(boost::json::value(object),
            boost::json::parse(R"({"metadata":{"name":"x","creationTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"selector":null,"strategy":{},"template":{"metadata":{},"spec":{"automountServiceAccountToken":false,
    "containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Mi","x.y/z":"1"}}}]}}},"status":{}})"));
}

}  // namespace
}  // namespace gpuop::sim::types
