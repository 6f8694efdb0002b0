#include "sim/api_server.h"

#include <fmt/core.h>

#include "base/text.h"
#include "data/json.h"
#include "sim/deleter.h"
#include "sim/fields.h"
#include "sim/list_options.h"
#include "sim/parse_request.h"
#include "sim/reader.h"
#include "sim/special.h"
#include "sim/watch.h"
#include "sim/writer.h"

namespace gpuop::sim {
namespace {

constexpr std::string_view kVersion =
    R"({"major":"1","minor":"36","emulationMajor":"1","emulationMinor":"36","minCompatibilityMajor":"1",)"
    R"("minCompatibilityMinor":"35","gitVersion":"v1.36.3+gpu-operator-sim","gitCommit":"","gitTreeState":"clean",)"
    R"("buildDate":"1970-01-01T00:00:00Z","goVersion":"","compiler":"clang","platform":"linux/amd64"})";

bool Under(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) &&
         (path.size() == prefix.size() || prefix.ends_with('/') || path[prefix.size()] == '/');
}

bool IsHealth(std::string_view path) { return path == "/healthz" || path == "/livez" || path == "/readyz"; }

/// ?pretty=true: for people.
void Prettify(Response& response) {
  auto parsed = data::ParseJson(response.body.Join());
  if (parsed) response.body = Body(data::ToPrettyJson(*parsed, 2) + "\n");
}

}  // namespace

ApiServer::ApiServer(Parts parts) : parts_(parts) {
  parts_.store.Observe([this, alive = std::weak_ptr<int>(alive_)](std::string_view table, const Event& event) {
    if (!alive.expired()) Committed(table, event);
  });
  const auto index = [this] {
    for (const ResourcePtr& info : parts_.registry.All())
      if (!Converts(*info)) parts_.store.SetSelectable(info->table, info->selectable);
  };
  index();
  parts_.registry.OnChange([index, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) index();
  });
}

ApiServer::~ApiServer() = default;

bool ApiServer::IsWatch(const kube::ApiRequest& request) {
  if (request.method != "GET") return false;
  return AttributesOf(request, User{}).verb == "watch";
}

void ApiServer::SetHandler(std::string_view group, std::string_view plural, std::string_view subresource,
                           std::string_view verb, VerbHandler handler) {
  handlers_[std::tuple(std::string(group), std::string(plural), std::string(subresource), std::string(verb))] =
      std::move(handler);
}

void ApiServer::AddPath(std::string prefix, PathHandler handler) { paths_[std::move(prefix)] = std::move(handler); }

Response ApiServer::Handle(const kube::ApiRequest& request, const User& user) {
  auto answer = Route(request, user);
  Response response = answer ? *std::move(answer) : Response::Of(answer.error());
  if (response.content_type == "application/json" && BoolParam(request, "pretty")) Prettify(response);
  return response;
}

Answer<Response> ApiServer::Route(const kube::ApiRequest& http, const User& user) {
  if (!ParseApiPath(http.path)) {
    if (authorizer_) TRY(authorizer_(AttributesOf(http, user)));
    return PlainPath(http, user);
  }
  ASSIGN(Request request, Admitted(http, user));
  auto answer = Dispatch(request);
  Response response = answer ? *std::move(answer) : Response::Of(answer.error());
  response.warnings = std::move(request.warnings);
  return response;
}

Answer<Request> ApiServer::Admitted(const kube::ApiRequest& http, const User& user) {
  Attributes attributes = AttributesOf(http, user);
  if (authorizer_) TRY(authorizer_(attributes));
  return ParseRequest(http, std::move(attributes), parts_.registry);
}

Answer<Response> ApiServer::PlainPath(const kube::ApiRequest& http, const User& user) {
  const std::string_view path = http.path;
  const PathHandler* best = nullptr;
  for (const auto& [prefix, handler] : paths_)
    if (Under(path, prefix)) best = &handler;  // in byte order a longer prefix comes later
  if (best != nullptr) return (*best)(http, user);
  if (http.method != "GET" && http.method != "HEAD") return std::unexpected(PageNotFound());
  if (IsHealth(path)) return Response::Plain("ok");
  if (path == "/version") return Response::Json(std::string(kVersion));
  if (path == "/") {
    std::string out = R"({"paths":["/api","/api/v1","/apis","/healthz","/livez","/readyz","/version")";
    for (const auto& [prefix, handler] : paths_)
      if (prefix != "/api" && prefix != "/apis") out += fmt::format(",\"{}\"", prefix);
    return Response::Json(out + "]}");
  }
  return std::unexpected(path.starts_with("/version/") ? UnknownPath() : PageNotFound());
}

