#include "data/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "data/duration.h"
#include "data/regex.h"

namespace gpuop::data {
namespace {

bool Matches(const char* pattern, std::string_view text) {
  static std::map<const char*, Regex> compiled;
  static Mutex mu;
  Lock l(mu);
  auto it = compiled.find(pattern);
  if (it == compiled.end()) it = compiled.emplace(pattern, Regex::Compile(pattern).value()).first;
  return it->second.Search(text);
}

bool IsHex(char c) { return HexDigit(c) >= 0; }

/// Leading zeros in a part are passed over, as the API server's reader does.
bool IsAddress(int family, std::string_view text) {
  if (family == AF_INET)
    return Matches("^0*(\\d{1,2}|1\\d\\d|2[0-4]\\d|25[0-5])(\\.0*(\\d{1,2}|1\\d\\d|2[0-4]\\d|25[0-5])){3}$", text);
  unsigned char bytes[16];
  return inet_pton(family, std::string(text).c_str(), bytes) == 1;
}

bool IsCidr(std::string_view text) {
  const auto parts = Cut(text, '/');
  if (!parts) return false;
  const auto bits = ParseInt(parts->second);
  if (!bits || *bits < 0 || parts->second.starts_with('+')) return false;
  return (IsAddress(AF_INET, parts->first) && *bits <= 32) || (IsAddress(AF_INET6, parts->first) && *bits <= 128);
}

bool IsMac(std::string_view text) {
  if (Matches("^[0-9a-fA-F]{4}(\\.[0-9a-fA-F]{4}){2}$", text) ||
      Matches("^[0-9a-fA-F]{4}(\\.[0-9a-fA-F]{4}){3}$", text))
    return true;
  const char separator = text.size() > 2 ? text[2] : ':';
  const auto parts = Split(text, separator);
  return (separator == ':' || separator == '-') && (parts.size() == 6 || parts.size() == 8 || parts.size() == 20) &&
         std::ranges::all_of(parts, [](std::string_view p) { return p.size() == 2 && IsHex(p[0]) && IsHex(p[1]); });
}

bool IsDate(std::string_view text) {
  return text.size() == 10 && ParseTime(std::string(text) + "T00:00:00Z").has_value();
}

/// RFC 3339, whose letters may be small.
bool IsTime(std::string_view text) {
  if (text.size() < 11 || (text[10] != 'T' && text[10] != 't')) return false;
  std::string upper(text);
  for (char& c : upper)
    if (c == 't' || c == 'z') c = static_cast<char>(c - 'a' + 'A');
  return ParseTime(upper).has_value();
}

/// Go's form, or a number and a unit's name ("3 weeks").
bool IsDuration(std::string_view text) {
  constexpr const char* kNamed =
      "^(?:\\d+\\s*(?:(?:nano|micro|milli)(?:s|sec|secs|second|seconds)?|[nuµm]s|s|secs?|seconds?|m|mins?|minutes?|h|"
      "hrs?|"
      "hours?|d|days?|w|wks?|weeks?)\\s*)+$";
  return ParseDuration(text).has_value() || Matches(kNamed, text);
}

std::string Digits(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '-') out += c;
  return out;
}

bool IsIsbn10(std::string_view text) {
  const std::string digits = Digits(text);
  if (!Matches("^[0-9]{9}[0-9X]$", digits)) return false;
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    const char c = digits[static_cast<std::size_t>(i)];
    sum += (i + 1) * (c == 'X' ? 10 : c - '0');
  }
  return sum % 11 == 0;
}

bool IsIsbn13(std::string_view text) {
  const std::string digits = Digits(text);
  if (!Matches("^[0-9]{13}$", digits)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 13; ++i) sum += (digits[i] - '0') * (i % 2 == 0 ? 1 : 3);
  return sum % 10 == 0;
}

/// The numbers of card companies, by beginning and length, with Luhn's check digit.
bool IsCreditCard(std::string_view text) {
  const std::string digits = Digits(text);
  constexpr const char* kCompanies =
      "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|"
      "6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}|"
      "6[27][0-9]{14})$";
  if (!Matches(kCompanies, digits)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int digit = (digits[digits.size() - 1 - i] - '0') * (i % 2 == 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 == 0;
}

/// An absolute URI, or a path from the root, without a fragment (Go's url.ParseRequestURI).
bool IsUri(std::string_view text) {
  const bool clean = std::ranges::none_of(text, [](char c) { return c < 0x20 || c == ' ' || c == 0x7f; });
  if (text.empty() || !clean || Matches("%(?:[^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)", text)) return false;
  if (text.starts_with('/')) return true;
  if (!Matches("^[A-Za-z][A-Za-z0-9+.-]*:", text)) return false;
  return !Matches("^[^:]*://[^/?#]*:[^0-9/?#\\]][^/?#\\]]*(?:[/?#]|$)", text);
}

// https://datatracker.ietf.org/doc/html/rfc5322#section-3.4: one mailbox, with or without a name before it.
bool IsEmail(std::string_view text) {
#define GPUOP_ATOM "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\x80-\\x{10ffff}-]+"
  constexpr const char* kMailbox =
      "^(?:" GPUOP_ATOM "(?:\\." GPUOP_ATOM ")*|\"(?:[^\"\\\\]|\\\\.)*\")@" GPUOP_ATOM "(?:\\." GPUOP_ATOM ")*$";
#undef GPUOP_ATOM
  text = Trim(text);
  if (text.ends_with('>'))
    if (const auto open = text.rfind('<'); open != std::string_view::npos)
      text = text.substr(open + 1, text.size() - open - 2);
  return Matches(kMailbox, text);
}

/// What a pattern decides.
struct PatternFormat {
  std::string_view format;
  const char* pattern;
};
constexpr PatternFormat kPatterns[] = {
    {"hostname", "^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,62})$"},
    {"uuid", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
    {"uuid3", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
    {"uuid4", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
    {"uuid5", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
    {"ssn", "^[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}$"},
    {"hexcolor", "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"},
    {"rgbcolor",
     "^rgb\\(\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,"
     "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*\\)$"},
    {"bsonobjectid", "^[0-9a-fA-F]{24}$"},
    {"k8s-short-name", "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$"},
    {"k8s-long-name", "^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$"},
};

struct CheckedFormat {
  std::string_view format;
  bool (*matches)(std::string_view text);
};
constexpr CheckedFormat kChecked[] = {
    {"date-time", IsTime},
    {"datetime", IsTime},
    {"date", IsDate},
    {"duration", IsDuration},
    {"byte",
     [](std::string_view text) { return !text.empty() && text.size() % 4 == 0 && Base64Decode(text).has_value(); }},
    {"ipv4",
     [](std::string_view text) {
       return IsAddress(AF_INET, text) || (text.starts_with("::ffff:") && IsAddress(AF_INET, text.substr(7)));
     }},
    {"ipv6", [](std::string_view text) { return IsAddress(AF_INET6, text); }},
    {"cidr", IsCidr},
    {"mac", IsMac},
    {"email", IsEmail},
    {"uri", IsUri},
    {"isbn", [](std::string_view text) { return IsIsbn10(text) || IsIsbn13(text); }},
    {"isbn10", IsIsbn10},
    {"isbn13", IsIsbn13},
    {"creditcard", IsCreditCard},
};

}  // namespace

bool MatchesFormat(std::string_view format, std::string_view text) {
  for (const CheckedFormat& checked : kChecked)
    if (checked.format == format) return checked.matches(text);
  for (const PatternFormat& by : kPatterns)
    if (by.format == format) return Matches(by.pattern, text);
  return true;
}

}  // namespace gpuop::data
