#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "sim/cluster.h"

namespace gpuop::sim {
namespace {

constexpr const char* kEvents = "/api/v1/namespaces/default/events";

void Write(Cluster& cluster, const std::string& name) {
  const auto made = cluster.Call(
      "POST", kEvents,
      R"({"metadata":{"name":")" + name + R"("},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"}})");
  ASSERT_EQ(made.status, 201) << made.body;
}

bool Has(Cluster& cluster, const std::string& name) {
  return cluster.Call("GET", std::string(kEvents) + "/" + name).status == 200;
}

TEST(EventExpiryTest, AnEventGoesAnHourAfterItsLastWrite) {
  Cluster cluster(1);
  Write(cluster, "quiet");
  Write(cluster, "repeated");
  cluster.RunFor(std::chrono::minutes(40));
  ASSERT_EQ(cluster.Call("PATCH", std::string(kEvents) + "/repeated", R"({"count":2})", "application/merge-patch+json")
                .status,
            200);
  cluster.RunFor(std::chrono::minutes(19));
  EXPECT_TRUE(Has(cluster, "quiet"));
  cluster.RunFor(std::chrono::minutes(2));
  EXPECT_FALSE(Has(cluster, "quiet"));
  EXPECT_TRUE(Has(cluster, "repeated"));
  cluster.RunFor(std::chrono::minutes(40));
  EXPECT_FALSE(Has(cluster, "repeated"));
}

}  // namespace
}  // namespace gpuop::sim
