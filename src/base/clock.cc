#include "base/clock.h"

#include <cstdint>
#include <cstdio>

namespace gpuop {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hh_mm_ss;
using std::chrono::microseconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

std::string Format(WallTime t, bool micros) {
  const auto day = floor<days>(t);
  const year_month_day ymd(day);
  const hh_mm_ss time(floor<microseconds>(t - day));
  char out[80];
  const int y = static_cast<int>(ymd.year());
  const auto mo = static_cast<unsigned>(ymd.month());
  const auto d = static_cast<unsigned>(ymd.day());
  const int h = static_cast<int>(time.hours().count());
  const int mi = static_cast<int>(time.minutes().count());
  const int s = static_cast<int>(time.seconds().count());
  int n = 0;
  if (micros) {
    n = std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", y, mo, d, h, mi, s,
                      static_cast<int>(time.subseconds().count()));
  } else {
    n = std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02dZ", y, mo, d, h, mi, s);
  }
  return {out, static_cast<std::size_t>(n)};
}

/// Takes `count` digits off the front; -1 when they are not there.
int Digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool Take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::int64_t Fraction(std::string_view& text) {
  std::int64_t nanos = 0;
  std::int64_t unit = 100'000'000;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    nanos += unit * (text.front() - '0');
    unit /= 10;
    text.remove_prefix(1);
  }
  return nanos;
}

}  // namespace

std::string FormatTime(WallTime t) { return Format(t, false); }
std::string FormatMicroTime(WallTime t) { return Format(t, true); }

std::optional<WallTime> ParseTime(std::string_view text) {
  const int y = Digits(text, 4);
  if (y < 0 || !Take(text, '-')) return std::nullopt;
  const int mo = Digits(text, 2);
  if (mo < 0 || !Take(text, '-')) return std::nullopt;
  const int d = Digits(text, 2);
  if (d < 0 || !(Take(text, 'T') || Take(text, 't') || Take(text, ' '))) return std::nullopt;
  const int h = Digits(text, 2);
  if (h < 0 || h > 23 || !Take(text, ':')) return std::nullopt;
  const int mi = Digits(text, 2);
  if (mi < 0 || mi > 59 || !Take(text, ':')) return std::nullopt;
  const int s = Digits(text, 2);
  if (s < 0 || s > 60) return std::nullopt;
  std::int64_t nanos = 0;
  if (Take(text, '.')) nanos = Fraction(text);
  int offset_minutes = 0;
  if (!Take(text, 'Z') && !Take(text, 'z')) {
    const bool minus = !text.empty() && text.front() == '-';
    if (!minus && (text.empty() || text.front() != '+')) return std::nullopt;
    text.remove_prefix(1);
    const int oh = Digits(text, 2);
    if (oh < 0 || !Take(text, ':')) return std::nullopt;
    const int om = Digits(text, 2);
    if (om < 0) return std::nullopt;
    offset_minutes = (minus ? -1 : 1) * (oh * 60 + om);
  }
  if (!text.empty()) return std::nullopt;
  const year_month_day ymd{std::chrono::year{y}, std::chrono::month{static_cast<unsigned>(mo)},
                           std::chrono::day{static_cast<unsigned>(d)}};
  if (!ymd.ok()) return std::nullopt;
  return WallTime(sys_days(ymd)) + std::chrono::hours(h) + std::chrono::minutes(mi - offset_minutes) +
         std::chrono::seconds(s) + Duration(nanos);
}

}  // namespace gpuop
