#include "sim/auth/reviews.h"

#include "base/text.h"
#include "data/json.h"
#include "sim/auth/token_request.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kAuthorization = "authorization.k8s.io", kAuthentication = "authentication.k8s.io";

std::vector<std::string> Strings(const json::array& list) {
  std::vector<std::string> out;
  for (const json::value& v : list) out.emplace_back(AsString(v));
  return out;
}

Response Created(json::object review) { return Response::Json(data::ToJson(json::value(std::move(review))), 201); }

FieldError Wrong(const char* field, std::string value, const char* detail) {
  return {FieldError::Kind::kInvalid, field, std::move(value), detail};
}

/// The kind is not named in these messages.
std::unexpected<Status> InvalidReview(const std::vector<FieldError>& errors) {
  return std::unexpected(Invalid(kAuthorization, "", "", errors));
}

std::string PrintNonResource(const json::value& attributes) {
  return data::ToJson(
      json::object{{"Path", PeekString(attributes, {"path"})}, {"Verb", PeekString(attributes, {"verb"})}});
}

enum class Who : std::uint8_t { kNamed, kSelf };

std::vector<FieldError> CheckSpec(const json::object& spec, Who who) {
  std::vector<FieldError> errors;
  const json::value* resource = Peek(spec, {"resourceAttributes"});
  const json::value* other = Peek(spec, {"nonResourceAttributes"});
  if (resource != nullptr && other != nullptr)
    errors.push_back(Wrong("spec.nonResourceAttributes", PrintNonResource(*other),
                           "cannot be specified in combination with resourceAttributes"));
  if (resource == nullptr && other == nullptr)
    errors.push_back(Wrong("spec.resourceAttributes", "null",
                           "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  if (who == Who::kNamed && PeekString(spec, {"user"}).empty() && PeekArray(spec, {"groups"}).empty())
    errors.push_back(Wrong("spec.user", "\"\"", "at least one of user or group must be specified"));
  return errors;
}

Attributes AttributesOf(const json::object& spec, User user) {
  Attributes what;
  what.user = std::move(user);
  if (const json::value* r = Peek(spec, {"resourceAttributes"})) {
    what.verb = PeekString(*r, {"verb"});
    what.group = PeekString(*r, {"group"});
    what.version = PeekString(*r, {"version"});
    what.resource = PeekString(*r, {"resource"});
    what.subresource = PeekString(*r, {"subresource"});
    what.ns = PeekString(*r, {"namespace"});
    what.name = PeekString(*r, {"name"});
    // An unnamed resource is still one, and no path.
    if (what.resource.empty()) what.resource = "*";
    return what;
  }
  what.verb = PeekString(spec, {"nonResourceAttributes", "verb"});
  what.path = PeekString(spec, {"nonResourceAttributes", "path"});
  return what;
}

User NamedUser(const json::object& spec) {
  User user{std::string(PeekString(spec, {"user"})),
            std::string(PeekString(spec, {"uid"})),
            Strings(PeekArray(spec, {"groups"})),
            {}};
  for (const auto& [key, values] : PeekObject(spec, {"extra"})) user.extra[key] = Strings(AsArray(&values));
  return user;
}

Answer<Response> ReviewAccess(ApiServer& server, const Rbac& rbac, Request& request, Who who) {
  ASSIGN(json::object review, server.DecodeBody(request));
  const json::object& spec = PeekObject(review, {"spec"});
  std::vector<FieldError> errors = CheckSpec(spec, who);
  if (!request.ns().empty()) {
    if (const json::value* other = Peek(spec, {"nonResourceAttributes"})) {
      errors.clear();
      errors.push_back(
          Wrong("spec.nonResourceAttributes", PrintNonResource(*other), "disallowed on this kind of request"));
    } else if (PeekString(spec, {"resourceAttributes", "namespace"}) != request.ns()) {
      errors.push_back(Wrong("spec.resourceAttributes.namespace",
                             Quote(PeekString(spec, {"resourceAttributes", "namespace"})),
                             "must match metadata.namespace"));
    }
  }
  if (!errors.empty()) return InvalidReview(errors);
  server.types().TrackFields(request, nullptr, review);
  const Decision d = rbac.Authorize(AttributesOf(spec, who == Who::kSelf ? request.user() : NamedUser(spec)));
  json::object status{{"allowed", d.allowed}};
  if (!d.reason.empty()) status["reason"] = d.reason;
  review["status"] = std::move(status);
  return Created(std::move(review));
}

Answer<Response> ReviewRules(ApiServer& server, const Rbac& rbac, Request& request) {
  ASSIGN(json::object review, server.DecodeBody(request));
  const auto ns = PeekString(review, {"spec", "namespace"});
  if (ns.empty()) return std::unexpected(BadRequest("no namespace on request"));
  json::array resources, urls;
  for (const PolicyRule& rule : rbac.RulesFor(request.user(), ns)) {
    if (!rule.resources.empty())
      resources.push_back(rule.ToJson());
    else
      urls.push_back(rule.ToJson());
  }
  review["status"] = {
      {"resourceRules", std::move(resources)}, {"nonResourceRules", std::move(urls)}, {"incomplete", false}};
  return Created(std::move(review));
}

Answer<Response> ReviewToken(ApiServer& server, const Authenticator& authenticator, Request& request) {
  ASSIGN(json::object review, server.DecodeBody(request));
  const auto token = PeekString(review, {"spec", "token"});
  if (token.empty()) return std::unexpected(BadRequest("token is required for TokenReview in authentication"));
  server.types().TrackFields(request, nullptr, review);
  const auto found = authenticator.CheckToken(token, Strings(PeekArray(review, {"spec", "audiences"})));
  if (!found) {
    review["status"] = {{"user", json::object()}, {"error", found.error().text}};
  } else {
    json::object status{{"authenticated", true}, {"user", UserInfo(found->user)}};
    if (!found->audiences.empty()) status["audiences"] = json::array(found->audiences.begin(), found->audiences.end());
    review["status"] = std::move(status);
  }
  return Created(std::move(review));
}

Answer<Response> ReviewSelf(ApiServer& server, Request& request) {
  ASSIGN(json::object review, server.DecodeBody(request));
  review["metadata"] = {{"creationTimestamp", FormatTime(server.executor().Wall())}};
  review["status"] = {{"userInfo", UserInfo(request.user())}};
  return Created(std::move(review));
}

}  // namespace

json::object UserInfo(const User& user) {
  json::object out;
  if (!user.name.empty()) out["username"] = user.name;
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = json::array(user.groups.begin(), user.groups.end());
  if (!user.extra.empty()) {
    json::object& extra = out["extra"].emplace_object();
    for (const auto& [key, values] : user.extra) extra[key] = json::array(values.begin(), values.end());
  }
  return out;
}

void AddReviews(ApiServer& server, const Rbac& rbac, Authenticator& authenticator) {
  const auto access = [&](const char* plural, Who who) {
    server.SetHandler(kAuthorization, plural, "", "create",
                      [&server, &rbac, who](Request& request) { return ReviewAccess(server, rbac, request, who); });
  };
  access("subjectaccessreviews", Who::kNamed);
  access("localsubjectaccessreviews", Who::kNamed);
  access("selfsubjectaccessreviews", Who::kSelf);
  server.SetHandler(kAuthorization, "selfsubjectrulesreviews", "", "create",
                    [&](Request& request) { return ReviewRules(server, rbac, request); });
  server.SetHandler(kAuthentication, "tokenreviews", "", "create",
                    [&](Request& request) { return ReviewToken(server, authenticator, request); });
  server.SetHandler(kAuthentication, "selfsubjectreviews", "", "create",
                    [&](Request& request) { return ReviewSelf(server, request); });
  server.SetHandler("", "serviceaccounts", "token", "create",
                    [&](Request& request) { return CreateToken(server, authenticator, request); });
}

}  // namespace gpuop::sim
