#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/rng.h"
#include "sim/auth/rbac.h"
#include "sim/auth/token.h"
#include "sim/store.h"

namespace gpuop::sim {

/// What a request shows of its sender. Headers are as sent; absent ones are empty.
struct Credentials {
  /// "Bearer …".
  std::string authorization;
  /// The verified client certificate: its subject's common name and organizations, and the digest of its DER form.
  std::string common_name, certificate_sha256;
  std::vector<std::string> organizations;
  /// Impersonate-User, -Uid, -Group (each), -Extra-… (decoded, lower-case keys).
  std::string as_user, as_uid;
  std::vector<std::string> as_groups;
  std::map<std::string, std::vector<std::string>> as_extra;
};

/// An object that a token is bound to: it holds only as long as that very object exists.
struct BoundObject {
  std::string kind, api_version, name, uid;
};

/// What a token for a service account shall say.
struct TokenWish {
  std::string ns, account, account_uid;
  std::vector<std::string> audiences;
  std::chrono::seconds lifetime{};
  std::optional<BoundObject> bound;
  /// The node of the Pod that it is bound to.
  std::string node_name, node_uid;
};

/// Says who sent a request. Lives on the store's thread.
class Authenticator {
 public:
  static constexpr std::string_view kIssuer = "https://kubernetes.default.svc";

  /// All outlive it.
  struct Parts {
    const Clock& clock;
    Rng& rng;
    Store& store;
    const Rbac& rbac;
  };

  Authenticator(Parts parts, std::string signing_key) : parts_(parts), signer_(std::move(signing_key)) {}

  /// Who it is, after impersonation, which the authorizer must allow for what is `asked`. Without credentials it is
  /// `otherwise`; wrong ones are 401.
  Answer<User> Authenticate(const Credentials& credentials, User otherwise = User::Anonymous(),
                            const Attributes& asked = {}) const;
  /// The user of a bearer token that is good for one of `audiences` (empty: the API server's own); the audiences
  /// that hold come back too. The Error's text is what a TokenReview tells.
  struct TokenUser {
    User user;
    std::vector<std::string> audiences;
  };
  Result<TokenUser> CheckToken(std::string_view token, const std::vector<std::string>& audiences) const;

  /// Makes a token; `expires` is when it ends.
  std::string Issue(const TokenWish& wish, WallTime& expires);
  /// Makes the token of a Secret of type kubernetes.io/service-account-token: no expiry, good while the Secret is
  /// there.
  std::string IssueLegacy(std::string_view ns, std::string_view secret, std::string_view account,
                          std::string_view account_uid);

 private:
  Answer<User> Sender(const Credentials& credentials, User otherwise) const;
  Result<TokenUser> CheckClaims(const boost::json::object& claims, const std::vector<std::string>& audiences) const;
  Result<TokenUser> CheckLegacy(const boost::json::object& claims, std::string_view token) const;
  /// Whether the object is there with that uid.
  bool Exists(std::string_view table, std::string_view ns, std::string_view name, std::string_view uid) const;

  Parts parts_;
  TokenSigner signer_;
};

}  // namespace gpuop::sim
