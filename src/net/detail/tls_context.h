#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/tls.h"

struct ssl_st;
struct ssl_ctx_st;

namespace gpuop::net::detail {

/// Makes TLS sessions of one client; takes up changed files for each new session.
class ClientTls {
 public:
  explicit ClientTls(TlsClientOptions options) : options_(std::move(options)) {}
  /// A session for a connection to `host` (a name or an address). The caller owns it (Transport::StartTls).
  Result<ssl_st*> NewSession(const std::string& host);

 private:
  Result<std::shared_ptr<ssl_ctx_st>> Load() const;

  TlsClientOptions options_;
  std::string stamp_;
  std::shared_ptr<ssl_ctx_st> context_;
};

/// Makes TLS sessions of one server. Changed files are taken up when they are good, and left alone while they are not.
class ServerTls {
 public:
  explicit ServerTls(TlsServerOptions options) : options_(std::move(options)) {}
  Result<ssl_st*> NewSession();
  /// Reads the certificates now, so that a mistake shows when a server starts.
  Result<> Check();

 private:
  Result<std::shared_ptr<ssl_ctx_st>> Load() const;

  TlsServerOptions options_;
  std::string stamp_;
  std::shared_ptr<ssl_ctx_st> context_;
};

/// What went wrong in the session's last step: "TLS: certificate has expired (not after 2026-01-01T00:00:00Z)".
Error TlsError(ssl_st* ssl);
/// Whom the peer's certificate names; nullopt when it showed none.
std::optional<CertificateSubject> PeerSubject(ssl_st* ssl);

}  // namespace gpuop::net::detail
