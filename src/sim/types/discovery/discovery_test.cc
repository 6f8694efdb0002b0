#include "sim/types/discovery/discovery.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "data/json.h"
#include "sim/cluster.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

json::value Read(const Registry& registry, std::string_view path, std::string_view accept = "application/json") {
  const auto document = Discover(registry, path, accept);
  return document ? json::parse(document->body) : json::value();
}

TEST(DiscoveryTest, PlainDocumentsListWhatIsServed) {
  Cluster cluster(1);
  const Registry& registry = cluster.control_plane().registry();
  EXPECT_EQ(Read(registry, "/api").at("versions"), json::parse(R"(["v1"])"));
  EXPECT_EQ(Read(registry, "/apis").at("groups").at(1).at("name"), json::value("apps"));
  EXPECT_EQ(Read(registry, "/apis/batch").at("preferredVersion").at("version"), json::value("v1"));
  const std::string core = data::ToJson(Read(registry, "/api/v1"));
  EXPECT_TRUE(core.contains(
      R"({"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1","kind":"Eviction","verbs":["create"]})"));
  EXPECT_FALSE(Discover(registry, "/apis/nope", ""));
  EXPECT_FALSE(Discover(registry, "/apis/apps/v9", ""));
  EXPECT_FALSE(Discover(registry, "/apis/apps/v1/deployments", ""));
}

TEST(DiscoveryTest, TheAcceptHeaderAsksForTheAggregatedForm) {
  Cluster cluster(1);
  const Registry& registry = cluster.control_plane().registry();
  constexpr std::string_view kAccept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  const auto document = Discover(registry, "/apis", kAccept);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->content_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const json::value list = json::parse(document->body);
  EXPECT_EQ(list.at("apiVersion"), json::value("apidiscovery.k8s.io/v2"));
  EXPECT_EQ(list.at("items").at(1).at("metadata").at("name"), json::value("apps"));
  EXPECT_EQ(
      data::ToJson(list.at("items").at(1).at("versions").at(0).at("resources").at(1)),
      R"({"resource":"daemonsets","responseKind":{"group":"","version":"","kind":"DaemonSet"},"scope":"Namespaced",)"
      R"("singularResource":"daemonset","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],)"
      R"("shortNames":["ds"],"categories":["all"],"subresources":[{"subresource":"status","responseKind":)"
      R"({"group":"","version":"","kind":"DaemonSet"},"verbs":["get","patch","update"]}]})");
  EXPECT_EQ(Read(registry, "/apis", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList")
                .at("apiVersion"),
            json::value("apidiscovery.k8s.io/v2beta1"));
  EXPECT_EQ(Read(registry, "/apis", "application/json").at("kind"), json::value("APIGroupList"));
}

}  // namespace
}  // namespace gpuop::sim::types
