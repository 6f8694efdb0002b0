#include <arpa/inet.h>

#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "net/url.h"

namespace gpuop::net {
namespace {

// The bytes of an address: 4 or 16, or none when it is a name.
std::string AddressBytes(const std::string& host) {
  char bytes[16];
  if (inet_pton(AF_INET, host.c_str(), bytes) == 1) return {bytes, 4};
  if (inet_pton(AF_INET6, host.c_str(), bytes) == 1) return {bytes, 16};
  return {};
}

bool IsLoopback(const Url& url) {
  if (url.scheme == "unix" || url.host == "localhost") return true;
  const std::string bytes = AddressBytes(url.host);
  if (bytes.size() == 4) return bytes[0] == 127;
  return bytes.size() == 16 && bytes == std::string(15, '\0') + '\1';
}

bool InNetwork(const std::string& address, std::string_view network) {
  const auto cut = Cut(network, '/');
  if (!cut) return false;
  const std::string base = AddressBytes(std::string(cut->first));
  const auto bits = ParseInt(cut->second);
  if (base.empty() || base.size() != address.size() || !bits || *bits < 0 || *bits > static_cast<int>(base.size() * 8))
    return false;
  for (int i = 0; i < *bits; ++i) {
    const auto at = static_cast<std::size_t>(i / 8);
    const int mask = 0x80 >> (i % 8);
    if ((base[at] & mask) != (address[at] & mask)) return false;
  }
  return true;
}

// Takes ":port" off an entry; false when it names another port.
bool PortFits(std::string& entry, std::uint16_t port) {
  if (!AddressBytes(entry).empty()) return true;  // an IPv6 address has colons of its own
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string::npos) return true;
  const auto number = ParseInt(std::string_view(entry).substr(colon + 1));
  if (!number) return true;
  entry.resize(colon);
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  return *number == port;
}

bool Excludes(std::string entry, const Url& url) {
  if (entry.empty()) return false;
  if (entry == "*") return true;
  const std::string address = AddressBytes(url.host);
  if (entry.find('/') != std::string::npos) return !address.empty() && InNetwork(address, entry);
  if (!PortFits(entry, url.port)) return false;
  if (!address.empty()) return AddressBytes(entry) == address;
  const std::string host = ToLower(url.host);
  if (entry.starts_with("*.")) entry.erase(0, 1);
  if (entry.starts_with('.')) return host.ends_with(entry);
  return host == entry || host.ends_with("." + entry);
}

std::string Either(const GetEnv& env, const std::string& upper) {
  std::string value = env(upper);
  return value.empty() ? env(ToLower(upper)) : value;
}

}  // namespace

std::string ProcessEnv(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

std::string ProxyFromEnvironment(const Url& url, const GetEnv& env) {
  if (IsLoopback(url)) return "";
  std::string proxy = Either(env, url.tls() ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy.empty()) return "";
  const std::string exceptions = Either(env, "NO_PROXY");
  for (std::string_view entry : Split(exceptions, ','))
    if (Excludes(ToLower(Trim(entry)), url)) return "";
  return proxy;
}

}  // namespace gpuop::net
