#include "sim/types/discovery/discovery.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>
#include <vector>

#include "base/text.h"
#include "data/json.h"
#include "sim/api_server.h"
#include "sim/auth/token.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

/// Groups in the order in which the real server lists them; others follow by name.
constexpr std::array<std::string_view, 19> kOrder = {"apiregistration.k8s.io",
                                                     "apps",
                                                     "events.k8s.io",
                                                     "authentication.k8s.io",
                                                     "authorization.k8s.io",
                                                     "autoscaling",
                                                     "batch",
                                                     "certificates.k8s.io",
                                                     "networking.k8s.io",
                                                     "policy",
                                                     "rbac.authorization.k8s.io",
                                                     "storage.k8s.io",
                                                     "admissionregistration.k8s.io",
                                                     "apiextensions.k8s.io",
                                                     "scheduling.k8s.io",
                                                     "coordination.k8s.io",
                                                     "node.k8s.io",
                                                     "discovery.k8s.io",
                                                     "resource.k8s.io"};

std::pair<std::ptrdiff_t, std::string_view> Rank(std::string_view group) {
  return {std::ranges::find(kOrder, group) - kOrder.begin(), group};
}

struct Version {
  std::string name;
  std::vector<ResourcePtr> resources;
};
struct Group {
  std::string name;
  std::vector<Version> versions;  // preferred first
};

std::vector<Group> GroupsOf(const Registry& registry) {
  std::map<std::string, std::map<std::string, std::vector<ResourcePtr>>> found;
  for (const ResourcePtr& info : registry.All()) found[info->group][info->version].push_back(info);
  std::vector<Group> out;
  for (auto& [name, versions] : found) {
    Group group{name, {}};
    for (auto& [version, resources] : versions) group.versions.push_back({version, std::move(resources)});
    std::ranges::sort(group.versions, [](const Version& a, const Version& b) { return VersionBefore(a.name, b.name); });
    out.push_back(std::move(group));
  }
  std::ranges::sort(out, {}, [](const Group& g) { return Rank(g.name); });
  return out;
}

json::array Texts(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

std::string GroupVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group).append("/").append(version);
}

json::object ResponseKind(const ResourceInfo& info, const Subresource* sub) {
  const bool own = sub == nullptr || sub->version.empty() || (sub->group == info.group && sub->version == info.version);
  json::object out;
  if (!own)
    out = {{"group", sub->group}, {"version", sub->version}};
  else if (info.custom)
    out = {{"group", info.group}, {"version", info.version}};
  else
    out = {{"group", ""}, {"version", ""}};
  out["kind"] = sub == nullptr || sub->kind.empty() ? info.kind : sub->kind;
  return out;
}

json::object AggregatedResource(const ResourceInfo& info) {
  json::object out{{"resource", info.plural},
                   {"responseKind", ResponseKind(info, nullptr)},
                   {"scope", info.namespaced ? "Namespaced" : "Cluster"},
                   {"singularResource", info.singular},
                   {"verbs", Texts(info.verbs)}};
  if (!info.short_names.empty()) out["shortNames"] = Texts(info.short_names);
  if (!info.categories.empty()) out["categories"] = Texts(info.categories);
  json::array subs;
  for (const Subresource& sub : info.subresources)
    subs.push_back(json::object{
        {"subresource", sub.name}, {"responseKind", ResponseKind(info, &sub)}, {"verbs", Texts(sub.verbs)}});
  if (!subs.empty()) out["subresources"] = std::move(subs);
  return out;
}

