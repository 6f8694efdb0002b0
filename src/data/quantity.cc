#include "data/quantity.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/ascii.h"

namespace gpuop::data {
namespace {

using Wide = __int128;
constexpr Wide kMaxWide = (Wide{std::numeric_limits<std::int64_t>::max()} << 64U) | ~std::uint64_t{0};

constexpr const char* kBadFormat =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr const char* kBadSuffix = "unable to parse quantity's suffix";

/// The parts of a quantity's text.
struct Parts {
  bool negative = false;
  std::string_view whole, fraction, suffix;
};

Result<Parts> Take(std::string_view rest) {
  Parts parts;
  if (rest.empty()) return Fail(Code::kInvalid, kBadFormat);
  if (rest[0] == '-' || rest[0] == '+') {
    parts.negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  while (rest.starts_with('0')) rest.remove_prefix(1);
  parts.whole = TakeDigits(rest);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    parts.fraction = TakeDigits(rest);
  }
  parts.suffix = rest;
  std::size_t n = std::min(rest.find_first_not_of("eEinumkKMGTP"), rest.size());
  if (n < rest.size() && (rest[n] == '-' || rest[n] == '+')) ++n;
  rest.remove_prefix(n);
  TakeDigits(rest);
  if (!rest.empty()) return Fail(Code::kInvalid, kBadFormat);
  return parts;
}

struct Suffix {
  Quantity::Format format;
  int base, exponent;
};

constexpr std::string_view kDecimal = "num kMGTPE";
constexpr std::string_view kBinary = "KMGTPE";

std::optional<Suffix> ReadSuffix(std::string_view text) {
  using enum Quantity::Format;
  if (text.empty()) return Suffix{kDecimal, 10, 0};
  if (text.size() == 1) {
    const std::size_t at = data::kDecimal.find(text[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return Suffix{kDecimal, 10, static_cast<int>(at) * 3 - 9};
  }
  if (text.size() == 2 && text[1] == 'i') {
    const std::size_t at = data::kBinary.find(text[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return Suffix{kBinary, 2, static_cast<int>(at + 1) * 10};
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  text.remove_prefix(text[1] == '+' ? 2 : 1);
  int exponent = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Suffix{kExponent, 10, exponent};
}

std::string WideText(Wide value) {
  const bool negative = value < 0;
  std::string out;
  do {
    const auto digit = static_cast<int>(value % 10);
    out.insert(out.begin(), static_cast<char>('0' + (negative ? -digit : digit)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + out : out;
}

/// whole.fraction x 10^exponent in billionths, rounded up; nullopt when it does not fit.
std::optional<Wide> DecimalNano(std::string_view whole, std::string_view fraction, std::int64_t exponent) {
  // The number is the digits, with the point `shift` places after the last whole one.
  const std::int64_t shift = static_cast<std::int64_t>(whole.size()) + exponent + 9;
  Wide value = 0;
  std::int64_t place = 0;
  bool more = false;
  for (const std::string_view part : {whole, fraction}) {
    for (const char c : part) {
      if (place++ >= shift) {
        more = more || c != '0';
        continue;
      }
      if (value > (kMaxWide - 9) / 10) return std::nullopt;
      value = value * 10 + (c - '0');
    }
  }
  for (; value != 0 && place < shift; ++place) {
    if (value > kMaxWide / 10) return std::nullopt;
    value *= 10;
  }
  return value + (more ? 1 : 0);
}

/// Whether the API server repeats the text instead of making a canonical one.
bool StaysAsWritten(const Parts& parts, const Suffix& suffix) {
  const std::string digits = (parts.whole.empty() ? "0" : std::string(parts.whole)) + std::string(parts.fraction);
  const auto count = static_cast<int>(digits.size());
  if (suffix.base == 2) {
    const int precision = 15 - count - suffix.exponent * 3 / 10 - 1;
    std::int64_t value = 0;
    if (!parts.fraction.empty() || precision < 0) return false;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return (value & 7) != 0;
  }
  const std::int64_t scale = std::int64_t{suffix.exponent} - static_cast<std::int64_t>(parts.fraction.size());
  return count <= 18 && scale >= -9 && scale % 3 == 0 && !digits.ends_with("000") && digits[0] != '0';
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  ASSIGN(const Parts parts, Take(text));
  const auto suffix = ReadSuffix(parts.suffix);
  if (!suffix) return Fail(Code::kInvalid, kBadSuffix);
  auto nano = DecimalNano(parts.whole, parts.fraction, suffix->base == 10 ? suffix->exponent : 0);
  Format format = suffix->format;
  if (format == Format::kBinary) {
    // 30 digits hold every amount below the cap; what is finer than a billionth of a unit before scaling is not asked.
    constexpr Wide kCap = Wide{std::numeric_limits<std::int64_t>::max()} * kNano;
    const Wide factor = Wide{1} << static_cast<unsigned>(suffix->exponent);
    nano = !nano || *nano > kCap / factor ? kCap : *nano * factor;
    if (*nano != 0 && *nano < kNano) format = Format::kDecimal;
  }
  if (!nano) return Fail(Code::kInvalid, "the quantity is too large");
  Quantity out(parts.negative ? -*nano : *nano, format);
  if (StaysAsWritten(parts, *suffix)) out.text_ = text;
  return out;
}

std::string Quantity::ToString() const {
  if (!text_.empty()) return text_;
  if (nano_ == 0) return "0";
  const bool whole = nano_ % kNano == 0;
  Wide amount = nano_;
  if (format_ == Format::kBinary && whole && (nano_ >= Wide{1024} * kNano || nano_ <= Wide{-1024} * kNano)) {
    amount /= kNano;
    std::size_t times = 0;
    for (; amount % 1024 == 0 && times < kBinary.size(); ++times) amount /= 1024;
    std::string out = WideText(amount);
    if (times > 0) out.append({kBinary[times - 1], 'i'});
    return out;
  }
  int exponent = -9;
  for (; amount % 1000 == 0; exponent += 3) amount /= 1000;
  std::string out = WideText(amount);
  if (exponent == 0) return out;
  if (format_ == Format::kExponent) return out + "e" + std::to_string(exponent);
  const auto at = static_cast<std::size_t>(exponent / 3 + 3);
  if (at < kDecimal.size()) out += kDecimal[at];
  return out;
}

std::int64_t Quantity::Scaled(std::int64_t unit) const {
  Wide value = nano_ / unit;
  const auto rest = nano_ % unit;
  if (rest != 0) value += rest > 0 ? 1 : -1;
  using Limits = std::numeric_limits<std::int64_t>;
  if (value > Limits::max()) return Limits::max();
  if (value < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(value);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (IsZero()) format_ = other.format_;
  text_.clear();
  if (__builtin_add_overflow(nano_, other.nano_, &nano_)) nano_ = other.nano_ > 0 ? kMaxWide : -kMaxWide;
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  Quantity negative(-other.nano_, other.format_);
  return *this += negative;
}

Result<std::string> CanonicalQuantity(std::string_view text) {
  ASSIGN(const Quantity quantity, Quantity::Parse(text));
  return quantity.ToString();
}

}  // namespace gpuop::data
