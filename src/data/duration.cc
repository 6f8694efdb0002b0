#include "data/duration.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/text.h"

namespace gpuop::data {
namespace {

constexpr std::uint64_t kMax = std::uint64_t{1} << 63U;

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr Unit kUnits[] = {
    {"ns", 1},         {"us", 1000},         {"\xc2\xb5s", 1000},   {"\xce\xbcs", 1000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
};

/// Decimal digits off the front of `rest`; nullopt when they exceed 2^63.
std::optional<std::uint64_t> TakeWhole(std::string_view& rest) {
  std::uint64_t value = 0;
  for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1)) {
    if (value > kMax / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(rest[0] - '0');
    if (value > kMax) return std::nullopt;
  }
  return value;
}

struct Fraction {
  std::uint64_t value = 0;
  double scale = 1;
};
/// Digits behind the point; what does not fit any more is dropped.
Fraction TakeFraction(std::string_view& rest) {
  Fraction out;
  bool full = false;
  for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1)) {
    if (full || out.value > (kMax - 1) / 10) {
      full = true;
      continue;
    }
    const std::uint64_t next = out.value * 10 + static_cast<std::uint64_t>(rest[0] - '0');
    if (next > kMax) {
      full = true;
      continue;
    }
    out.value = next;
    out.scale *= 10;
  }
  return out;
}

std::unexpected<Error> Bad(std::string_view text) {
  return Fail(Code::kInvalid, "time: invalid duration " + Quote(text));
}

/// One "1.5h" off the front of `rest`, in nanoseconds.
Result<std::uint64_t> TakePart(std::string_view& rest, std::string_view text) {
  const std::size_t before = rest.size();
  const auto whole = TakeWhole(rest);
  if (!whole) return Bad(text);
  bool digits = rest.size() != before;
  Fraction fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const std::size_t left = rest.size();
    fraction = TakeFraction(rest);
    digits = digits || rest.size() != left;
  }
  if (!digits) return Bad(text);
  std::size_t n = 0;
  while (n < rest.size() && rest[n] != '.' && !IsDigit(rest[n])) ++n;
  if (n == 0) return Fail(Code::kInvalid, "time: missing unit in duration " + Quote(text));
  const std::string_view name = rest.substr(0, n);
  rest.remove_prefix(n);
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    if (*whole > kMax / unit.nanoseconds) return Bad(text);
    std::uint64_t value = *whole * unit.nanoseconds;
    value += static_cast<std::uint64_t>(static_cast<double>(fraction.value) *
                                        (static_cast<double>(unit.nanoseconds) / fraction.scale));
    if (value > kMax) return Bad(text);
    return value;
  }
  return Fail(Code::kInvalid, "time: unknown unit " + Quote(name) + " in duration " + Quote(text));
}

/// `value` / 10^`digits` without trailing zeros.
std::string Decimal(std::uint64_t value, int digits) {
  std::string fraction;
  for (int i = 0; i < digits; ++i) {
    fraction.insert(fraction.begin(), static_cast<char>('0' + value % 10));
    value /= 10;
  }
  fraction.erase(fraction.find_last_not_of('0') + 1);
  std::string out = std::to_string(value);
  if (!fraction.empty()) out.append(".").append(fraction);
  return out;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Duration::zero();
  if (rest.empty()) return Bad(text);
  std::uint64_t sum = 0;
  while (!rest.empty()) {
    if (rest[0] != '.' && !IsDigit(rest[0])) return Bad(text);
    ASSIGN(const std::uint64_t part, TakePart(rest, text));
    sum += part;
    if (sum > kMax) return Bad(text);
  }
  if (negative) return Duration(static_cast<std::int64_t>(std::uint64_t{0} - sum));
  if (sum > kMax - 1) return Bad(text);
  return Duration(static_cast<std::int64_t>(sum));
}

std::string FormatDuration(Duration span) {
  const std::int64_t count = span.count();
  const std::uint64_t size =
      count < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  const std::string sign = count < 0 ? "-" : "";
  if (size == 0) return "0s";
  if (size < 1000) return sign + std::to_string(size) + "ns";
  if (size < 1'000'000) return sign + Decimal(size, 3) + "\xc2\xb5s";
  if (size < 1'000'000'000) return sign + Decimal(size, 6) + "ms";
  constexpr std::uint64_t kMinute = 60'000'000'000;
  std::string out = Decimal(size % kMinute, 9) + "s";
  const std::uint64_t minutes = size / kMinute;
  if (minutes > 0) out = std::to_string(minutes % 60) + "m" + out;
  if (minutes >= 60) out = std::to_string(minutes / 60) + "h" + out;
  return sign + out;
}

}  // namespace gpuop::data
