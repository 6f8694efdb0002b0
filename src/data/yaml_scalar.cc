#include "data/yaml_scalar.h"

#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/ascii.h"

namespace gpuop::data {
namespace {

/// An integer in base 2, 8, 10 or 16 by its prefix (0b, 0 or 0o, none, 0x).
std::optional<Json> ReadInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    switch (text[1]) {
      case 'x':
      case 'X': base = 16; break;
      case 'b':
      case 'B': base = 2; break;
      default: base = 8;
    }
    text.remove_prefix(base == 8 && text[1] != 'o' && text[1] != 'O' ? 1 : 2);
  }
  std::uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63U;
  if (negative) {
    if (value > kTop) return std::nullopt;
    return Json(static_cast<std::int64_t>(std::uint64_t{0} - value));
  }
  if (value < kTop) return Json(static_cast<std::int64_t>(value));
  return Json(static_cast<double>(value));
}

/// [-+]? ( .digits | digits [. digits?] ) exponent?
bool IsFloat(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool whole = !TakeDigits(text).empty();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (TakeDigits(text).empty() && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !TakeDigits(text).empty() && text.empty();
}

std::optional<Json> ReadFloat(std::string_view text) {
  if (!IsFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(value)) return std::nullopt;
  }
  return Json(value);
}

std::optional<Json> ReadWord(std::string_view text) {
  static constexpr std::string_view kTrue[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  static constexpr std::string_view kFalse[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                                "False", "FALSE", "off", "Off", "OFF"};
  static constexpr std::string_view kNull[] = {"", "~", "null", "Null", "NULL"};
  static constexpr std::string_view kNan[] = {".nan", ".NaN", ".NAN"};
  static constexpr std::string_view kInfinity[] = {".inf", ".Inf", ".INF"};
  const auto in = [](const auto& words, std::string_view word) {
    return std::ranges::find(words, word) != std::end(words);
  };
  if (in(kTrue, text)) return Json(true);
  if (in(kFalse, text)) return Json(false);
  if (in(kNull, text)) return Json(nullptr);
  if (in(kNan, text)) return Json(std::numeric_limits<double>::quiet_NaN());
  if (in(kInfinity, text)) return Json(std::numeric_limits<double>::infinity());
  if (text.starts_with('+') && in(kInfinity, text.substr(1))) return Json(std::numeric_limits<double>::infinity());
  if (text.starts_with('-') && in(kInfinity, text.substr(1))) return Json(-std::numeric_limits<double>::infinity());
  return std::nullopt;
}

/// YYYY-M-D, perhaps with a time behind it.
bool LooksLikeDate(std::string_view text) {
  if (TakeDigits(text).size() != 4 || !text.starts_with('-')) return false;
  text.remove_prefix(1);
  if (TakeDigits(text).empty() || !text.starts_with('-')) return false;
  text.remove_prefix(1);
  return !TakeDigits(text).empty() && (text.empty() || text[0] == 'T' || text[0] == 't' || text[0] == ' ');
}

/// 190:20:30 and 190:20:30.15
bool LooksLikeBase60(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !IsDigit(text[0])) return false;
  text.remove_prefix(std::min(text.find_first_not_of("0123456789_"), text.size()));
  std::size_t parts = 0;
  while (text.starts_with(':')) {
    text.remove_prefix(1);
    const std::string_view digits = TakeDigits(text);
    if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] > '5')) return false;
    ++parts;
  }
  if (text.starts_with('.')) text.remove_prefix(std::min(text.find_first_not_of("0123456789_", 1), text.size()));
  return parts > 0 && text.empty();
}

}  // namespace

std::optional<Json> ResolvePlain(std::string_view text) {
  if (auto word = ReadWord(text)) return word;
  if (text[0] == '.') return ReadFloat(text);
  if (!IsDigit(text[0]) && text[0] != '-' && text[0] != '+') return std::nullopt;
  if (LooksLikeDate(text)) return std::nullopt;
  std::string digits(text);
  std::erase(digits, '_');
  if (auto integer = ReadInteger(digits)) return integer;
  return ReadFloat(digits);
}

bool IsAmbiguousPlain(std::string_view text) { return LooksLikeDate(text) || LooksLikeBase60(text); }

}  // namespace gpuop::data
