#include "sim/auth/authenticator.h"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "base/text.h"
#include "sim/auth/impersonation.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kPrivate = "kubernetes.io";
constexpr std::string_view kLegacyIssuer = "kubernetes/serviceaccount";
constexpr std::string_view kCredential = "authentication.kubernetes.io/credential-id";

std::int64_t Seconds(WallTime t) {
  return std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count();
}

std::string_view TableOf(std::string_view kind) {
  return kind == "pod" ? "/pods" : kind == "secret" ? "/secrets" : "/nodes";
}

std::string QuotedList(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const std::string& s : list) out.append(out.size() > 1 ? " " : "").append(Quote(s));
  return out + "]";
}

std::unexpected<Error> BadToken(std::string why = {}) {
  std::string text = "invalid bearer token";
  return Fail(Code::kUnauthorized, why.empty() ? text : "[" + text + ", " + why + "]");
}

}  // namespace

Answer<User> Authenticator::Authenticate(const Credentials& credentials, User otherwise,
                                         const Attributes& asked) const {
  ASSIGN(User user, Sender(credentials, std::move(otherwise)));
  return Impersonate(parts_.rbac, std::move(user), credentials, asked);
}

Answer<User> Authenticator::Sender(const Credentials& credentials, User otherwise) const {
  constexpr std::string_view kBearer = "bearer ";
  if (!credentials.authorization.empty() &&
      EqualsIgnoreCase(std::string_view(credentials.authorization).substr(0, kBearer.size()), kBearer)) {
    const auto token = Trim(std::string_view(credentials.authorization).substr(kBearer.size()));
    if (token.empty()) return otherwise;
    auto found = CheckToken(token, {});
    if (!found) return std::unexpected(Unauthorized());
    return std::move(found->user);
  }
  if (credentials.common_name.empty()) return otherwise;
  User user{credentials.common_name, "", credentials.organizations, {}};
  user.groups.emplace_back("system:authenticated");
  if (!credentials.certificate_sha256.empty())
    user.extra[std::string(kCredential)] = {"X509SHA256=" + credentials.certificate_sha256};
  return user;
}

Result<Authenticator::TokenUser> Authenticator::CheckToken(std::string_view token,
                                                           const std::vector<std::string>& audiences) const {
  auto claims = signer_.Verify(token);
  if (!claims) return BadToken();
  if (PeekString(*claims, {"iss"}) == kLegacyIssuer) return CheckLegacy(*claims, token);
  return CheckClaims(*claims, audiences);
}

bool Authenticator::Exists(std::string_view table, std::string_view ns, std::string_view name,
                           std::string_view uid) const {
  const StoredPtr stored = parts_.store.Get(table, ns, name);
  return stored != nullptr && stored->uid == uid;
}