Answer<Response> ApiServer::Dispatch(Request& request) {
  const ResourceInfo& info = *request.resource;
  const std::string sub = request.subresource == nullptr ? "" : request.subresource->name;
  auto it = handlers_.find(std::tuple(info.group, info.plural, sub, request.verb()));
  if (it != handlers_.end()) return it->second(request);
  if (request.subresource != nullptr && sub != "status" && sub != "finalize") return RunSubresource(request);
  const std::string& verb = request.verb();
  if (verb == "get") return Reader(*this, request).Get();
  if (verb == "list") return Reader(*this, request).List();
  if (verb == "watch") {  // its errors are answers; the watch itself is Open's
    TRY(Negotiate(request.http->accept, true));
    TRY(ReadListOptions(request));
    return std::unexpected(BadRequest("a watch is a stream"));
  }
  if (verb == "update") return Writer(*this, request).Update();
  if (verb == "patch") return Writer(*this, request).Patch();
  if (verb == "create") {
    if (info.table == "/bindings") return BindPod(*this, request);
    if (info.verbs.size() == 1)  // a review that nobody answers
      return std::unexpected(MethodNotSupported(info, verb));
    ASSIGN(boost::json::object body, DecodeBody(request));
    return Create(request, std::move(body));
  }
  ASSIGN(const boost::json::object options, Deleter::ReadOptions(*this, request));
  Deleter deleter(*this, request);
  return verb == "delete" ? deleter.One(options) : deleter.Collection(options);
}

Answer<Response> ApiServer::RunSubresource(Request& request) {
  const std::string& sub = request.subresource->name;
  if (sub == "scale" && request.verb() == "get") return GetScale(*this, request);
  if (sub == "scale") return request.verb() == "patch" ? PatchScale(*this, request) : UpdateScale(*this, request);
  if (sub == "binding") return BindPod(*this, request);
  if (sub == "log") return PodLog(*this, request);
  if (sub == "ephemeralcontainers" && request.verb() == "get") return Reader(*this, request).Get();
  if (sub == "ephemeralcontainers")
    return std::unexpected(
        Forbidden(*request.resource, request.name(), "ephemeral containers are not served by this cluster"));
  return std::unexpected(MethodNotSupported(*request.resource, request.verb()));
}

Answer<Response> ApiServer::Create(Request& request, boost::json::object body) {
  return Writer(*this, request).Create(std::move(body));
}

Answer<Response> ApiServer::Delete(Request& request, const boost::json::object& options) {
  return Deleter(*this, request).One(options);
}

Answer<boost::json::object> ApiServer::Read(const Request& request) const {
  const ResourceInfo& info = *request.resource;
  const StoredPtr stored = parts_.store.Get(info.table, request.ns(), request.name());
  if (!stored) return std::unexpected(NotFound(info, request.name()));
  auto parsed = data::ParseJson(stored->json);
  if (!parsed || !parsed->is_object()) return std::unexpected(InternalError("a stored object is no object"));
  boost::json::object o = std::move(parsed->get_object());
  if (Converts(info)) TRY(types_->Convert(info, o));
  return o;
}

Answer<boost::json::object> ApiServer::DecodeBody(Request& request) {
  std::vector<std::string> problems;
  ASSIGN(boost::json::object body, types_->Decode(request, request.http->content_type, request.http->body, problems));
  TRY(Writer(*this, request).CheckType(body));
  TRY(types_->Conform(request, body, problems));
  TRY(Writer(*this, request).Report(problems));
  types_->Default(request, body);
  return body;
}

Answer<> ApiServer::Mutate(Request& request, boost::json::object* object, const boost::json::object* old) {
  for (const Admission& admission : mutations_) TRY(admission(request, object, old));
  return {};
}

Answer<> ApiServer::Check(Request& request, boost::json::object* object, const boost::json::object* old) {
  for (const Admission& admission : checks_) TRY(admission(request, object, old));
  return {};
}

Encoder ApiServer::EncoderFor(const Request& request, const Form& form) {
  return {*request.resource,
          form,
          *types_,
          *tables_,
          parts_.executor.Wall(),
          request.Param("includeObject").value_or("Metadata")};
}

ResourcePtr ApiServer::StorageOf(const ResourcePtr& info) const {
  if (!Converts(*info)) return info;
  const auto parts = Cut(info->table, '/');
  const bool own = info->table == info->group + "/" + info->plural;
  ResourcePtr storage = own ? parts_.registry.Find(info->group, info->storage_version, info->plural)
                            : parts_.registry.FindAnyVersion(parts->first, parts->second);
  return storage ? storage : info;
}

}  // namespace gpuop::sim
