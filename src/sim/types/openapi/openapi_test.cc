#include "sim/types/openapi/openapi.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "data/json.h"
#include "kube/builtin/table.h"
#include "sim/cluster.h"
#include "sim/types/openapi/words.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

json::value Get(Cluster& cluster, const std::string& path, int status = 200) {
  const kube::ApiResponse response = cluster.Call("GET", path);
  EXPECT_EQ(response.status, status) << path;
  auto parsed = data::ParseJson(response.body);
  return parsed ? *std::move(parsed) : json::value();
}

TEST(OpenApiTest, EveryDocumentOfTheIndexCanBeReadAndRefersOnlyToItself) {
  Cluster cluster(1);
  const json::value index = Get(cluster, "/openapi/v3");
  ASSERT_GT(index.at("paths").as_object().size(), 15u);
  for (const auto& [path, entry] : index.at("paths").as_object()) {
    EXPECT_TRUE(std::string_view(entry.at("serverRelativeURL").as_string())
                    .starts_with("/openapi/v3/" + std::string(path) + "?hash="));
    const std::string text = json::serialize(Get(cluster, "/openapi/v3/" + std::string(path)));
    const json::value document = json::parse(text);
    const json::object& schemas = document.at("components").at("schemas").as_object();
    constexpr std::string_view kRef = "#/components/schemas/";
    for (std::size_t at = text.find(kRef); at != std::string::npos; at = text.find(kRef, at + 1)) {
      const std::size_t begin = at + kRef.size();
      EXPECT_TRUE(schemas.contains(text.substr(begin, text.find('"', begin) - begin)));
    }
  }
}

TEST(OpenApiTest, SaysWhatKubectlLooksFor) {
  Cluster cluster(1);
  const json::value document = Get(cluster, "/openapi/v3/apis/apps/v1");
  const json::value& item = document.at("paths").at("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
  EXPECT_EQ(item.at("patch").at("x-kubernetes-group-version-kind").at("kind"), json::value("Deployment"));
  EXPECT_TRUE(data::ToJson(item.at("patch").at("parameters")).contains("fieldValidation"));
  const json::value& schemas = document.at("components").at("schemas");
  const json::value& ports = schemas.at("io.k8s.api.core.v1.Container").at("properties").at("ports");
  EXPECT_EQ(
      ports,
      json::parse(
          R"({"description":"Ports that the program listens on. For information, but for hostPort.","type":"array","items":{"default":{},"allOf":[
    {"$ref":"#/components/schemas/io.k8s.api.core.v1.ContainerPort"}]},"x-kubernetes-list-map-keys":["containerPort","protocol"],
    "x-kubernetes-list-type":"map","x-kubernetes-patch-merge-key":"containerPort","x-kubernetes-patch-strategy":"merge"})"));
  EXPECT_EQ(schemas.at("io.k8s.api.apps.v1.Deployment").at("x-kubernetes-group-version-kind"),
            json::parse(R"([{"group":"apps","kind":"Deployment","version":"v1"}])"));
}

TEST(OpenApiTest, WordsAreAboutTypesAndFieldsThatThereAre) {
  int said = 0;
  ForEachWords([&](std::string_view type, std::string_view field, std::string_view words) {
    const auto schema = kube::builtin::FindType(std::string(type));
    ASSERT_NE(schema, nullptr) << type;
    ++said;
    EXPECT_TRUE(words.ends_with('.')) << type << " " << field;
    if (field.empty()) return;
    EXPECT_TRUE(std::ranges::any_of(schema->properties, [&](const auto& p) { return p.name == field; }))
        << type << " " << field;
  });
  EXPECT_GT(said, 200);
}

TEST(OpenApiTest, SwaggerIsThereAsJsonAndAsProtobuf) {
  Cluster cluster(1);
  EXPECT_TRUE(Get(cluster, "/openapi/v2").at("definitions").as_object().contains("io.k8s.api.core.v1.Pod"));
  kube::ApiRequest request;
  request.path = "/openapi/v2";
  request.accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const Response proto = cluster.server().Handle(request, User::Admin());
  EXPECT_EQ(proto.content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  // Field 1 is the version's text, field 2 a message of title and version.
  EXPECT_TRUE(
      proto.body.Join().starts_with("\x0a\x03"
                                    "2.0"
                                    "\x12\x15\x0a\x0aKubernetes\x12\x07v1.36.3"));
  EXPECT_EQ(cluster.Call("GET", "/openapi/v3/apis/nope/v1").status, 404);
}

TEST(OpenApiTest, TheHashChangesWithTheCustomTypes) {
  Cluster cluster(1);
  const auto hash = [&] { return json::serialize(Get(cluster, "/openapi/v3")); };
  const std::string before = hash();
  EXPECT_EQ(hash(), before);
  ResourceInfo info;
  info.group = "example.com";
  info.version = "v1";
  info.plural = "things";
  info.kind = "Thing";
  info.list_kind = "ThingList";
  info.custom = true;
  info.verbs = {"get", "list", "patch"};
  cluster.control_plane().registry().Add(info);
  const std::string with = hash();
  EXPECT_TRUE(with.contains("apis/example.com/v1"));
  EXPECT_TRUE(Get(cluster, "/openapi/v3/apis/example.com/v1")
                  .at("components")
                  .at("schemas")
                  .as_object()
                  .contains("com.example.v1.Thing"));
  auto schema = std::make_shared<data::Schema>();
  schema->type = data::Type::kObject;
  schema->description = "A thing.";
  info.schema = schema;
  cluster.control_plane().registry().Add(info);
  EXPECT_NE(hash(), with);
}

}  // namespace
}  // namespace gpuop::sim::types
