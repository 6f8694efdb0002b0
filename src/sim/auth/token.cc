#include "sim/auth/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

/// RFC 4648 §5 without padding, as RFC 7515 wants it.
std::string Base64Url(std::string_view bytes) {
  std::string out = Base64Encode(bytes);
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  out.erase(std::min(out.find('='), out.size()));
  return out;
}

std::optional<std::string> FromBase64Url(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return Base64Decode(padded);
}

std::string_view View(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::string TokenSigner::Mac(std::string_view text) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), out.data(), &size);
  return Base64Url(View(out.data(), size));
}

std::string TokenSigner::Sign(const json::object& claims) const {
  std::string text = Base64Url(kHeader) + "." + Base64Url(data::ToJson(claims));
  const std::string mac = Mac(text);
  return text + "." + mac;
}

Result<json::object> TokenSigner::Verify(std::string_view token) const {
  const auto bad = [] { return Fail(Code::kUnauthorized, "invalid bearer token"); };
  const std::size_t dot = token.rfind('.');
  if (dot == std::string_view::npos) return bad();
  const std::string mac = Mac(token.substr(0, dot));
  const std::string_view given = token.substr(dot + 1);
  if (given.size() != mac.size() || CRYPTO_memcmp(given.data(), mac.data(), mac.size()) != 0) return bad();
  const auto parts = Cut(token.substr(0, dot), '.');
  if (!parts || parts->first != Base64Url(kHeader)) return bad();
  const auto payload = FromBase64Url(parts->second);
  if (!payload) return bad();
  ASSIGN(const json::value claims, data::ParseJson(*payload));
  if (!claims.is_object()) return bad();
  return claims.get_object();
}

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> out{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), out.data());
  return std::string(View(out.data(), out.size()));
}

std::string Sha256Hex(std::string_view bytes) { return Hex(Sha256(bytes)); }

}  // namespace gpuop::sim
