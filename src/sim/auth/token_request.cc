#include "sim/auth/token_request.h"

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "data/json.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::int64_t kDefaultSeconds = 3600, kLeastSeconds = 600, kMostSeconds = std::int64_t{1} << 32;

std::vector<FieldError> CheckWish(const Request& request, const json::object& body) {
  std::vector<FieldError> errors;
  const auto wrong = [&](const char* field, std::string value, const char* detail) {
    errors.push_back({FieldError::Kind::kInvalid, field, std::move(value), detail});
  };
  const auto name = PeekString(body, {"metadata", "name"});
  if (!name.empty() && name != request.name())
    wrong("metadata.name", Quote(name), "must match the service account name if specified");
  const std::int64_t seconds = PeekInt(body, {"spec", "expirationSeconds"}, kDefaultSeconds);
  if (seconds < kLeastSeconds)
    wrong("spec.expirationSeconds", std::to_string(seconds), "may not specify a duration less than 10 minutes");
  if (seconds > kMostSeconds)
    wrong("spec.expirationSeconds", std::to_string(seconds), "may not specify a duration larger than 2^32 seconds");
  return errors;
}

/// Binds the token to the object that the reference names.
Answer<> Bind(const Store& store, const Registry& registry, const json::object& reference, TokenWish& wish) {
  const std::string kind(PeekString(reference, {"kind"})), version(PeekString(reference, {"apiVersion"}));
  if (version != "v1" || (kind != "Pod" && kind != "Secret" && kind != "Node"))
    return std::unexpected(BadRequest("cannot bind token to object of type " +
                                      (version.contains('/') ? version : "/" + version) + ", Kind=" + kind));
  const std::string plural = ToLower(kind) + "s", name(PeekString(reference, {"name"}));
  const ResourcePtr resource = registry.Find("", "v1", plural);
  const StoredPtr stored = store.Get("/" + plural, kind == "Node" ? "" : wish.ns, name);
  if (stored == nullptr) return std::unexpected(NotFound("", plural, name));
  const auto uid = PeekString(reference, {"uid"});
  if (!uid.empty() && uid != stored->uid)
    return std::unexpected(
        Conflict(*resource, name,
                 "the UID in the bound object reference (" + std::string(uid) +
                     ") does not match the UID in record. The object might have been deleted and then "
                     "recreated"));
  wish.bound = BoundObject{kind, version, name, std::string(stored->uid)};
  if (kind != "Pod") return {};
  const json::value pod = json::parse(stored->json);
  if (PeekString(pod, {"spec", "serviceAccountName"}) != wish.account)
    return std::unexpected(BadRequest("cannot bind token for serviceaccount " + Quote(wish.account) +
                                      " to pod running with different serviceaccount name."));
  const auto node = PeekString(pod, {"spec", "nodeName"});
  if (node.empty()) return {};
  wish.node_name = node;
  if (const StoredPtr found = store.Get("/nodes", "", node)) wish.node_uid = found->uid;
  return {};
}

}  // namespace

Answer<Response> CreateToken(ApiServer& server, Authenticator& authenticator, Request& request) {
  ASSIGN(json::object body, server.DecodeBody(request));
  if (const auto errors = CheckWish(request, body); !errors.empty())
    return std::unexpected(Invalid("authentication.k8s.io", "TokenRequest",
                                   PeekString(body, {"metadata", "name"}).empty() ? "" : request.name(), errors));
  const StoredPtr account = server.store().Get("/serviceaccounts", request.ns(), request.name());
  if (account == nullptr) return std::unexpected(NotFound(*request.resource, request.name()));
  const std::int64_t seconds = PeekInt(body, {"spec", "expirationSeconds"}, kDefaultSeconds);
  TokenWish wish{.ns = request.ns(),
                 .account = request.name(),
                 .account_uid = std::string(account->uid),
                 .audiences = {},
                 .lifetime = std::chrono::seconds(seconds),
                 .bound = {},
                 .node_name = {},
                 .node_uid = {}};
  for (const json::value& a : PeekArray(body, {"spec", "audiences"})) wish.audiences.emplace_back(AsString(a));
  if (wish.audiences.empty()) wish.audiences.emplace_back(Authenticator::kIssuer);
  const json::value* reference = Peek(body, {"spec", "boundObjectRef"});
  if (reference != nullptr) TRY(Bind(server.store(), server.registry(), AsObject(reference), wish));
  WallTime expires;
  std::string token = authenticator.Issue(wish, expires);
  json::object answer{{"kind", "TokenRequest"},
                      {"apiVersion", "authentication.k8s.io/v1"},
                      {"metadata",
                       {{"name", request.name()},
                        {"namespace", request.ns()},
                        {"uid", account->uid},
                        {"creationTimestamp", FormatTime(server.executor().Wall())}}},
                      {"spec",
                       {{"audiences", json::array(wish.audiences.begin(), wish.audiences.end())},
                        {"expirationSeconds", seconds},
                        {"boundObjectRef", reference == nullptr ? json::value(nullptr) : *reference}}},
                      {"status", {{"token", std::move(token)}, {"expirationTimestamp", FormatTime(expires)}}}};
  return Response::Json(data::ToJson(json::value(std::move(answer))), 201);
}

void FillTokenSecret(const Store& store, Authenticator& authenticator, std::string_view ca, json::object& secret) {
  constexpr std::string_view kAnnotation = "kubernetes.io/service-account.";
  if (PeekString(secret, {"type"}) != "kubernetes.io/service-account-token") return;
  const std::string ns(PeekString(secret, {"metadata", "namespace"})), name(PeekString(secret, {"metadata", "name"}));
  const std::string account(PeekString(secret, {"metadata", "annotations", std::string(kAnnotation) + "name"}));
  const StoredPtr found = store.Get("/serviceaccounts", ns, account);
  if (found == nullptr) return;
  Ensure(secret, {"metadata", "annotations"})[std::string(kAnnotation) + "uid"] = found->uid;
  json::object& data = Ensure(secret, {"data"});
  if (!ca.empty()) data["ca.crt"] = Base64Encode(ca);
  data["namespace"] = Base64Encode(ns);
  data["token"] = Base64Encode(authenticator.IssueLegacy(ns, name, account, found->uid));
}

}  // namespace gpuop::sim
