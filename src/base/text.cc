#include "base/text.h"

#include <array>
#include <charconv>

namespace gpuop {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kHex = "0123456789abcdef";

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::array<std::int8_t, 256> MakeBase64Values() {
  std::array<std::int8_t, 256> out{};
  out.fill(-1);
  for (std::size_t i = 0; i < kBase64.size(); ++i)
    out[static_cast<unsigned char>(kBase64[i])] = static_cast<std::int8_t>(i);
  return out;
}
constexpr auto kBase64Values = MakeBase64Values();

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  out.push_back(text);
  return out;
}

std::optional<std::pair<std::string_view, std::string_view>> Cut(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair{text.substr(0, at), text.substr(at + 1)};
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string ToLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = Lower(c);
  return out;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (Lower(a[i]) != Lower(b[i])) return false;
  return true;
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
          out += "\\u00";
          out += kHex[byte >> 4U];
          out += kHex[byte & 15U];
        } else {
          out += c;
        }
      }
    }
  }
  return out += '"';
}

std::size_t FindControl(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return i;
  }
  return std::string_view::npos;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "True", "TRUE"})
    if (text == yes) return true;
  for (const std::string_view no : {"0", "f", "F", "false", "False", "FALSE"})
    if (text == no) return false;
  return std::nullopt;
}

std::string Hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::string UuidText(std::string_view bytes) {
  std::string out = Hex(bytes);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) out.insert(at, 1, '-');
  return out;
}

std::string Base64Encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << 16U;
    if (left > 1) group |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 8U;
    if (left > 2) group |= static_cast<unsigned char>(bytes[i + 2]);
    out += kBase64[group >> 18U];
    out += kBase64[(group >> 12U) & 63U];
    out += left > 1 ? kBase64[(group >> 6U) & 63U] : '=';
    out += left > 2 ? kBase64[group & 63U] : '=';
  }
  return out;
}

std::optional<std::string> Base64Decode(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  int have = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    if (c == '=') {
      if (++padding > 2) return std::nullopt;
      continue;
    }
    const int value = kBase64Values[static_cast<unsigned char>(c)];
    if (value < 0 || padding > 0) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(value);
    if (++have < 4) continue;
    out += static_cast<char>(group >> 16U);
    out += static_cast<char>((group >> 8U) & 255U);
    out += static_cast<char>(group & 255U);
    group = 0;
    have = 0;
  }
  if (have == 0) return padding == 0 ? std::optional(out) : std::nullopt;
  if (have + padding != 4 || have == 1) return std::nullopt;
  if (have == 2) {
    if ((group & 15U) != 0) return std::nullopt;
    out += static_cast<char>(group >> 4U);
  } else {
    if ((group & 3U) != 0) return std::nullopt;
    out += static_cast<char>(group >> 10U);
    out += static_cast<char>((group >> 2U) & 255U);
  }
  return out;
}

bool IsUtf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c < 0x80) {
      ++i;
      continue;
    }
    std::size_t more = 0;
    std::uint32_t point = 0;
    std::uint32_t least = 0;
    if ((c & 0xE0U) == 0xC0) {
      more = 1, point = c & 0x1FU, least = 0x80;
    } else if ((c & 0xF0U) == 0xE0) {
      more = 2, point = c & 0x0FU, least = 0x800;
    } else if ((c & 0xF8U) == 0xF0) {
      more = 3, point = c & 0x07U, least = 0x10000;
    } else {
      return false;
    }
    if (bytes.size() - i <= more) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(bytes[i + k]);
      if ((next & 0xC0U) != 0x80) return false;
      point = (point << 6U) | (next & 0x3FU);
    }
    if (point < least || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    i += more + 1;
  }
  return true;
}

std::uint64_t Hash64(std::string_view bytes, std::uint64_t seed) {
  for (const char c : bytes) {
    seed ^= static_cast<unsigned char>(c);
    seed *= 0x100000001b3ULL;
  }
  return seed;
}

}  // namespace gpuop
