#include "net/grpc/message.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text.h"

namespace gpuop::net {
namespace {

constexpr std::size_t kPrefix = 5;
constexpr std::string_view kHex = "0123456789ABCDEF";

struct Unit {
  char letter;
  Duration length;
};
constexpr std::array kUnits = {
    Unit{'n', std::chrono::nanoseconds(1)},  Unit{'u', std::chrono::microseconds(1)},
    Unit{'m', std::chrono::milliseconds(1)}, Unit{'S', std::chrono::seconds(1)},
    Unit{'M', std::chrono::minutes(1)},      Unit{'H', std::chrono::hours(1)},
};
constexpr std::size_t kMostDigits = 8;
constexpr std::int64_t kMost = 99'999'999;

}  // namespace

std::string FrameMessage(std::string_view message) {
  std::string out;
  out.reserve(kPrefix + message.size());
  out += '\0';  // not compressed
  for (unsigned shift = 32; shift > 0; shift -= 8) out += static_cast<char>(message.size() >> (shift - 8) & 0xffU);
  return out.append(message);
}

Result<std::optional<std::string>> MessageReader::Next() {
  if (buffer_.size() < kPrefix) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 1; i < kPrefix; ++i) length = length << 8U | static_cast<unsigned char>(buffer_[i]);
  if (buffer_[0] != 0) return Fail(Code::kUnsupported, "a compressed message");
  if (length > most_)
    return Fail(Code::kTooLarge,
                "a message of " + std::to_string(length) + " bytes; at most " + std::to_string(most_) + " are taken");
  if (buffer_.size() < kPrefix + length) return std::nullopt;
  std::string message = buffer_.substr(kPrefix, length);
  buffer_.erase(0, kPrefix + length);
  if (buffer_.empty()) buffer_.shrink_to_fit();
  return message;
}

std::string EncodeStatusText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', kHex[byte >> 4U], kHex[byte & 0xfU]});
  }
  return out;
}

std::string DecodeStatusText(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string FormatTimeout(Duration limit) {
  const std::int64_t ns = std::max<std::int64_t>(limit.count(), 1);
  for (const Unit& unit : kUnits) {
    const std::int64_t count = ns / unit.length.count() + (ns % unit.length.count() != 0 ? 1 : 0);
    if (count <= kMost) return std::to_string(count) + unit.letter;
  }
  return std::to_string(kMost) + kUnits.back().letter;
}

std::optional<Duration> ParseTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kMostDigits + 1) return std::nullopt;
  const auto* const unit = std::ranges::find(kUnits, text.back(), &Unit::letter);
  const std::string_view digits = text.substr(0, text.size() - 1);
  if (unit == kUnits.end() || !std::ranges::all_of(digits, IsDigit)) return std::nullopt;
  const std::int64_t count = ParseInt(digits).value_or(0);
  // 99,999,999 hours are more than a Duration holds.
  return Duration(std::min(count, Duration::max().count() / unit->length.count() / 2) * unit->length.count());
}

}  // namespace gpuop::net
