#pragma once
// Small floating-point formats as bits.

#include <cstdint>

namespace gpuop::machine::exec {

enum class Round : std::uint8_t { kNearest, kZero, kDown, kUp, kAway };

/// A binary format of at most 16 bits.
struct SmallFloat {
  int exponent_bits = 5, fraction_bits = 10;
  bool infinity = true;  ///< e4m3 has none: only the largest pattern is NaN
};
inline constexpr SmallFloat kHalf{5, 10}, kBfloat{8, 7}, kE4m3{4, 3, false}, kE5m2{5, 2};

/// `value` rounded once. `saturate`: what is too large, infinities included, becomes the largest finite value.
std::uint16_t Narrow(double value, SmallFloat format, Round round = Round::kNearest, bool saturate = false);
double Widen(std::uint16_t bits, SmallFloat format);

inline std::uint16_t ToHalf(double value) { return Narrow(value, kHalf); }
inline std::uint16_t ToBfloat(double value) { return Narrow(value, kBfloat); }

/// a * b + c so rounded to binary64 that rounding once more to a narrower format is rounding once: a and b have at
/// most 26 significant bits.
double FusedForNarrowing(double a, double b, double c);

}  // namespace gpuop::machine::exec
