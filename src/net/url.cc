#include "net/url.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/ascii.h"
#include "base/text.h"
#include "net/http.h"

namespace gpuop::net {
namespace {

std::uint16_t UsualPort(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

std::string Bracketed(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

bool IsUnreserved(char c) { return IsAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

// Fills host and port from "host:port", "[v6]:port" or "host".
Result<> ReadHost(std::string_view text, Url& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return Fail(Code::kInvalid, "a bracket is not closed");
    url.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port[0] != ':') return Fail(Code::kInvalid, "something stands between address and port");
  } else {
    const std::size_t colon = text.find(':');
    url.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (url.host.empty()) return Fail(Code::kInvalid, "no host");
  if (FindControl(url.host) != std::string::npos || url.host.find_first_of(" \"<>\\^`{|}") != std::string::npos)
    return Fail(Code::kInvalid, "bad character in the host");
  url.port = UsualPort(url.scheme);
  if (port.size() <= 1) return {};
  const auto number = ParseInt(port.substr(1));
  if (!number || *number < 1 || *number > 65535)
    return Fail(Code::kInvalid, fmt::format("bad port \"{}\"", port.substr(1)));
  url.port = static_cast<std::uint16_t>(*number);
  return {};
}

}  // namespace

std::string Url::HostHeader() const {
  if (scheme == "unix") return "localhost";
  return port == UsualPort(scheme) ? Bracketed(host) : HostAndPort();
}
std::string Url::HostAndPort() const {
  return scheme == "unix" ? "unix:" + host : fmt::format("{}:{}", Bracketed(host), port);
}
std::string Url::Origin() const { return scheme == "unix" ? HostAndPort() : scheme + "://" + HostHeader(); }

Result<Url> ParseUrl(std::string_view text) {
  const std::string doing = "URL " + Quote(text);
  Url url;
  if (text.starts_with("unix:")) {
    url.scheme = "unix";
    url.host = text.substr(text.starts_with("unix://") ? 7 : 5);
    if (!url.host.starts_with('/')) return Fail(Code::kInvalid, doing + ": a socket's path begins with /");
    return url;
  }
  const std::size_t mark = text.find("://");
  url.scheme = mark == std::string_view::npos ? "http" : ToLower(text.substr(0, mark));
  if (url.scheme != "http" && url.scheme != "https")
    return Fail(Code::kInvalid, fmt::format("{}: scheme \"{}\" is neither http nor https", doing, url.scheme));
  if (mark != std::string_view::npos) text.remove_prefix(mark + 3);
  text = text.substr(0, text.find('#'));
  const std::size_t path = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, path);
  const std::string_view rest = text.substr(path);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    auto decoded = PercentDecode(authority.substr(0, at));
    if (!decoded) return Fail(Code::kInvalid, "URL: broken escape in user or password");
    url.userinfo = *std::move(decoded);
    authority.remove_prefix(at + 1);
  }
  if (auto host = ReadHost(authority, url); !host) return std::unexpected(std::move(host).error().During(doing));
  const std::size_t question = rest.find('?');
  url.path = rest.substr(0, question);
  while (url.path.ends_with('/')) url.path.pop_back();
  if (question != std::string_view::npos) url.query = rest.substr(question + 1);
  if (FindControl(rest) != std::string::npos || rest.find(' ') != std::string::npos)
    return Fail(Code::kInvalid, doing + ": bad character in the path");
  return url;
}

std::string PercentEncode(std::string_view text, std::string_view keep) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || keep.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

Result<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return Fail(Code::kInvalid, fmt::format("invalid URL escape \"{}\"", text.substr(i, 3)));
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string EncodeQuery(const QueryPairs& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!out.empty()) out += '&';
    out.append(PercentEncode(name)).append("=").append(PercentEncode(value));
  }
  return out;
}

Result<QueryPairs> DecodeQuery(std::string_view query) {
  QueryPairs pairs;
  for (std::string_view part : Split(query, '&')) {
    if (part.empty()) continue;
    const auto cut = Cut(part, '=');
    ASSIGN(std::string name, PercentDecode(cut ? cut->first : part, true));
    ASSIGN(std::string value, PercentDecode(cut ? cut->second : "", true));
    pairs.emplace_back(std::move(name), std::move(value));
  }
  return pairs;
}

}  // namespace gpuop::net
