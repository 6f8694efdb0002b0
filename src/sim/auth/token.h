#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::sim {

/// Makes and checks the tokens of service accounts: JSON Web Tokens (RFC 7519) signed with HMAC-SHA256. Whoever holds
/// the same key accepts them, so that they survive a restart of the server.
class TokenSigner {
 public:
  /// `key` is a secret of 32 bytes or more.
  explicit TokenSigner(std::string key) : key_(std::move(key)) {}

  std::string Sign(const boost::json::object& claims) const;
  /// The claims of a token with a good signature; kUnauthorized otherwise. Times and audiences are the caller's.
  Result<boost::json::object> Verify(std::string_view token) const;

 private:
  std::string Mac(std::string_view text) const;

  std::string key_;
};

/// The SHA-256 digest of `bytes`.
std::string Sha256(std::string_view bytes);
/// The same in lower-case hexadecimal.
std::string Sha256Hex(std::string_view bytes);

}  // namespace gpuop::sim
