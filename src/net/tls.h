#pragma once

#include <string>
#include <vector>

namespace gpuop::net {

/// PEM text, given directly or as a file. A file is looked at again for every new connection and read anew when it
/// has changed, so that rotated certificates are taken up.
struct Pem {
  std::string text;
  std::string file;
  bool empty() const { return text.empty() && file.empty(); }
};

/// How a client checks a server and shows itself.
struct TlsClientOptions {
  /// Authorities to trust; empty: those of the system.
  Pem ca;
  /// The client's certificate (with its chain) and key; both or neither.
  Pem certificate;
  Pem key;
  /// The name that the server's certificate must bear, and SNI; empty: the host of the address.
  std::string server_name;
  /// Takes any certificate. For people who ask for it in so many words.
  bool insecure_skip_verify = false;
};

/// How a server shows itself and looks at clients.
struct TlsServerOptions {
  Pem certificate;
  Pem key;
  /// When not empty, clients are asked for a certificate; one that is shown must come from these authorities,
  /// none is fine too.
  Pem client_ca;
};

/// Whom a client's certificate names.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  bool operator==(const CertificateSubject&) const = default;
};

}  // namespace gpuop::net
