// Arithmetic in .f16, .bf16 and their packed pairs (PTX ISA §9.7.4).

#include <algorithm>
#include <array>
#include <cmath>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/half.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

enum Flags : std::uint16_t { kFlush = 1, kSaturate = 2, kRelu = 4, kPacked = 8, kBrain = 16 };

SmallFloat FormatOf(const Inst& i) { return (i.flags & kBrain) != 0 ? kBfloat : kHalf; }

double Load(std::uint64_t bits, const Inst& i) {
  const double value = Widen(static_cast<std::uint16_t>(bits), FormatOf(i));
  return (i.flags & kFlush) != 0 && std::fabs(value) < 0x1p-14 ? std::copysign(0.0, value) : value;
}
std::uint16_t Store(double value, const Inst& i) {
  if ((i.flags & kSaturate) != 0) value = value > 0 ? std::min(value, 1.0) : 0;
  if ((i.flags & kRelu) != 0 && value < 0) value = 0;
  if ((i.flags & kFlush) != 0 && std::fabs(value) < 0x1p-14) value = std::copysign(0.0, value);
  return Narrow(value, FormatOf(i));
}

/// d = Op of one to three values, on one half or on both.
template <auto Op, int kArgs>
void Run(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  const auto half = [&](int l, int shift) -> std::uint64_t {
    const double x = Load(a[l] >> shift, i);
    if constexpr (kArgs == 1) return Store(Op(x), i);
    if constexpr (kArgs == 2) return Store(Op(x, Load(b[l] >> shift, i)), i);
    if constexpr (kArgs == 3) return Store(Op(x, Load(b[l] >> shift, i), Load(c[l] >> shift, i)), i);
  };
  ForLanes(m, [&](int l) { d[l] = half(l, 0) | ((i.flags & kPacked) != 0 ? half(l, 16) << 16 : 0); });
}

/// Sums and products of two small numbers are exact in binary64 but for sums of very different ones, whose lost
/// digits cannot decide a rounding to 11 digits: the larger one has at most that many.
constexpr auto kAdd = [](double a, double b) { return FusedForNarrowing(a, 1, b); };
constexpr auto kSub = [](double a, double b) { return FusedForNarrowing(a, 1, -b); };
constexpr auto kMul = [](double a, double b) { return a * b; };
constexpr auto kFma = [](double a, double b, double c) { return FusedForNarrowing(a, b, c); };
constexpr auto kEx2 = [](double a) { return std::exp2(a); };
constexpr auto kTanh = [](double a) { return std::tanh(a); };
constexpr auto kMin = [](double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
};
constexpr auto kMax = [](double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
};
constexpr auto kMinNan = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : kMin(a, b); };
constexpr auto kMaxNan = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : kMax(a, b); };

std::uint16_t TakeFlags(Builder& b) {
  std::uint16_t flags = 0;
  b.Take(".rn");
  if (b.Take(".ftz")) flags |= kFlush;
  if (b.Take(".sat")) flags |= kSaturate;
  if (b.Take(".relu")) flags |= kRelu;
  return flags;
}
std::uint16_t FlagsOf(Type type) {
  switch (type) {
    case Type::kF16x2: return kPacked;
    case Type::kBf16: return kBrain;
    case Type::kBf16x2: return kBrain | kPacked;
    default: return 0;
  }
}

template <auto Op, int kArgs>
void Build(Builder& b) {
  b.Take(".approx");
  std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  flags |= FlagsOf(type);
  b.NeedOperands(kArgs + 1, kArgs + 1);
  b.Emit({.run = &Run<Op, kArgs>,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .b = kArgs > 1 ? b.Src(2, type) : 0,
          .c = kArgs > 2 ? b.Src(3, type) : 0,
          .flags = flags});
}
template <auto Op, auto Nan>
void MinMax(Builder& b) {
  if (b.Take(".NaN")) return Build<Nan, 2>(b);
  Build<Op, 2>(b);
}

/// Signs are bits: the same for both formats.
template <bool kAbs>
void Sign(Builder& b) {
  b.Take(".ftz");
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  const std::uint64_t bits = ptx::SizeOf(type) == 4 ? 0x80008000U : 0x8000U;
  const Handler run = kAbs ? &Two<std::uint64_t, [](auto x, auto s) { return x & ~s; }>
                           : &Two<std::uint64_t, [](auto x, auto s) { return x ^ s; }>;
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Constant(bits)});
}

constexpr std::array kOps = {
    Op{"add", Class::kHalf, Build<kAdd, 2>},
    Op{"sub", Class::kHalf, Build<kSub, 2>},
    Op{"mul", Class::kHalf, Build<kMul, 2>},
    Op{"fma", Class::kHalf, Build<kFma, 3>},
    Op{"ex2", Class::kHalf, Build<kEx2, 1>},
    Op{"tanh", Class::kHalf, Build<kTanh, 1>},
    Op{"min", Class::kHalf, MinMax<kMin, kMinNan>},
    Op{"max", Class::kHalf, MinMax<kMax, kMaxNan>},
    Op{"abs", Class::kHalf, Sign<true>},
    Op{"neg", Class::kHalf, Sign<false>},
};

}  // namespace

std::span<const Op> HalfOps() { return kOps; }

}  // namespace gpuop::machine::exec
