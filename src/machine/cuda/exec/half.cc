#include "machine/cuda/exec/half.h"

#include <bit>
#include <cmath>

namespace gpuop::machine::exec {
namespace {

std::uint16_t Largest(SmallFloat format) {
  const unsigned all = (1U << (format.exponent_bits + format.fraction_bits)) - 1;
  // With infinities the exponent of all ones is theirs; without, only the very last pattern is taken.
  return static_cast<std::uint16_t>(format.infinity ? all - (1U << format.fraction_bits) : all - 1);
}

std::uint16_t TooLarge(bool negative, SmallFloat format, Round round, bool saturate) {
  const bool inward =
      round == Round::kZero || (round == Round::kDown && !negative) || (round == Round::kUp && negative);
  return static_cast<std::uint16_t>(saturate || inward ? Largest(format) : Largest(format) + 1);
}

bool RoundsUp(std::uint64_t kept, std::uint64_t rest, std::uint64_t half, bool negative, Round round) {
  switch (round) {
    case Round::kNearest: return rest > half || (rest == half && (kept & 1U) != 0);
    case Round::kAway: return rest >= half;
    case Round::kZero: return false;
    case Round::kDown: return rest != 0 && negative;
    case Round::kUp: return rest != 0 && !negative;
  }
  return false;
}

}  // namespace

std::uint16_t Narrow(double value, SmallFloat format, Round round, bool saturate) {
  const bool negative = std::signbit(value);
  const unsigned sign = negative ? 1U << (format.exponent_bits + format.fraction_bits) : 0;
  // CUDA's canonical NaNs have every bit but the sign set.
  if (std::isnan(value)) return static_cast<std::uint16_t>((1U << (format.exponent_bits + format.fraction_bits)) - 1);
  if (std::isinf(value)) {
    const unsigned bits = saturate || !format.infinity ? Largest(format) + (saturate ? 0U : 1U) : Largest(format) + 1U;
    return static_cast<std::uint16_t>(sign | bits);
  }
  if (value == 0) return static_cast<std::uint16_t>(sign);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // [0.5, 1)
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  --exponent;  // 1.x * 2^exponent
  // How many of the 53 digits are cut off; subnormal results lose more.
  int cut = 52 - format.fraction_bits;
  const bool subnormal = exponent < 1 - bias;
  if (subnormal) cut += 1 - bias - exponent;
  std::uint64_t kept = 0, rest = 1, half = 2;
  if (cut < 64) {
    kept = cut > 53 ? 0 : digits >> cut;
    rest = digits & ((std::uint64_t{1} << cut) - 1);
    half = std::uint64_t{1} << (cut - 1);
  }
  if (RoundsUp(kept, rest, half, negative, round)) ++kept;
  // A carry moves the exponent up by itself: the fields lie side by side.
  std::uint64_t bits = kept;
  if (!subnormal) bits += static_cast<std::uint64_t>(exponent + bias - 1) << format.fraction_bits;
  if (exponent > bias + 1 || bits > Largest(format)) bits = TooLarge(negative, format, round, saturate);
  return static_cast<std::uint16_t>(sign | bits);
}

double Widen(std::uint16_t bits, SmallFloat format) {
  const unsigned fraction = bits & ((1U << format.fraction_bits) - 1);
  const unsigned top = (1U << format.exponent_bits) - 1;
  const unsigned exponent = (bits >> format.fraction_bits) & top;
  const bool negative = ((bits >> (format.exponent_bits + format.fraction_bits)) & 1U) != 0;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  double value = 0;
  if (exponent == top && format.infinity) {
    value = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == top && fraction == (1U << format.fraction_bits) - 1) {
    value = NAN;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - bias - format.fraction_bits);
  } else {
    value =
        std::ldexp(fraction + (1U << format.fraction_bits), static_cast<int>(exponent) - bias - format.fraction_bits);
  }
  return negative ? -value : value;
}

double FusedForNarrowing(double a, double b, double c) {
  const double product = a * b;  // exact
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  // Knuth's exact error of the sum; round to odd when there is one.
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1U) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  bits += away ? 1 : std::uint64_t(-1);
  return std::bit_cast<double>(bits);
}

}  // namespace gpuop::machine::exec
