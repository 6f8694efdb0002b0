#include "sim/types/openapi/openapi.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "data/json.h"
#include "kube/builtin/table.h"
#include "kube/builtin/table_text.h"
#include "sim/api_server.h"
#include "sim/types/openapi/paths_writer.h"
#include "sim/types/openapi/schema_writer.h"
#include "sim/types/openapi/swagger_proto.h"
#include "sim/types/reset_fields.h"

namespace gpuop::sim::types {
namespace builtin = kube::builtin;

namespace {

/// What kubectl before 1.29 and helm ask for, and nothing else: spelt with @, and answered without, because Go reads no
/// media type that holds one.
constexpr std::string_view kSwaggerProtoAsked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view kSwaggerProto = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

std::string PathOf(std::string_view group, std::string_view version) {
  return group.empty() ? fmt::format("api/{}", version) : fmt::format("apis/{}/{}", group, version);
}

std::string KindMark(std::string_view group, std::string_view version, std::string_view kind) {
  return fmt::format(R"([{{"group":"{}","kind":"{}","version":"{}"}}])", group, kind, version);
}

/// The types of custom resources, which are not in the table: themselves and their lists.
struct CustomType {
  data::SchemaPtr schema;
  std::string mark;
};
using CustomTypes = std::map<std::string, CustomType, std::less<>>;

data::SchemaPtr ListSchema(const data::SchemaPtr& item) {
  auto items = std::make_shared<data::Schema>();
  items->type = data::Type::kArray;
  items->items = item;
  auto list = std::make_shared<data::Schema>();
  list->type = data::Type::kObject;
  auto text = std::make_shared<data::Schema>();
  text->type = data::Type::kString;
  list->properties = {{"apiVersion", text},
                      {"items", items, true},
                      {"kind", text},
                      {"metadata", builtin::FindType(std::string(kMeta) + "ListMeta")}};
  return list;
}

void AddCustom(CustomTypes& types, const ResourceInfo& info) {
  static const data::Schema kAnyObject = [] {
    data::Schema schema;
    schema.type = data::Type::kObject;
    schema.preserve_unknown = true;
    return schema;
  }();
  const std::string name = TypeNameOf(info);
  auto whole = std::make_shared<data::Schema>(*WithObjectMeta(info.schema == nullptr ? kAnyObject : *info.schema));
  auto reference = std::make_shared<data::Schema>();
  reference->name = name;
  types[name] = {whole, KindMark(info.group, info.version, info.kind)};
  types[name + "List"] = {ListSchema(reference), KindMark(info.group, info.version, info.list_kind)};
}

std::string MarkOf(std::string_view type, std::string_view group, std::string_view version) {
  std::string out;
  for (const builtin::KindName& kind : builtin::KindsOf(type)) {
    const bool every = kind.group == "*";
    out = KindMark(every ? group : kind.group, every ? version : kind.version, kind.kind);
  }
  return out;
}

/// Every type that is referred to, and what those refer to, as members of an object.
std::string Definitions(SchemaWriter& writer, const CustomTypes& custom, std::string_view group,
                        std::string_view version) {
  std::map<std::string, std::string, std::less<>> written;
  for (bool more = true; more;) {
    more = false;
    for (const std::string& name : std::vector<std::string>(writer.referred().begin(), writer.referred().end())) {
      if (written.contains(name)) continue;
      more = true;
      std::string& out = written[name];
      if (const auto it = custom.find(name); it != custom.end()) {
        writer.Definition(out, *it->second.schema, it->second.mark);
      } else if (const auto schema = builtin::FindType(name)) {
        writer.Definition(out, *schema, MarkOf(name, group, version));
      }
    }
  }
  std::string out = "{";
  for (const auto& [name, text] : written) {
    if (text.empty()) continue;
    if (out.size() > 1) out += ',';
    data::AppendJsonString(out, name);
    out.append(":").append(text);
  }
  return out + "}";
}

using GroupVersions = std::map<std::pair<std::string, std::string>, std::vector<ResourcePtr>>;

GroupVersions GroupVersionsOf(const Registry& registry) {
  GroupVersions out;
  for (const ResourcePtr& info : registry.All()) out[{info->group, info->version}].push_back(info);
  return out;
}

std::string Document(const std::string& group, const std::string& version, const std::vector<ResourcePtr>& resources) {
  SchemaWriter writer(OpenApiVersion::kV3);
  CustomTypes custom;
  for (const ResourcePtr& info : resources)
    if (info->custom) AddCustom(custom, *info);
  std::string paths = "{";
  for (const ResourcePtr& info : resources) AppendPaths(paths, *info, OpenApiVersion::kV3, writer);
  paths += '}';
  return fmt::format(
      R"({{"openapi":"3.0.0","info":{{"title":"Kubernetes","version":"unversioned"}},"paths":{},"components":{{"schemas":{}}}}})",
      paths, Definitions(writer, custom, group, version));
}

/// Built-in groups change with the table and with what is served; custom ones with their schemas.
std::string HashOf(const std::string& group, const std::string& version, const std::vector<ResourcePtr>& resources) {
  static const std::uint64_t table = Hash64(builtin::TableText());
  std::uint64_t hash = Hash64(group + "/" + version, table);
  const bool custom = std::ranges::any_of(resources, [](const ResourcePtr& info) { return info->custom; });
  if (custom) hash = Hash64(Document(group, version, resources), hash);
  for (const ResourcePtr& info : resources) hash = Hash64(info->plural, hash);
  return fmt::format("{:016X}", hash);
}

}  // namespace

std::string OpenApiIndex(const Registry& registry) {
  std::string out = R"({"paths":{)";
  for (const auto& [name, resources] : GroupVersionsOf(registry)) {
    const std::string path = PathOf(name.first, name.second);
    if (out.back() != '{') out += ',';
    out += fmt::format(R"("{}":{{"serverRelativeURL":"/openapi/v3/{}?hash={}"}})", path, path,
                       HashOf(name.first, name.second, resources));
  }
  return out + "}}";
}

std::optional<std::string> OpenApiDocument(const Registry& registry, std::string_view group_version) {
  for (const auto& [name, resources] : GroupVersionsOf(registry))
    if (PathOf(name.first, name.second) == group_version) return Document(name.first, name.second, resources);
  return std::nullopt;
}

std::string SwaggerDocument(const Registry& registry) {
  SchemaWriter writer(OpenApiVersion::kV2);
  CustomTypes custom;
  std::string paths = "{";
  for (const ResourcePtr& info : registry.All()) {
    if (info->custom) AddCustom(custom, *info);
    AppendPaths(paths, *info, OpenApiVersion::kV2, writer);
  }
  paths += '}';
  return fmt::format(
      R"({{"swagger":"2.0","info":{{"title":"Kubernetes","version":"v1.36.3"}},"paths":{},"definitions":{}}})", paths,
      Definitions(writer, custom, "", "v1"));
}

void ServeOpenApi(ApiServer& server, const Registry& registry) {
  server.AddPath("/openapi", [&registry](const kube::ApiRequest& request, const User&) -> Answer<Response> {
    const std::string_view path = request.path;
    const auto missing = [] { return Response::Plain("404 page not found\n", 404); };
    if (path == "/openapi/v3" || path == "/openapi/v3/") return Response::Json(OpenApiIndex(registry));
    if (path == "/openapi/v2") {
      if (!request.accept.contains(kSwaggerProtoAsked) && !request.accept.contains(kSwaggerProto))
        return Response::Json(SwaggerDocument(registry));
      const auto document = data::ParseJson(SwaggerDocument(registry));
      Response answer;
      answer.content_type = kSwaggerProto;
      answer.body = Body(SwaggerProto(document->as_object()));
      return answer;
    }
    constexpr std::string_view kV3 = "/openapi/v3/";
    if (!path.starts_with(kV3)) return missing();
    auto document = OpenApiDocument(registry, path.substr(kV3.size()));
    return document ? Response::Json(*std::move(document)) : missing();
  });
}

}  // namespace gpuop::sim::types
