#include "net/certificates.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

#include "net/detail/core.h"

namespace gpuop::net {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

std::string TakeText(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<KeyPair> Written(X509* certificate, EVP_PKEY* key) {
  const Bio c(BIO_new(BIO_s_mem()), &BIO_free);
  const Bio k(BIO_new(BIO_s_mem()), &BIO_free);
  if (PEM_write_bio_X509(c.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(k.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return Fail(Code::kInternal, "write a certificate as PEM");
  return KeyPair{.certificate = TakeText(c.get()), .key = TakeText(k.get())};
}

void AddName(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

std::time_t Seconds(WallTime t) {
  return std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(t));
}

// Everything but extensions, issuer and signature.
Result<Certificate> Blank(const CertificateRequest& request, EVP_PKEY* key) {
  Certificate c(X509_new(), &X509_free);
  unsigned char serial[16];
  if (RAND_bytes(serial, sizeof serial) != 1) return Fail(Code::kInternal, "no random bytes for a serial number");
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(c.get()));
  BN_free(number);
  X509_set_version(c.get(), X509_VERSION_3);
  ASN1_TIME_set(X509_getm_notBefore(c.get()), Seconds(request.not_before));
  ASN1_TIME_set(X509_getm_notAfter(c.get()), Seconds(request.not_after));
  X509_set_pubkey(c.get(), key);
  X509_NAME* subject = X509_get_subject_name(c.get());
  for (const std::string& o : request.organizations) AddName(subject, "O", o);
  AddName(subject, "CN", request.common_name);
  return c;
}

Result<std::string> AlternativeNames(const std::vector<std::string>& hosts) {
  std::string names;
  for (const std::string& host : hosts) {
    if (host.find_first_of(", \n") != std::string::npos) return Fail(Code::kInvalid, "\"" + host + "\" is not a host");
    names += names.empty() ? "" : ",";
    names += (detail::NumericAddress(host, 0) ? "IP:" : "DNS:") + host;
  }
  return names;
}

Result<KeyPair> Sign(X509* certificate, EVP_PKEY* own_key, X509* issuer, EVP_PKEY* issuer_key) {
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  if (X509_sign(certificate, issuer_key, EVP_sha256()) == 0) {
    ERR_clear_error();
    return Fail(Code::kInternal, "sign a certificate");
  }
  return Written(certificate, own_key);
}

}  // namespace

Result<KeyPair> MakeAuthority(const std::string& common_name, WallTime not_before, WallTime not_after) {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  if (!key) return Fail(Code::kInternal, "make a P-256 key");
  const CertificateRequest request{
      .common_name = common_name, .organizations = {}, .hosts = {}, .not_before = not_before, .not_after = not_after};
  ASSIGN(const Certificate c, Blank(request, key.get()));
  if (!AddExtension(c.get(), c.get(), NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(c.get(), c.get(), NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature") ||
      !AddExtension(c.get(), c.get(), NID_subject_key_identifier, "hash"))
    return Fail(Code::kInternal, "add extensions to a certificate authority");
  return Sign(c.get(), key.get(), c.get(), key.get());
}

Result<KeyPair> MakeCertificate(const KeyPair& authority, const CertificateRequest& request) {
  const Bio ca_text(BIO_new_mem_buf(authority.certificate.data(), static_cast<int>(authority.certificate.size())),
                    &BIO_free);
  const Bio ca_key_text(BIO_new_mem_buf(authority.key.data(), static_cast<int>(authority.key.size())), &BIO_free);
  const Certificate ca(PEM_read_bio_X509(ca_text.get(), nullptr, nullptr, nullptr), &X509_free);
  const Key ca_key(PEM_read_bio_PrivateKey(ca_key_text.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  if (!ca || !ca_key) return Fail(Code::kInvalid, "the authority is not a PEM certificate with its key");
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  if (!key) return Fail(Code::kInternal, "make a P-256 key");
  ASSIGN(const Certificate c, Blank(request, key.get()));
  ASSIGN(const std::string names, AlternativeNames(request.hosts));
  if (!AddExtension(c.get(), ca.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(c.get(), ca.get(), NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(c.get(), ca.get(), NID_ext_key_usage, "serverAuth,clientAuth") ||
      !AddExtension(c.get(), ca.get(), NID_authority_key_identifier, "keyid") ||
      (!names.empty() && !AddExtension(c.get(), ca.get(), NID_subject_alt_name, names)))
    return Fail(Code::kInternal, "add extensions to a certificate");
  return Sign(c.get(), key.get(), ca.get(), ca_key.get());
}

}  // namespace gpuop::net
