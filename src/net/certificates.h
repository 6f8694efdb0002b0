#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::net {

/// A certificate and its private key as PEM text. The key is a secret.
struct KeyPair {
  std::string certificate;
  std::string key;
};

/// What a certificate says.
struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  /// DNS names and IP addresses that a server may be reached at.
  std::vector<std::string> hosts;
  WallTime not_before;
  WallTime not_after;
};

/// A new self-signed certificate authority with a P-256 key.
Result<KeyPair> MakeAuthority(const std::string& common_name, WallTime not_before, WallTime not_after);
/// A new key with a certificate from `authority`, good for a server (at `hosts`) and for a client (as the subject).
Result<KeyPair> MakeCertificate(const KeyPair& authority, const CertificateRequest& request);

}  // namespace gpuop::net
