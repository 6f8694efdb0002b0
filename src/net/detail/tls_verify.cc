#include "net/detail/tls_verify.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <ctime>

#include "base/clock.h"
#include "base/text.h"
#include "net/detail/tls_context.h"

namespace gpuop::net::detail {
namespace {

struct Notes {
  std::string expected;
  std::string problem;
};

int NotesIndex() {
  static const int index = SSL_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* notes, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<Notes*>(notes); });
  return index;
}

std::string Time(const ASN1_TIME* time) {
  std::tm tm{};
  if (ASN1_TIME_to_tm(time, &tm) != 1) return "?";
  return FormatTime(WallTime(std::chrono::seconds(timegm(&tm))));
}

std::string Bytes(const ASN1_STRING* s) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(s)), static_cast<std::size_t>(ASN1_STRING_length(s))};
}

std::vector<std::string> NameParts(const X509_NAME* name, int nid) {
  std::vector<std::string> parts;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;)
    parts.push_back(Bytes(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
  return parts;
}

std::string AddressText(const ASN1_OCTET_STRING* ip) {
  char text[INET6_ADDRSTRLEN] = "?";
  const std::string bytes = Bytes(ip);
  if (bytes.size() == 4) inet_ntop(AF_INET, bytes.data(), text, sizeof text);
  if (bytes.size() == 16) inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

// The subject's alternative names, at most eight of them.
std::string NamesOf(const X509* certificate) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME* n = sk_GENERAL_NAME_value(all.get(), i);
    if (names.size() == 8) {
      names.emplace_back("…");
      break;
    }
    if (n->type == GEN_DNS) names.push_back(Bytes(n->d.dNSName));
    if (n->type == GEN_IPADD) names.push_back(AddressText(n->d.iPAddress));
  }
  return names.empty() ? "no host at all" : Join(names, ", ");
}

std::string ProblemWith(const X509* certificate, int error, const std::string& expected) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return fmt::format("certificate has expired (not after {})", Time(X509_get0_notAfter(certificate)));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format("certificate is not yet valid (not before {})", Time(X509_get0_notBefore(certificate)));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format("certificate is for {}, not for {}", NamesOf(certificate), expected);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
      const auto issuer = NameParts(X509_get_issuer_name(certificate), NID_commonName);
      return fmt::format("certificate is signed by an unknown authority ({})",
                         issuer.empty() ? "no name" : issuer.back());
    }
    default: return X509_verify_cert_error_string(error);
  }
}

// What OpenSSL itself says, in words that help where it speaks in riddles.
std::string LibraryProblem() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "handshake failed";
  switch (ERR_GET_REASON(error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG: return "the peer does not speak TLS";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return "the server requires a client certificate";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA: return "the peer does not know our certificate's authority";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE: return "the peer refused our certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED: return "the peer says that our certificate has expired";
    default: break;
  }
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : fmt::format("error {:#x}", error);
}

}  // namespace

void ExpectPeer(ssl_st* ssl, std::string name) {
  SSL_set_ex_data(ssl, NotesIndex(), new Notes{.expected = std::move(name), .problem = {}});
}

int RememberProblem(int good, x509_store_ctx_st* context) {
  if (good == 1) return 1;
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* notes = static_cast<Notes*>(SSL_get_ex_data(ssl, NotesIndex()));
  X509* certificate = X509_STORE_CTX_get_current_cert(context);
  if (notes != nullptr && certificate != nullptr)
    notes->problem = ProblemWith(certificate, X509_STORE_CTX_get_error(context), notes->expected);
  return 0;
}

Error TlsError(ssl_st* ssl) {
  const auto* notes = static_cast<const Notes*>(SSL_get_ex_data(ssl, NotesIndex()));
  if (notes != nullptr && !notes->problem.empty()) {
    ERR_clear_error();
    return {Code::kUnavailable, "TLS: " + notes->problem};
  }
  return {Code::kUnavailable, "TLS: " + LibraryProblem()};
}

std::optional<CertificateSubject> PeerSubject(ssl_st* ssl) {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl), &X509_free);
  if (!certificate) return std::nullopt;
  const X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto common = NameParts(name, NID_commonName);
  return CertificateSubject{.common_name = common.empty() ? "" : common.back(),
                            .organizations = NameParts(name, NID_organizationName)};
}

}  // namespace gpuop::net::detail
