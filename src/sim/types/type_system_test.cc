#include "sim/types/type_system.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "data/json.h"
#include "sim/cluster.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kApply = "application/apply-patch+yaml";

struct Answered {
  int status;
  json::value body;
};

class TypesTest : public testing::Test {
 protected:
  Answered Call(const std::string& method, const std::string& path, const std::string& body = {},
                const char* type = "application/json") {
    const kube::ApiResponse response = cluster_.Call(method, path, body, type);
    auto parsed = data::ParseJson(response.body);
    return {response.status, parsed ? *std::move(parsed) : json::value()};
  }
  Cluster cluster_{7};
};

TEST_F(TypesTest, AppliedFieldsBelongToTheirManagerAndConflictWithOthers) {
  const std::string one = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"1"}})";
  const std::string two = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"2"}})";
  const std::string path = std::string(kMaps) + "/m?fieldManager=";
  EXPECT_EQ(Call("PATCH", path + "m1", one, kApply).status, 201);
  const Answered refused = Call("PATCH", path + "m2", two, kApply);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(data::StringOr(refused.body, "message"), R"(Apply failed with 1 conflict: conflict with "m1": .data.a)");
  EXPECT_EQ(Call("PATCH", path + "m2&force=true", two, kApply).status, 200);
  const Answered live = Call("GET", std::string(kMaps) + "/m");
  EXPECT_EQ(data::StringOr(live.body, "data.a"), "2");
  EXPECT_EQ(data::ToJson(live.body.at("metadata").at("managedFields").at(0).at("fieldsV1")),
            R"({"f:data":{"f:a":{}}})");
}

TEST_F(TypesTest, ApplyingTheSameAgainWritesNothing) {
  const std::string text = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"1"}})";
  const std::string path = std::string(kMaps) + "/m?fieldManager=m1";
  Call("PATCH", path, text, kApply);
  const auto revision = cluster_.store().revision();
  EXPECT_EQ(Call("PATCH", path, text, kApply).status, 200);
  EXPECT_EQ(cluster_.store().revision(), revision);
}

TEST_F(TypesTest, UnknownFieldsAreRefusedWhenStrictAndWarnedOfOtherwise) {
  const std::string text = R"({"metadata":{"name":"m"},"dat":{"a":"1"}})";
  const Answered strict = Call("POST", std::string(kMaps) + "?fieldValidation=Strict", text);
  EXPECT_EQ(strict.status, 400);
  EXPECT_EQ(
      data::StringOr(strict.body, "message"),
      R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dat")");
  EXPECT_EQ(Call("POST", kMaps, text).status, 201);
}

TEST_F(TypesTest, DefaultsAndValidationStandInTheWrite) {
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  const std::string head =
      R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":")";
  const std::string tail = R"("}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  const Answered made = Call("POST", path, head + "b" + tail);
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(data::IntOr(made.body, "spec.revisionHistoryLimit"), 10);
  EXPECT_EQ(data::StringOr(made.body, "spec.template.spec.containers[0].imagePullPolicy"), "Always");
  const Answered refused = Call("POST", path, head + "c" + tail);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(data::StringOr(refused.body, "message"),
            "Deployment.apps \"d\" is invalid: spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` "
            "does not "
            "match template `labels`");
}

TEST_F(TypesTest, WritersAreRememberedUnlessTheyTouchOnlyStatusFromTheMainResource) {
  const std::string path = "/apis/apps/v1/namespaces/default/replicasets";
  const std::string body =
      R"({"metadata":{"name":"r"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":5}})";
  const Answered made = Call("POST", path + "?fieldManager=maker", body);
  ASSERT_EQ(made.status, 201);
  const std::string fields = data::ToJson(made.body.at("metadata").at("managedFields"));
  EXPECT_TRUE(fields.contains(R"("manager":"maker")"));
  EXPECT_FALSE(fields.contains("f:status"));
}

}  // namespace
}  // namespace gpuop::sim::types