Result<Authenticator::TokenUser> Authenticator::CheckClaims(const json::object& claims,
                                                            const std::vector<std::string>& audiences) const {
  const std::vector<std::string> wanted = audiences.empty() ? std::vector{std::string(kIssuer)} : audiences;
  std::vector<std::string> has, shared;
  for (const json::value& a : PeekArray(claims, {"aud"})) has.emplace_back(AsString(a));
  for (const std::string& a : wanted)
    if (std::ranges::find(has, a) != has.end()) shared.push_back(a);
  if (shared.empty())
    return BadToken("token audiences " + QuotedList(has) + " is invalid for the target audiences " +
                    QuotedList(wanted));
  const std::int64_t now = Seconds(parts_.clock.Wall());
  if (now >= PeekInt(claims, {"exp"})) return BadToken("service account token has expired");
  if (now < PeekInt(claims, {"nbf"})) return BadToken("service account token is not valid yet");
  const json::object& mine = PeekObject(claims, {kPrivate});
  const auto ns = PeekString(mine, {"namespace"}), account = PeekString(mine, {"serviceaccount", "name"});
  const auto uid = PeekString(mine, {"serviceaccount", "uid"});
  if (!Exists("/serviceaccounts", ns, account, uid)) return BadToken("service account token has been invalidated");
  TokenUser out{User::ServiceAccount(ns, account), shared};
  out.user.uid = uid;
  out.user.extra[std::string(kCredential)] = {"JTI=" + std::string(PeekString(claims, {"jti"}))};
  for (const char* kind : {"pod", "secret", "node"}) {
    const json::value* bound = Peek(mine, {kind});
    if (bound == nullptr) continue;
    const auto name = PeekString(*bound, {"name"}), bound_uid = PeekString(*bound, {"uid"});
    const bool node = std::string_view(kind) == "node";
    // A Pod's token names its node for information only.
    const bool binding = !node || Peek(mine, {"pod"}) == nullptr;
    if (binding && !Exists(TableOf(kind), node ? "" : ns, name, bound_uid))
      return BadToken("service account token has been invalidated");
    if (std::string_view(kind) == "secret") continue;
    const std::string prefix = std::string("authentication.kubernetes.io/") + kind;
    out.user.extra[prefix + "-name"] = {std::string(name)};
    if (!bound_uid.empty()) out.user.extra[prefix + "-uid"] = {std::string(bound_uid)};
  }
  return out;
}

Result<Authenticator::TokenUser> Authenticator::CheckLegacy(const json::object& claims, std::string_view token) const {
  const auto claim = [&](const char* name) {
    return PeekString(claims, {std::string("kubernetes.io/serviceaccount/") + name});
  };
  const auto ns = claim("namespace"), account = claim("service-account.name"), uid = claim("service-account.uid");
  const StoredPtr secret = parts_.store.Get("/secrets", ns, claim("secret.name"));
  if (secret == nullptr || !Exists("/serviceaccounts", ns, account, uid))
    return BadToken("service account token has been invalidated");
  const json::value parsed = json::parse(secret->json);
  if (Base64Decode(PeekString(parsed, {"data", "token"})) != std::string(token))
    return BadToken("token does not match the secret's");
  TokenUser out{User::ServiceAccount(ns, account), {}};
  out.user.uid = uid;
  return out;
}

std::string Authenticator::Issue(const TokenWish& wish, WallTime& expires) {
  const std::int64_t now = Seconds(parts_.clock.Wall());
  expires = WallTime(std::chrono::seconds(now) + wish.lifetime);
  json::object mine{{"namespace", wish.ns}};
  if (!wish.node_name.empty()) mine["node"] = {{"name", wish.node_name}, {"uid", wish.node_uid}};
  if (wish.bound) mine[ToLower(wish.bound->kind)] = {{"name", wish.bound->name}, {"uid", wish.bound->uid}};
  mine["serviceaccount"] = {{"name", wish.account}, {"uid", wish.account_uid}};
  return signer_.Sign({{"aud", json::array(wish.audiences.begin(), wish.audiences.end())},
                       {"exp", now + wish.lifetime.count()},
                       {"iat", now},
                       {"iss", kIssuer},
                       {"jti", NewUuid(parts_.rng)},
                       {kPrivate, std::move(mine)},
                       {"nbf", now},
                       {"sub", "system:serviceaccount:" + wish.ns + ":" + wish.account}});
}

std::string Authenticator::IssueLegacy(std::string_view ns, std::string_view secret, std::string_view account,
                                       std::string_view account_uid) {
  return signer_.Sign({{"iss", kLegacyIssuer},
                       {"kubernetes.io/serviceaccount/namespace", ns},
                       {"kubernetes.io/serviceaccount/secret.name", secret},
                       {"kubernetes.io/serviceaccount/service-account.name", account},
                       {"kubernetes.io/serviceaccount/service-account.uid", account_uid},
                       {"sub", User::ServiceAccount(ns, account).name}});
}

}  // namespace gpuop::sim
