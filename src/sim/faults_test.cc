#include "sim/faults.h"

#include "data/json.h"

namespace gpuop::sim {
namespace {

kube::ApiRequest Get(std::string path) {
  kube::ApiRequest request;
  request.path = std::move(path);
  return request;
}

class FaultsTest : public testing::Test {
 protected:
  Rng rng_{5};
  Faults faults_{rng_};
};

TEST_F(FaultsTest, StrikesOnlyWhatFits) {
  FaultRule rule;
  rule.verb = "list", rule.resource = "deployments", rule.group = "apps", rule.code = 500;
  faults_.Add(rule);
  EXPECT_TRUE(faults_.Judge(Get("/apis/apps/v1/deployments")).failure);
  EXPECT_FALSE(faults_.Judge(Get("/apis/apps/v1/namespaces/a/deployments/d")).failure);
  EXPECT_FALSE(faults_.Judge(Get("/apis/apps/v1/replicasets")).failure);
  EXPECT_FALSE(faults_.Judge(Get("/api/v1/deployments")).failure);
  EXPECT_EQ(faults_.struck(), 1u);
}

TEST_F(FaultsTest, DelaysAddUpAndTheFirstFailureCounts) {
  FaultRule rule;
  rule.delay = std::chrono::milliseconds(3);
  faults_.Add(rule);
  rule.code = 503;
  faults_.Add(rule);
  rule.code = 429;
  faults_.Add(rule);
  const Verdict verdict = faults_.Judge(Get("/api/v1/nodes"));
  EXPECT_EQ(verdict.delay, std::chrono::milliseconds(6));
  EXPECT_EQ(verdict.failure->code, 503);
}

TEST_F(FaultsTest, ProbabilityIsAShareOfTheRequests) {
  FaultRule rule;
  rule.code = 500, rule.probability = 0.25;
  faults_.Add(rule);
  int struck = 0;
  for (int i = 0; i < 4000; ++i) struck += faults_.Judge(Get("/api/v1/nodes")).failure.has_value() ? 1 : 0;
  EXPECT_NEAR(struck, 1000, 120);
}

TEST_F(FaultsTest, AStormGoesAsOne) {
  const std::uint64_t id = faults_.AddConflictStorm("", "nodes", 1, std::nullopt);
  auto request = Get("/api/v1/nodes/n");
  for (const char* method : {"PUT", "PATCH", "DELETE"}) {
    request.method = method;
    EXPECT_EQ(faults_.Judge(request).failure->reason, "Conflict");
  }
  EXPECT_TRUE(faults_.Remove(id));
  EXPECT_FALSE(faults_.Judge(request).failure);
  EXPECT_FALSE(faults_.Remove(id));
}

TEST_F(FaultsTest, ReadsWhatItWrites) {
  const auto json = data::ParseJson(
      R"({"verb":"get","group":"apps","resource":"deployments","name":"d","code":429,"reason":"TooManyRequests",)"
      R"("message":"slow down","retryAfterSeconds":2,"delayMs":5,"times":3,"probability":0.5})");
  const auto rule = Faults::Parse(*json);
  ASSERT_TRUE(rule);
  faults_.Add(*rule);
  boost::json::object written = faults_.ToJson().as_array().at(0).as_object();
  written.erase("id");
  EXPECT_TRUE(data::JsonEqual(written, *json));
}

TEST_F(FaultsTest, NamesWhatIsWrongWithARule) {
  const auto why = [](const char* json) { return Faults::Parse(*data::ParseJson(json)).error().text; };
  EXPECT_EQ(why("[]"), "a fault is an object");
  EXPECT_EQ(why(R"({"codes":1})"), "unknown field \"codes\"");
  EXPECT_EQ(why(R"({"code":"x"})"), "code: a string cannot stand here");
  EXPECT_EQ(why(R"({"code":200})"), "code: not an error status");
  EXPECT_EQ(why(R"({"verb":"get"})"), "neither code nor delayMs: nothing to do");
}

}  // namespace
}  // namespace gpuop::sim
