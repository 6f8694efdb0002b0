#include "sim/list_options.h"

#include <fmt/core.h>

#include <charconv>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::sim {
namespace {

using Kind = FieldError::Kind;
using Match = ListOptions::Match;

Status InvalidOption(FieldError error) { return Invalid("meta.k8s.io", "ListOptions", "", {std::move(error)}); }

Status ForbiddenMatch(std::string detail) {
  return InvalidOption({Kind::kForbidden, "resourceVersionMatch", "", std::move(detail)});
}

Answer<std::optional<std::int64_t>> ReadInt(const Request& request, std::string_view name) {
  const auto v = request.Param(name);
  if (!v || v->empty()) return std::nullopt;
  const auto number = ParseInt(*v);
  if (!number)
    return std::unexpected(BadRequest(fmt::format("strconv.ParseInt: parsing {}: invalid syntax", Quote(*v))));
  return number;
}

Answer<> ReadRevision(const Request& request, ListOptions& options) {
  const auto v = request.Param("resourceVersion");
  if (!v || v->empty()) return {};
  std::uint64_t revision = 0;
  const auto [end, error] = std::from_chars(v->data(), v->data() + v->size(), revision);
  if (error != std::errc() || end != v->data() + v->size()) {
    const std::string why = fmt::format(
        "resourceVersion: Invalid value: {}: strconv.ParseUint: parsing {}: invalid syntax", Quote(*v), Quote(*v));
    if (request.verb() == "watch") return std::unexpected(Status{500, "", why, {}, {}});
    return std::unexpected(BadRequest("invalid resource version: " + why));
  }
  options.revision = revision;
  return {};
}

Answer<> ReadMatch(const Request& request, ListOptions& options) {
  const std::string_view match = request.Param("resourceVersionMatch").value_or("");
  const bool watch = request.verb() == "watch";
  if (request.Param("sendInitialEvents")) {
    options.send_initial_events = BoolParam(*request.http, "sendInitialEvents");
    if (!watch)
      return std::unexpected(
          InvalidOption({Kind::kForbidden, "sendInitialEvents", "", "sendInitialEvents is forbidden for list"}));
    if (match != "NotOlderThan")
      return std::unexpected(ForbiddenMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match.empty()) return {};
  if (watch && !options.send_initial_events)
    return std::unexpected(
        ForbiddenMatch("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  if (!watch && !options.revision)
    return std::unexpected(ForbiddenMatch("resourceVersionMatch is forbidden unless resourceVersion is provided"));
  if (!watch && !options.continue_token.empty())
    return std::unexpected(ForbiddenMatch("resourceVersionMatch is forbidden when continue is provided"));
  if (match != "Exact" && match != "NotOlderThan")
    return std::unexpected(InvalidOption({Kind::kNotSupported, "resourceVersionMatch", Quote(match),
                                          "supported values: \"Exact\", \"NotOlderThan\", \"\""}));
  if (match == "Exact" && options.revision.value_or(0) == 0)
    return std::unexpected(ForbiddenMatch("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  options.match = match == "Exact" ? Match::kExact : Match::kNotOlderThan;
  return {};
}

/// RFC 4648 §5 without padding; bits that are left over at the end do not matter.
std::optional<std::string> DecodeBase64Url(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  std::uint32_t bits = 0;
  int have = 0;
  for (char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out += static_cast<char>(bits >> have & 0xff);
  }
  return out;
}

/// A byte in single quotes, as the API server's JSON reader names one that it did not expect.
std::string QuoteByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0xa0)
    return fmt::format("'{}{}'", static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f)));
  if (byte >= 0x7f) return fmt::format("'\\u{:04x}'", byte);
  if (byte < 0x20) return fmt::format("'\\x{:02x}'", byte);
  return fmt::format("'{}'", c);
}

}  // namespace

Answer<ListOptions> ReadListOptions(const Request& request) {
  ListOptions options;
  options.continue_token = request.Param("continue").value_or("");
  ASSIGN(const auto limit, ReadInt(request, "limit"));
  options.limit = static_cast<std::size_t>(std::max<std::int64_t>(limit.value_or(0), 0));
  ASSIGN(options.timeout_seconds, ReadInt(request, "timeoutSeconds"));
  options.bookmarks = BoolParam(*request.http, "allowWatchBookmarks");
  TRY(ReadRevision(request, options));
  TRY(ReadMatch(request, options));
  if (!options.continue_token.empty() && options.revision.value_or(0) != 0)
    return std::unexpected(BadRequest("specifying resource version is not allowed when using continue"));
  ASSIGN(options.filter, ReadFilter(*request.resource, request.Param("labelSelector").value_or(""),
                                    request.Param("fieldSelector").value_or("")));
  return options;
}

std::string EncodeContinue(const ContinueToken& token) {
  std::string json = fmt::format(R"({{"v":"meta.k8s.io/v1","rv":{},"start":)",
                                 token.revision == 0 ? std::string("-1") : std::to_string(token.revision));
  data::AppendJsonString(json, "/" + token.start);
  std::string text = Base64Encode(json + "}");
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (text.ends_with('=')) text.pop_back();
  return text;
}

Answer<ContinueToken> DecodeContinue(std::string_view text) {
  const auto bad = [](std::string_view why) {
    return std::unexpected(BadRequest(fmt::format("invalid continue token: continue key is not valid: {}", why)));
  };
  const auto json = DecodeBase64Url(text);
  if (!json) return bad("illegal base64 data");
  if (!json->starts_with('{'))
    return bad(json->empty()
                   ? "unexpected end of JSON input"
                   : fmt::format("invalid character {} looking for beginning of value", QuoteByte(json->front())));
  const auto parsed = data::ParseJson(*json);
  if (!parsed) return bad(parsed.error().text);
  const auto start = data::GetString(*parsed, "start");
  const auto revision = data::GetInt(*parsed, "rv");
  if (data::StringOr(*parsed, "v") != "meta.k8s.io/v1") return bad("server does not recognize this encoded version");
  if (!start || start->empty() || !revision || *revision == 0) return bad("incorrect encoded start");
  return ContinueToken{*revision < 0 ? 0 : static_cast<std::uint64_t>(*revision),
                       std::string(start->starts_with('/') ? start->substr(1) : *start)};
}

}  // namespace gpuop::sim
