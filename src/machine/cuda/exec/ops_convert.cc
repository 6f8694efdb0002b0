// cvt: between all types (PTX ISA §9.7.9, cvt).

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/half.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

/// Flags: rounding in the low bits (Round), then these.
enum Flags : std::uint16_t { kRoundMask = 7, kToInteger = 8, kFlush = 16, kSaturate = 32, kRelu = 64, kFinite = 128 };

Round RoundOf(const Inst& i) { return static_cast<Round>(i.flags & kRoundMask); }

double RoundToInteger(double value, Round round) {
  switch (round) {
    case Round::kNearest: return std::nearbyint(value);
    case Round::kZero: return std::trunc(value);
    case Round::kDown: return std::floor(value);
    case Round::kUp: return std::ceil(value);
    case Round::kAway: return std::round(value);
  }
  return value;
}

/// binary64 to binary32, rounded once in the given way.
float NarrowToFloat(double value, Round round) {
  const auto near = static_cast<float>(value);
  if (round == Round::kNearest || std::isnan(value) || double{near} == value) return near;
  const bool down = round == Round::kDown || (round == Round::kZero && value > 0);
  if (double{near} > value && down) return std::nextafter(near, -INFINITY);
  if (double{near} < value && !down) return std::nextafter(near, INFINITY);
  return near;
}

/// tf32: 10 digits of fraction in a binary32.
std::uint32_t NarrowToTf32(float value, Round round) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fffffffU;
  const std::uint32_t rest = bits & 0x1fffU;
  bits &= ~0x1fffU;
  const bool up =
      round == Round::kAway ? rest >= 0x1000U : rest > 0x1000U || (rest == 0x1000U && (bits & 0x2000U) != 0);
  return up && round != Round::kZero ? bits + 0x2000U : bits;
}

template <class T>
double FlushFloat(T value, const Inst& i) {
  const bool tiny = std::is_same_v<T, float> && std::fabs(value) < std::numeric_limits<float>::min();
  return (i.flags & kFlush) != 0 && tiny ? std::copysign(0.0, static_cast<double>(value)) : static_cast<double>(value);
}

/// A source as binary64, which holds every value of the floating types exactly.
template <Type kFrom>
double LoadFloat(std::uint64_t bits, const Inst& i) {
  if constexpr (kFrom == Type::kF16) return Widen(static_cast<std::uint16_t>(bits), kHalf);
  if constexpr (kFrom == Type::kBf16) return Widen(static_cast<std::uint16_t>(bits), kBfloat);
  if constexpr (kFrom == Type::kF32) return FlushFloat(Get<float>(bits), i);
  return Get<double>(bits);
}

/// A result of a floating type from binary64.
template <Type kTo>
std::uint64_t StoreFloat(double value, const Inst& i) {
  if ((i.flags & kSaturate) != 0) value = value > 0 ? std::min(value, 1.0) : 0;
  if ((i.flags & kRelu) != 0 && value <= 0) value = 0;
  if constexpr (kTo == Type::kF16) return Narrow(value, kHalf, RoundOf(i), (i.flags & kFinite) != 0);
  if constexpr (kTo == Type::kBf16) return Narrow(value, kBfloat, RoundOf(i), (i.flags & kFinite) != 0);
  if constexpr (kTo == Type::kF32) return Put(static_cast<float>(FlushFloat(NarrowToFloat(value, RoundOf(i)), i)));
  return Put(value);
}

template <Type kFrom, Type kTo>
void FloatToFloat(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) {
    double value = LoadFloat<kFrom>(a[l], i);
    if ((i.flags & kToInteger) != 0) value = RoundToInteger(value, RoundOf(i));
    d[l] = StoreFloat<kTo>(value, i);
  });
}

/// Out of range: the nearest value. NaN: 0, or for 64 bits the pattern of the smallest signed one (PTX ISA, cvt).
template <Type kFrom, class T>
void FloatToInt(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  constexpr bool kWide = kFrom == Type::kF64 || sizeof(T) == 8;
  ForLanes(m, [&](int l) {
    const double value = RoundToInteger(LoadFloat<kFrom>(a[l], i), RoundOf(i));
    constexpr double kLeast = static_cast<double>(std::numeric_limits<T>::min());
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (std::isnan(value))
      d[l] = kWide ? Put<T>(static_cast<T>(std::uint64_t{1} << (sizeof(T) * 8 - 1))) : 0;
    else if (value >= beyond)
      d[l] = Put<T>(std::numeric_limits<T>::max());
    else if (value <= kLeast)
      d[l] = Put<T>(std::numeric_limits<T>::min());
    else
      d[l] = Put<T>(static_cast<T>(value));
  });
}

