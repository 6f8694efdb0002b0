#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gpuop::net {

/// A URL as far as HTTP goes: "https://user:pw@host:6443/base?query", or "unix:/run/x.sock".
struct Url {
  std::string scheme;    ///< "http", "https" or "unix"
  std::string userinfo;  ///< decoded; a secret
  std::string host;      ///< without brackets; for unix the socket's path
  std::uint16_t port = 0;
  std::string path;   ///< still encoded, without a trailing slash: "" or "/base"
  std::string query;  ///< still encoded

  bool tls() const { return scheme == "https"; }
  /// "host:port", with brackets around IPv6; the port is left out where it is the scheme's own.
  std::string HostHeader() const;
  /// "host:port", always with the port.
  std::string HostAndPort() const;
  /// Without userinfo, path and query: "https://host:6443".
  std::string Origin() const;
};

/// Reads a URL. A bare "host:port" is plain http, as client-go has it.
Result<Url> ParseUrl(std::string_view text);

/// Encodes everything but RFC 3986's unreserved characters (and those in `keep`).
std::string PercentEncode(std::string_view text, std::string_view keep = "");
/// Undoes it; kInvalid for a broken escape. `plus_is_space` as in queries.
Result<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);

using QueryPairs = std::vector<std::pair<std::string, std::string>>;
/// "a=1&b=x%20y"
std::string EncodeQuery(const QueryPairs& pairs);
/// The names and values of a query in order; kInvalid for a broken escape.
Result<QueryPairs> DecodeQuery(std::string_view query);

/// Reads one variable of the environment; "" when it is not set.
using GetEnv = std::function<std::string(const std::string&)>;
/// The process's own environment.
std::string ProcessEnv(const std::string& name);

/// The proxy for `url` by HTTPS_PROXY, HTTP_PROXY and NO_PROXY (and their lower-case forms), with the rules of
/// golang.org/x/net/http/httpproxy: loopback is never proxied; NO_PROXY lists hosts (and what is below them),
/// ".domain" (only what is below it), addresses, CIDRs, each with an optional ":port", or "*". "" means none.
std::string ProxyFromEnvironment(const Url& url, const GetEnv& env);

}  // namespace gpuop::net
