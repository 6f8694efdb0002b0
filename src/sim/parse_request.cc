#include "sim/parse_request.h"

#include <fmt/core.h>

#include "base/text.h"
#include "net/url.h"

namespace gpuop::sim {
namespace {

std::string VerbOf(const kube::ApiRequest& http, const ApiPath& path) {
  const bool named = !path.name.empty();
  if (http.method == "GET" || http.method == "HEAD") {
    if (path.watch || (BoolParam(http, "watch") && path.subresource.empty())) return "watch";
    return named ? "get" : "list";
  }
  if (http.method == "POST") return "create";
  if (http.method == "PUT") return "update";
  if (http.method == "PATCH") return "patch";
  if (http.method == "DELETE") return named ? "delete" : "deletecollection";
  return ToLower(http.method);
}

std::string OptionsKind(std::string_view verb) {
  return verb == "create"   ? "CreateOptions"
         : verb == "update" ? "UpdateOptions"
         : verb == "patch"  ? "PatchOptions"
                            : "DeleteOptions";
}

Answer<> ReadDryRun(Request& request) {
  std::string values;
  bool bad = false;
  for (const auto& [name, v] : request.http->query) {
    if (name != "dryRun") continue;
    values += (values.empty() ? "\"" : " \"") + v + "\"";
    if (v == "All")
      request.dry_run = true;
    else
      bad = true;
  }
  if (!bad) return {};
  return std::unexpected(
      Invalid("meta.k8s.io", OptionsKind(request.verb()), "",
              {{FieldError::Kind::kNotSupported, "dryRun", "[" + values + "]", "supported values: \"All\""}}));
}

Answer<> ReadFieldValidation(Request& request) {
  const std::string_view v = request.Param("fieldValidation").value_or("");
  if (v.empty() || v == "Warn") return {};
  if (v == "Strict" || v == "Ignore") {
    request.validation = v == "Strict" ? FieldValidation::kStrict : FieldValidation::kIgnore;
    return {};
  }
  return std::unexpected(Invalid("meta.k8s.io", OptionsKind(request.verb()), "",
                                 {{FieldError::Kind::kNotSupported, "fieldValidation", Quote(v),
                                   "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""}}));
}

/// The name before the first slash of the user agent, as far as it is printable; "unknown" when nothing is left.
std::string ManagerOf(const Request& request) {
  if (const auto given = request.Param("fieldManager"); given && !given->empty()) return std::string(*given);
  std::string_view agent = request.http->user_agent;
  agent = agent.substr(0, agent.find('/'));
  std::string manager;
  for (char c : agent)
    if (c >= 0x20 && c < 0x7f) manager += c;
  return manager.empty() ? "unknown" : manager.substr(0, 128);
}

bool Serves(const ResourceInfo& info, const Subresource* sub, std::string_view verb) {
  if (sub != nullptr) return std::ranges::find(sub->verbs, verb) != sub->verbs.end();
  return info.Allows(verb);
}

/// Whether this kind of path (namespaced or not, named or not) exists for the resource at all.
Answer<> CheckShape(const ResourceInfo& info, const ApiPath& path, std::string_view verb) {
  const bool named = !path.name.empty();
  if (!info.namespaced && !path.ns.empty()) return std::unexpected(UnknownPath());
  if (info.namespaced && path.ns.empty() && named) return std::unexpected(UnknownPath());
  if (info.namespaced && path.ns.empty() && verb != "list" && verb != "watch")
    return std::unexpected(MethodNotAllowed());
  if (path.subresource.empty() && named && verb == "create") return std::unexpected(MethodNotAllowed());
  if (!named && (verb == "update" || verb == "patch")) return std::unexpected(MethodNotAllowed());
  return {};
}

}  // namespace

std::optional<ApiPath> ParseApiPath(std::string_view path) {
  std::vector<std::string> parts;
  for (std::string_view part : Split(path, '/')) {
    auto decoded = net::PercentDecode(part);
    if (!decoded) return std::nullopt;
    if (!decoded->empty()) parts.push_back(*std::move(decoded));
  }
  ApiPath out;
  std::size_t at = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    out.version = parts[1], at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    out.group = parts[1], out.version = parts[2], at = 3;
  } else {
    return std::nullopt;
  }
  if (parts[at] == "watch" && at + 1 < parts.size()) out.watch = true, ++at;
  // "namespaces/x/pods" is in x; "namespaces/x", "namespaces/x/status" and "…/finalize" are about x itself.
  if (parts[at] == "namespaces" && at + 2 < parts.size() && parts[at + 2] != "status" && parts[at + 2] != "finalize")
    out.ns = parts[at + 1], at += 2;
  out.resource = parts[at++];
  if (at < parts.size()) out.name = parts[at++];
  if (at < parts.size()) out.subresource = parts[at++];
  out.deeper = at < parts.size();
  return out;
}

std::optional<std::string_view> FindParam(const kube::ApiRequest& http, std::string_view name) {
  for (const auto& [n, v] : http.query)
    if (n == name) return v;
  return std::nullopt;
}

bool BoolParam(const kube::ApiRequest& http, std::string_view name) {
  const auto v = FindParam(http, name);
  return v && ParseBool(*v).value_or(true);
}

std::optional<std::string_view> Request::Param(std::string_view wanted) const { return FindParam(*http, wanted); }

Attributes AttributesOf(const kube::ApiRequest& http, const User& user) {
  Attributes a;
  a.user = user;
  const auto path = ParseApiPath(http.path);
  if (!path) {
    a.verb = ToLower(http.method);
    a.path = http.path;
    return a;
  }
  a.verb = VerbOf(http, *path);
  a.group = path->group, a.version = path->version, a.resource = path->resource, a.subresource = path->subresource;
  a.name = path->name;
  // A namespace is in itself: a Role there may say who reads it.
  const bool is_namespace = path->group.empty() && path->resource == "namespaces";
  a.ns = is_namespace ? path->name : path->ns;
  return a;
}

Answer<Request> ParseRequest(const kube::ApiRequest& http, Attributes attributes, const Registry& registry) {
  const auto path = ParseApiPath(http.path);
  if (!path || path->deeper) return std::unexpected(UnknownPath());
  Request request;
  request.http = &http;
  request.resource = registry.Find(path->group, path->version, path->resource);
  if (!request.resource) {
    const bool known = path->group.empty() || registry.HasBuiltInGroup(path->group);
    return std::unexpected(known ? UnknownPath() : PageNotFound());
  }
  const ResourceInfo& info = *request.resource;
  if (!path->subresource.empty()) {
    request.subresource = info.FindSubresource(path->subresource);
    if (request.subresource == nullptr) return std::unexpected(UnknownPath());
  }
  request.attributes = std::move(attributes);
  request.attributes.ns = path->ns;  // where it is kept, which for a namespace is nowhere
  TRY(CheckShape(info, *path, request.verb()));
  if (!Serves(info, request.subresource, request.verb())) return std::unexpected(MethodNotAllowed());
  if (http.method != "GET" && http.method != "HEAD") {
    TRY(ReadDryRun(request));
    TRY(ReadFieldValidation(request));
    request.field_manager = ManagerOf(request);
  }
  return request;
}

}  // namespace gpuop::sim