/// The host rounds as asked while it converts 64-bit integers, which binary64 does not hold exactly.
class Rounding {
 public:
  explicit Rounding(Round round) {
    constexpr std::array kModes = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    std::fesetround(kModes[static_cast<std::size_t>(round)]);
  }
  ~Rounding() { std::fesetround(FE_TONEAREST); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;
};

template <class T, Type kTo>
void IntToFloat(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  if constexpr (kTo == Type::kF32 || kTo == Type::kF64) {
    using F = std::conditional_t<kTo == Type::kF32, float, double>;
    const Rounding rounding(RoundOf(i));
    ForLanes(m, [&](int l) {
      const auto value = static_cast<F>(Get<T>(a[l]));
      d[l] = Put((i.flags & kSaturate) != 0 ? std::clamp<F>(value, 0, 1) : value);
    });
  } else {
    ForLanes(m, [&](int l) {
      const T value = Get<T>(a[l]);
      auto wide = static_cast<double>(value);
      if constexpr (sizeof(T) == 8) {
        // binary64 does not hold all of these: in two parts, so that the result is rounded once.
        const T low = value & 0xfff;
        wide = FusedForNarrowing(static_cast<double>(value - low), 1, static_cast<double>(low));
      }
      d[l] = StoreFloat<kTo>(wide, i);
    });
  }
}

template <class From, class To>
void IntToInt(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) {
    const From value = Get<From>(a[l]);
    if ((i.flags & kSaturate) == 0)
      d[l] = Put<To>(static_cast<To>(value));
    else if (std::cmp_less(value, std::numeric_limits<To>::min()))
      d[l] = Put<To>(std::numeric_limits<To>::min());
    else if (std::cmp_greater(value, std::numeric_limits<To>::max()))
      d[l] = Put<To>(std::numeric_limits<To>::max());
    else
      d[l] = Put<To>(static_cast<To>(value));
  });
}

/// Two sources into one packed result: a is the upper half.
template <Type kTo>
void Pack(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) {
    d[l] = StoreFloat<kTo>(LoadFloat<Type::kF32>(b[l], i), i) | StoreFloat<kTo>(LoadFloat<Type::kF32>(a[l], i), i)
                                                                    << 16;
  });
}
template <bool kE5>
void PackBytes(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  const auto one = [&](std::uint64_t bits) {
    double value = Get<float>(bits);
    if ((i.flags & kRelu) != 0 && value <= 0) value = 0;
    return std::uint64_t{Narrow(value, kE5 ? kE5m2 : kE4m3, Round::kNearest, true)};
  };
  ForLanes(m, [&](int l) { d[l] = one(b[l]) | one(a[l]) << 8; });
}
template <bool kE5>
void UnpackBytes(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  const auto one = [&](std::uint64_t bits) {
    return StoreFloat<Type::kF16>(Widen(static_cast<std::uint16_t>(bits & 0xffU), kE5 ? kE5m2 : kE4m3), i);
  };
  ForLanes(m, [&](int l) { d[l] = one(a[l]) | one(a[l] >> 8) << 16; });
}
void ToTf32(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) { d[l] = NarrowToTf32(Get<float>(a[l]), RoundOf(i)); });
}

