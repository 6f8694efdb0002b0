#include "kube/discovery.h"

#include <boost/json.hpp>

#include "data/json.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

std::string Text(const json::value& in, std::string_view path) { return std::string(data::StringOr(in, path)); }

const json::array& Items(const json::value& in, std::string_view path) {
  static const json::array kNone;
  const json::array* items = data::GetArray(in, path);
  return items == nullptr ? kNone : *items;
}

std::vector<std::string> Texts(const json::value& in, std::string_view path) {
  std::vector<std::string> out;
  for (const json::value& v : Items(in, path))
    if (v.is_string()) out.emplace_back(data::AsView(v.get_string()));
  return out;
}

ApiResource ReadOne(const json::value& in, std::string group, std::string version) {
  ApiResource r;
  r.resource = {std::move(group), std::move(version), Text(in, "resource"), Text(in, "responseKind.kind"),
                data::StringOr(in, "scope") == "Namespaced"};
  r.singular = Text(in, "singularResource");
  for (std::string& verb : Texts(in, "verbs")) r.verbs.insert(std::move(verb));
  r.short_names = Texts(in, "shortNames");
  r.categories = Texts(in, "categories");
  for (const json::value& sub : Items(in, "subresources")) r.subresources.insert(Text(sub, "subresource"));
  return r;
}

Result<json::object> GetPath(const Client& client, std::string path, std::string accept) {
  ApiRequest r;
  r.path = std::move(path);
  r.accept = std::move(accept);
  ASSIGN(const ApiResponse answer, client.Send(r));
  auto body = ParseObject(answer.body);
  if (!body) return std::unexpected(std::move(body).error().During("discovery: " + r.path));
  return body;
}

}  // namespace

Result<ApiCatalogue> ReadAggregated(const json::object& list) {
  const json::value in(list);
  if (data::StringOr(in, "kind") != "APIGroupDiscoveryList")
    return Fail(Code::kUnsupported, "no aggregated discovery, but " + Text(in, "kind"));
  ApiCatalogue out;
  for (const json::value& group : Items(in, "items")) {
    for (const json::value& version : Items(group, "versions")) {
      for (const json::value& resource : Items(version, "resources"))
        out.push_back(ReadOne(resource, Text(group, "metadata.name"), Text(version, "version")));
    }
  }
  return out;
}

Result<ApiCatalogue> ReadResourceList(const json::object& list) {
  const json::value in(list);
  const std::string api_version = Text(in, "groupVersion");
  const auto [group, version] = SplitApiVersion(api_version);
  ApiCatalogue out;
  std::map<std::string, std::set<std::string>> subresources;
  for (const json::value& item : Items(in, "resources")) {
    const std::string name = Text(item, "name");
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
      subresources[name.substr(0, slash)].insert(name.substr(slash + 1));
      continue;
    }
    ApiResource& r = out.emplace_back();
    r.resource = {std::string(group), std::string(version), name, Text(item, "kind"), data::BoolOr(item, "namespaced")};
    r.singular = Text(item, "singularName");
    for (std::string& verb : Texts(item, "verbs")) r.verbs.insert(std::move(verb));
    r.short_names = Texts(item, "shortNames");
    r.categories = Texts(item, "categories");
  }
  for (ApiResource& r : out) r.subresources = subresources[r.resource.plural];
  return out;
}

/// A server (or a proxy) that does not know the aggregated form answers the plain lists instead.
Result<ApiCatalogue> Discovery::Ask() {
  ASSIGN(const json::object core, GetPath(client_, "/api", kAggregated));
  auto out = ReadAggregated(core);
  if (!out) return AskPlain();
  ASSIGN(const json::object groups, GetPath(client_, "/apis", kAggregated));
  auto more = ReadAggregated(groups);
  if (!more) return AskPlain();
  std::ranges::move(*more, std::back_inserter(*out));
  return out;
}

Result<ApiCatalogue> Discovery::AskPlain() {
  std::vector<std::string> paths;
  ASSIGN(const json::value core, GetPath(client_, "/api", "application/json"));
  for (const std::string& version : Texts(core, "versions")) paths.push_back("/api/" + version);
  ASSIGN(const json::value groups, GetPath(client_, "/apis", "application/json"));
  for (const json::value& group : Items(groups, "groups")) {
    const std::string preferred = Text(group, "preferredVersion.groupVersion");
    if (!preferred.empty()) paths.push_back("/apis/" + preferred);
    for (const json::value& version : Items(group, "versions"))
      if (const std::string gv = Text(version, "groupVersion"); gv != preferred) paths.push_back("/apis/" + gv);
  }
  ApiCatalogue out;
  for (const std::string& path : paths) {
    const auto list = GetPath(client_, path, "application/json");
    // An aggregated API whose server is down must not hide the others.
    if (!list && (list.error().code == Code::kUnavailable || list.error().code == Code::kNotFound)) continue;
    if (!list) return std::unexpected(list.error());
    ASSIGN(ApiCatalogue some, ReadResourceList(*list));
    std::ranges::move(some, std::back_inserter(out));
  }
  return out;
}

Result<> Discovery::Refresh() {
  auto fresh = Ask();
  Lock l(mu_);
  asked_ = clock_.Now();
  if (!fresh) return std::unexpected(std::move(fresh).error());
  known_ = *std::move(fresh);
  return {};
}

Result<ApiCatalogue> Discovery::All() {
  for (int round = 0;; ++round) {
    {
      Lock l(mu_);
      if (known_) return *known_;
    }
    if (round == 1) return Fail(Code::kInternal, "discovery: nothing known after asking");
    TRY(Refresh());
  }
}

template <class Match>
Result<ApiResource> Discovery::Find(const Match& match, const std::string& what) {
  for (int round = 0; round < 2; ++round) {
    {
      Lock l(mu_);
      if (known_) {
        const auto it = std::ranges::find_if(*known_, match);
        if (it != known_->end()) return *it;
        if (round == 1 || clock_.Now() < asked_ + patience_) break;
      }
    }
    TRY(Refresh());
  }
  return Fail(Code::kNotFound, "the server does not serve " + what);
}

Result<ApiResource> Discovery::FindKind(std::string_view group, std::string_view version, std::string_view kind) {
  const auto match = [&](const ApiResource& r) {
    return r.resource.kind == kind && r.resource.group == group && (version.empty() || r.resource.version == version);
  };
  return Find(match,
              Resource{std::string(group), std::string(version), {}, {}, false}.ApiVersion() + " " + std::string(kind));
}

Result<ApiResource> Discovery::FindPlural(std::string_view group, std::string_view version, std::string_view plural) {
  const auto match = [&](const ApiResource& r) {
    return r.resource.plural == plural && r.resource.group == group &&
           (version.empty() || r.resource.version == version);
  };
  return Find(match, Resource{std::string(group), {}, std::string(plural), {}, false}.GroupPlural());
}

Result<ApiResource> Discovery::FindFor(const json::object& object) {
  const json::value in(object);
  const std::string api_version = Text(in, "apiVersion");
  const auto [group, version] = SplitApiVersion(api_version);
  return FindKind(group, version, data::StringOr(in, "kind"));
}

}  // namespace gpuop::kube
