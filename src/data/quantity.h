#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::data {

/// An amount as Kubernetes writes it: "100m", "1.5Gi", "4", "1e3". Exact to a billionth; amounts round away from zero,
/// so that whoever asks for a little gets a little. Binary amounts are capped at 2^63-1 as the API server does.
class Quantity {
 public:
  /// Which family of suffixes a quantity is written with.
  enum class Format : std::uint8_t { kDecimal, kBinary, kExponent };

  Quantity() = default;

  /// Reads any of Kubernetes' forms. Errors (kInvalid) are in the API server's words; beyond that, magnitudes of
  /// 1.7e29 and more are refused.
  static Result<Quantity> Parse(std::string_view text);
  static Quantity Of(std::int64_t value, Format format = Format::kDecimal) { return {Nano{value} * kNano, format}; }
  static Quantity OfMilli(std::int64_t milli) { return {Nano{milli} * 1'000'000, Format::kDecimal}; }

  /// The form that the API server answers with: the largest suffix that needs no fraction ("0.5" is "500m"), but a few
  /// forms stay as written ("1.125", "100e3"), exactly where its own reader leaves them.
  std::string ToString() const;

  /// Rounded away from zero; the nearest int64 when it does not fit.
  std::int64_t Value() const { return Scaled(kNano); }
  std::int64_t MilliValue() const { return Scaled(1'000'000); }
  bool IsZero() const { return nano_ == 0; }
  int Sign() const { return nano_ > 0 ? 1 : nano_ < 0 ? -1 : 0; }
  Format format() const { return format_; }

  /// Keep this quantity's format unless it is zero. Saturate at the ends of the range.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  /// By amount: "1" equals "1000m".
  std::strong_ordering operator<=>(const Quantity& other) const {
    return nano_ < other.nano_   ? std::strong_ordering::less
           : nano_ > other.nano_ ? std::strong_ordering::greater
                                 : std::strong_ordering::equal;
  }
  bool operator==(const Quantity& other) const { return nano_ == other.nano_; }

 private:
  using Nano = __int128;
  static constexpr std::int64_t kNano = 1'000'000'000;

  Quantity(Nano nano, Format format) : nano_(nano), format_(format) {}
  std::int64_t Scaled(std::int64_t unit) const;

  Nano nano_ = 0;
  Format format_ = Format::kDecimal;
  /// The text as written, where the API server would repeat it; else empty.
  std::string text_;
};

/// The canonical form of a quantity's text.
Result<std::string> CanonicalQuantity(std::string_view text);

}  // namespace gpuop::data
