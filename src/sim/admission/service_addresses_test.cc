#include "sim/admission/service_addresses.h"

#include <gtest/gtest.h>

#include "data/json.h"
#include "sim/cluster.h"

namespace gpuop::sim {
namespace {

constexpr const char* kServices = "/api/v1/namespaces/default/services";

struct ServiceAddressesTest : testing::Test {
  data::Json Make(const std::string& name, const std::string& spec, int status = 201) {
    return Do("POST", kServices, R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}", status);
  }
  data::Json Do(const std::string& method, const std::string& path, const std::string& body, int status) {
    const auto answer =
        cluster.Call(method, path, body, method == "PATCH" ? "application/merge-patch+json" : "application/json");
    EXPECT_EQ(answer.status, status) << answer.body;
    return data::ParseJson(answer.body).value_or(nullptr);
  }
  static std::int64_t NodePort(const data::Json& service, int index) {
    return data::IntOr(service, "spec.ports[" + std::to_string(index) + "].nodePort");
  }

  Cluster cluster{1};
};

TEST_F(ServiceAddressesTest, OnePortOfANodeServesBothProtocolsOfOneServiceAndNoOther) {
  const data::Json dns =
      Make("dns", R"({"type":"NodePort","ports":[{"name":"t","port":53},{"name":"u","port":53,"protocol":"UDP"}]})");
  EXPECT_GE(NodePort(dns, 0), 30000);
  EXPECT_EQ(NodePort(dns, 0), NodePort(dns, 1));
  Make(
      "asked",
      R"({"type":"NodePort","ports":[{"name":"t","port":53,"nodePort":30053},{"name":"u","port":53,"protocol":"UDP","nodePort":30053}]})");
  const data::Json refused = Make("late", R"({"type":"NodePort","ports":[{"port":80,"nodePort":30053}]})", 422);
  EXPECT_NE(data::StringOr(refused, "message")
                .find("spec.ports[0].nodePort: Invalid value: 30053: provided "
                      "port is already allocated"),
            std::string::npos);
  // What it has it keeps, and what is let go of others may have.
  Do("PUT", std::string(kServices) + "/asked",
     R"({"metadata":{"name":"asked"},"spec":{"type":"NodePort","ports":[{"name":"t","port":53,"nodePort":30053},{"name":"u","port":53,"protocol":"UDP","nodePort":30054}]}})",
     200);
  Do("DELETE", std::string(kServices) + "/asked", "", 200);
  Make("late", R"({"type":"NodePort","ports":[{"port":80,"nodePort":30053}]})");
}

TEST_F(ServiceAddressesTest, AnAddressBelongsToOneServiceUntilItIsGone) {
  Make("first", R"({"clusterIP":"10.96.7.7","ports":[{"port":80}]})");
  Make("second", R"({"clusterIP":"10.96.7.7","ports":[{"port":80}]})", 422);
  Do("PATCH", std::string(kServices) + "/first", R"({"spec":{"ports":[{"port":81}]}})", 200);
  Do("DELETE", std::string(kServices) + "/first", "", 200);
  Make("second", R"({"clusterIP":"10.96.7.7","ports":[{"port":80}]})");
}

}  // namespace
}  // namespace gpuop::sim
