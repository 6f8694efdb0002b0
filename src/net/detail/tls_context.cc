#include "net/detail/tls_context.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "base/check.h"
#include "net/detail/core.h"
#include "net/detail/tls_verify.h"

namespace gpuop::net::detail {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio Memory(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
}
int NoPassword(char*, int, int, void*) { return 0; }

// Changes when the file does.
std::string Stamp(const Pem& pem) {
  struct stat s{};
  if (pem.file.empty() || ::stat(pem.file.c_str(), &s) != 0) return "-";
  return fmt::format("{}.{}.{}.{};", s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

std::string Named(std::string_view what, const Pem& pem) {
  return pem.file.empty() ? std::string(what) : fmt::format("{} {}", what, pem.file);
}

Result<std::string> Text(std::string_view what, const Pem& pem) {
  if (pem.file.empty()) return pem.text;
  std::ifstream in(pem.file, std::ios::binary);
  if (!in) return Fail(Code::kInvalid, Named(what, pem) + ": " + SystemText(errno));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<> Trust(SSL_CTX* context, std::string_view what, const Pem& pem) {
  ASSIGN(const std::string text, Text(what, pem));
  const Bio bio = Memory(text);
  int count = 0;
  for (;;) {
    const Certificate c(PEM_read_bio_X509(bio.get(), nullptr, &NoPassword, nullptr), &X509_free);
    if (!c) break;
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), c.get());
    SSL_CTX_add_client_CA(context, c.get());
    ++count;
  }
  ERR_clear_error();
  if (count == 0) return Fail(Code::kInvalid, Named(what, pem) + ": no PEM certificate in it");
  return {};
}

Result<> Show(SSL_CTX* context, const Pem& certificate, const Pem& key) {
  ASSIGN(const std::string chain_text, Text("certificate", certificate));
  ASSIGN(const std::string key_text, Text("key", key));
  const Bio chain = Memory(chain_text);
  const Certificate own(PEM_read_bio_X509(chain.get(), nullptr, &NoPassword, nullptr), &X509_free);
  if (!own) return Fail(Code::kInvalid, Named("certificate", certificate) + ": no PEM certificate in it");
  if (SSL_CTX_use_certificate(context, own.get()) != 1)
    return Fail(Code::kInvalid, Named("certificate", certificate) + ": not usable");
  while (X509* next = PEM_read_bio_X509(chain.get(), nullptr, &NoPassword, nullptr))
    SSL_CTX_add_extra_chain_cert(context, next);
  const Key own_key(PEM_read_bio_PrivateKey(Memory(key_text).get(), nullptr, &NoPassword, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  if (!own_key) return Fail(Code::kInvalid, Named("key", key) + ": no PEM private key in it");
  if (SSL_CTX_use_PrivateKey(context, own_key.get()) != 1) {
    ERR_clear_error();
    return Fail(Code::kInvalid, Named("key", key) + ": does not belong to the certificate");
  }
  return {};
}

std::shared_ptr<SSL_CTX> NewContext(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  // Records are read as the socket has them, several at once, instead of a head and a body each.
  constexpr std::size_t kReadTogether = 32 * 1024;
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_default_read_buffer_len(context.get(), kReadTogether);
  return context;
}

constexpr unsigned char kAlpn[] = "\x08http/1.1";
constexpr unsigned kAlpnSize = sizeof kAlpn - 1;

int ChooseHttp11(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size,
                 void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, kAlpn, kAlpnSize, in, in_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// Names and addresses have calls of their own; true when `host` is an address.
bool ExpectHost(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* param = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (NumericAddress(host, 0)) return X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str()) == 1;
  X509_VERIFY_PARAM_set1_host(param, host.data(), host.size());
  return false;
}

}  // namespace

Result<std::shared_ptr<SSL_CTX>> ClientTls::Load() const {
  std::shared_ptr<SSL_CTX> context = NewContext(TLS_client_method());
  if (options_.insecure_skip_verify)
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  else
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, &RememberProblem);
  if (options_.ca.empty())
    SSL_CTX_set_default_verify_paths(context.get());
  else
    TRY(Trust(context.get(), "certificate authority", options_.ca));
  if (options_.certificate.empty() != options_.key.empty())
    return Fail(Code::kInvalid, "a client certificate needs its key, and a key its certificate");
  if (!options_.certificate.empty()) TRY(Show(context.get(), options_.certificate, options_.key));
  SSL_CTX_set_alpn_protos(context.get(), kAlpn, kAlpnSize);
  return context;
}

Result<ssl_st*> ClientTls::NewSession(const std::string& host) {
  const std::string stamp = Stamp(options_.ca) + Stamp(options_.certificate) + Stamp(options_.key);
  if (!context_ || stamp != stamp_) {
    ASSIGN(context_, Load());
    stamp_ = stamp;
  }
  SSL* ssl = SSL_new(context_.get());
  GPUOP_CHECK(ssl != nullptr);
  const std::string& name = options_.server_name.empty() ? host : options_.server_name;
  ExpectPeer(ssl, name);
  if (!ExpectHost(ssl, name)) SSL_set_tlsext_host_name(ssl, name.c_str());
  SSL_set_connect_state(ssl);
  return ssl;
}

Result<std::shared_ptr<SSL_CTX>> ServerTls::Load() const {
  std::shared_ptr<SSL_CTX> context = NewContext(TLS_server_method());
  TRY(Show(context.get(), options_.certificate, options_.key));
  if (!options_.client_ca.empty()) {
    TRY(Trust(context.get(), "client certificate authority", options_.client_ca));
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, &RememberProblem);
  }
  constexpr unsigned char kSessions[] = "gpuop";
  SSL_CTX_set_session_id_context(context.get(), kSessions, sizeof kSessions - 1);
  SSL_CTX_set_alpn_select_cb(context.get(), &ChooseHttp11, nullptr);
  // The cheapest good cipher first, as Kubernetes' own servers choose; clients tend to ask for the longest key.
  SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_ciphersuites(context.get(), "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  return context;
}

Result<> ServerTls::Check() {
  const std::string stamp = Stamp(options_.certificate) + Stamp(options_.key) + Stamp(options_.client_ca);
  if (!context_ || stamp != stamp_) {
    auto loaded = Load();
    if (!loaded && !context_) return std::unexpected(std::move(loaded).error());
    if (loaded) context_ = *std::move(loaded);
    stamp_ = stamp;
  }
  return {};
}

Result<ssl_st*> ServerTls::NewSession() {
  TRY(Check());
  SSL* ssl = SSL_new(context_.get());
  GPUOP_CHECK(ssl != nullptr);
  ExpectPeer(ssl, "");
  SSL_set_accept_state(ssl);
  return ssl;
}

}  // namespace gpuop::net::detail