json::object AggregatedGroup(const Group& group) {
  json::array versions;
  for (const Version& version : group.versions) {
    json::array resources;
    for (const ResourcePtr& info : version.resources) resources.push_back(AggregatedResource(*info));
    versions.push_back(
        json::object{{"version", version.name}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  json::object metadata;
  if (!group.name.empty()) metadata["name"] = group.name;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

json::object PlainGroup(const Group& group, bool alone) {
  json::array versions;
  for (const Version& version : group.versions)
    versions.push_back(
        json::object{{"groupVersion", GroupVersion(group.name, version.name)}, {"version", version.name}});
  json::object out;
  if (alone) out = {{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  out["name"] = group.name;
  const json::value preferred = versions.empty() ? json::value() : versions[0];
  out["versions"] = std::move(versions);
  out["preferredVersion"] = preferred;
  return out;
}

/// Changes when objects are stored as another version or kind.
std::string StorageVersionHash(const Registry& registry, const ResourceInfo& info) {
  const auto parts = Cut(info.table, '/');
  const ResourcePtr at = info.table == info.group + "/" + info.plural || !parts
                             ? nullptr
                             : registry.FindAnyVersion(parts->first, parts->second);
  const ResourceInfo& kept = at == nullptr ? info : *at;
  return Base64Encode(Sha256(kept.group + "/" + kept.storage_version + "/" + kept.kind).substr(0, 8));
}

json::object PlainResource(const Registry& registry, const ResourceInfo& info) {
  json::object out{{"name", info.plural},
                   {"singularName", info.singular},
                   {"namespaced", info.namespaced},
                   {"kind", info.kind},
                   {"verbs", Texts(info.verbs)}};
  if (!info.short_names.empty()) out["shortNames"] = Texts(info.short_names);
  if (!info.categories.empty()) out["categories"] = Texts(info.categories);
  if (info.Allows("watch")) out["storageVersionHash"] = StorageVersionHash(registry, info);
  return out;
}

json::object PlainSubresource(const ResourceInfo& info, const Subresource& sub) {
  json::object out{{"name", info.plural + "/" + sub.name}, {"singularName", ""}, {"namespaced", info.namespaced}};
  if (!sub.version.empty() && (sub.group != info.group || sub.version != info.version)) {
    out["group"] = sub.group;
    out["version"] = sub.version;
  }
  out["kind"] = sub.kind.empty() ? info.kind : sub.kind;
  out["verbs"] = Texts(sub.verbs);
  return out;
}

json::object ResourceList(const Registry& registry, const Group& group, const Version& version) {
  json::array resources;
  for (const ResourcePtr& info : version.resources) {
    resources.push_back(PlainResource(registry, *info));
    for (const Subresource& sub : info->subresources) resources.push_back(PlainSubresource(*info, sub));
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", GroupVersion(group.name, version.name)},
          {"resources", std::move(resources)}};
}

/// The aggregated version that the Accept header prefers; empty for the plain document.
std::string_view Aggregated(std::string_view accept) {
  for (std::string_view part : Split(accept, ',')) {
    part = Trim(part);
    if (!part.starts_with("application/json")) continue;
    if (!part.contains("as=APIGroupDiscoveryList")) return {};
    if (part.contains("v=v2beta1")) return "v2beta1";
    if (part.contains("v=v2")) return "v2";
  }
  return {};
}

DiscoveryDocument Json(const json::object& document) { return {"application/json", json::serialize(document)}; }

DiscoveryDocument All(const std::vector<Group>& groups, bool core, std::string_view aggregated) {
  json::array items;
  for (const Group& group : groups)
    if (group.name.empty() == core)
      items.push_back(aggregated.empty() ? PlainGroup(group, false) : AggregatedGroup(group));
  if (!aggregated.empty()) {
    const std::string version(aggregated);
    return {"application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList",
            json::serialize(json::object{{"kind", "APIGroupDiscoveryList"},
                                         {"apiVersion", "apidiscovery.k8s.io/" + version},
                                         {"metadata", json::object()},
                                         {"items", std::move(items)}})};
  }
  if (!core) return Json({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(items)}});
  return Json(
      {{"kind", "APIVersions"}, {"versions", json::array{"v1"}}, {"serverAddressByClientCIDRs", json::array()}});
}

}  // namespace

std::optional<DiscoveryDocument> Discover(const Registry& registry, std::string_view path, std::string_view accept) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::vector<Group> groups = GroupsOf(registry);
  if (path == "/api" || path == "/apis") return All(groups, path == "/api", Aggregated(accept));
  const std::vector<std::string_view> parts = Split(path.substr(1), '/');
  const bool core = parts[0] == "api";
  if (parts.size() > (core ? 2U : 3U)) return std::nullopt;
  const std::string_view group_name = core ? std::string_view() : parts[1];
  const auto group = std::ranges::find(groups, group_name, &Group::name);
  if (group == groups.end()) return std::nullopt;
  if (!core && parts.size() == 2) return Json(PlainGroup(*group, true));
  const auto version = std::ranges::find(group->versions, parts.back(), &Version::name);
  if (version == group->versions.end()) return std::nullopt;
  return Json(ResourceList(registry, *group, *version));
}

void ServeDiscovery(ApiServer& server, const Registry& registry) {
  const auto handler = [&registry](const kube::ApiRequest& request, const User&) -> Answer<Response> {
    if (request.method != "GET" && request.method != "HEAD") return std::unexpected(MethodNotAllowed());
    auto document = Discover(registry, request.path, request.accept);
    if (!document) return Response::Plain("404 page not found\n", 404);
    Response response = Response::Json(std::move(document->body));
    response.content_type = std::move(document->content_type);
    return response;
  };
  server.AddPath("/api", handler);
  server.AddPath("/apis", handler);
}

}  // namespace gpuop::sim::types