template <Type kFrom>
Handler FromFloat(Type to) {
  switch (to) {
    case Type::kF16: return &FloatToFloat<kFrom, Type::kF16>;
    case Type::kBf16: return &FloatToFloat<kFrom, Type::kBf16>;
    case Type::kF32: return &FloatToFloat<kFrom, Type::kF32>;
    case Type::kF64: return &FloatToFloat<kFrom, Type::kF64>;
    case Type::kU8: return &FloatToInt<kFrom, std::uint8_t>;
    case Type::kS8: return &FloatToInt<kFrom, std::int8_t>;
    case Type::kU16: return &FloatToInt<kFrom, std::uint16_t>;
    case Type::kS16: return &FloatToInt<kFrom, std::int16_t>;
    case Type::kU32: return &FloatToInt<kFrom, std::uint32_t>;
    case Type::kS32: return &FloatToInt<kFrom, std::int32_t>;
    case Type::kU64: return &FloatToInt<kFrom, std::uint64_t>;
    case Type::kS64: return &FloatToInt<kFrom, std::int64_t>;
    default: return nullptr;
  }
}
template <class T>
Handler FromInt(Type to) {
  switch (to) {
    case Type::kF16: return &IntToFloat<T, Type::kF16>;
    case Type::kBf16: return &IntToFloat<T, Type::kBf16>;
    case Type::kF32: return &IntToFloat<T, Type::kF32>;
    case Type::kF64: return &IntToFloat<T, Type::kF64>;
    case Type::kU8: return &IntToInt<T, std::uint8_t>;
    case Type::kS8: return &IntToInt<T, std::int8_t>;
    case Type::kU16: return &IntToInt<T, std::uint16_t>;
    case Type::kS16: return &IntToInt<T, std::int16_t>;
    case Type::kU32: return &IntToInt<T, std::uint32_t>;
    case Type::kS32: return &IntToInt<T, std::int32_t>;
    case Type::kU64: return &IntToInt<T, std::uint64_t>;
    case Type::kS64: return &IntToInt<T, std::int64_t>;
    default: return nullptr;
  }
}
Handler Conversion(Type from, Type to) {
  switch (from) {
    case Type::kF16: return FromFloat<Type::kF16>(to);
    case Type::kBf16: return FromFloat<Type::kBf16>(to);
    case Type::kF32: return FromFloat<Type::kF32>(to);
    case Type::kF64: return FromFloat<Type::kF64>(to);
    case Type::kU8: return FromInt<std::uint8_t>(to);
    case Type::kS8: return FromInt<std::int8_t>(to);
    case Type::kU16: return FromInt<std::uint16_t>(to);
    case Type::kS16: return FromInt<std::int16_t>(to);
    case Type::kU32: return FromInt<std::uint32_t>(to);
    case Type::kS32: return FromInt<std::int32_t>(to);
    case Type::kU64: return FromInt<std::uint64_t>(to);
    case Type::kS64: return FromInt<std::int64_t>(to);
    default: return nullptr;
  }
}

std::uint16_t TakeFlags(Builder& b) {
  std::uint16_t flags = 0;
  const std::array<std::pair<const char*, Round>, 5> kRounds = {{{".rn", Round::kNearest},
                                                                 {".rz", Round::kZero},
                                                                 {".rm", Round::kDown},
                                                                 {".rp", Round::kUp},
                                                                 {".rna", Round::kAway}}};
  for (const auto& [name, round] : kRounds) {
    if (b.Take(name)) flags |= static_cast<std::uint16_t>(round);
    if (b.Take(std::string(name) + "i")) flags |= static_cast<std::uint16_t>(round) | kToInteger;
  }
  if (b.Take(".ftz")) flags |= kFlush;
  if (b.Take(".sat")) flags |= kSaturate;
  if (b.Take(".relu")) flags |= kRelu;
  if (b.Take(".satfinite")) flags |= kFinite;
  return flags;
}

void Convert(Builder& b) {
  const std::uint16_t flags = TakeFlags(b);
  const Type to = b.TakeType(), from = b.TakeType();
  b.NeedOperands(2, 3);
  if (b.operands() == 3) {
    Handler run = nullptr;
    if (to == Type::kF16x2) run = &Pack<Type::kF16>;
    if (to == Type::kBf16x2) run = &Pack<Type::kBf16>;
    if (to == Type::kE4m3x2) run = &PackBytes<false>;
    if (to == Type::kE5m2x2) run = &PackBytes<true>;
    if (run == nullptr || from != Type::kF32) return b.Mismatch();
    return b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, from), .b = b.Src(2, from), .flags = flags});
  }
  Handler run = Conversion(from, to);
  if (to == Type::kTf32 && from == Type::kF32) run = &ToTf32;
  if (to == Type::kF16x2 && from == Type::kE4m3x2) run = &UnpackBytes<false>;
  if (to == Type::kF16x2 && from == Type::kE5m2x2) run = &UnpackBytes<true>;
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, from), .flags = flags});
}

constexpr std::array kOps = {Op{"cvt", Class::kAny, Convert}};

}  // namespace

std::span<const Op> ConvertOps() { return kOps; }

}  // namespace gpuop::machine::exec
