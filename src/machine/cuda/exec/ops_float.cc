// Floating-point arithmetic in .f32 and .f64 (PTX ISA §9.7.3).

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <limits>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/half.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

/// Flags of an instruction that is not the plain one: rounding in the low bits (Round), then these.
enum Flags : std::uint16_t { kRoundMask = 7, kFlush = 8, kSaturate = 16 };

/// The host's rounding while an instruction runs.
class Rounding {
 public:
  explicit Rounding(std::uint16_t flags) : changed_((flags & kRoundMask) != 0) {
    constexpr std::array kModes = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (changed_) std::fesetround(kModes[flags & kRoundMask]);
  }
  ~Rounding() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  bool changed_;
};

template <class T>
T Flush(T value, std::uint16_t flags) {
  const bool tiny = std::fabs(value) < std::numeric_limits<T>::min();
  return (flags & kFlush) != 0 && tiny ? std::copysign(T{0}, value) : value;
}
template <class T>
T Finish(T value, std::uint16_t flags) {
  value = Flush(value, flags);
  if ((flags & kSaturate) == 0) return value;
  return value > 0 ? std::min(value, T{1}) : T{0};  // NaN becomes 0
}

template <class T, auto Op>
void CarefulOne(Warp& w, const Inst& i, Mask m) {
  const Rounding rounding(i.flags);
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) { d[l] = Put<T>(Finish<T>(Op(Flush(Get<T>(a[l]), i.flags)), i.flags)); });
}
template <class T, auto Op>
void CarefulTwo(Warp& w, const Inst& i, Mask m) {
  const Rounding rounding(i.flags);
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) {
    d[l] = Put<T>(Finish<T>(Op(Flush(Get<T>(a[l]), i.flags), Flush(Get<T>(b[l]), i.flags)), i.flags));
  });
}
template <class T, auto Op>
void CarefulThree(Warp& w, const Inst& i, Mask m) {
  const Rounding rounding(i.flags);
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) {
    d[l] = Put<T>(Finish<T>(
        Op(Flush(Get<T>(a[l]), i.flags), Flush(Get<T>(b[l]), i.flags), Flush(Get<T>(c[l]), i.flags)), i.flags));
  });
}

constexpr auto kAdd = []<class T>(T a, T b) { return a + b; };
constexpr auto kSub = []<class T>(T a, T b) { return a - b; };
constexpr auto kMul = []<class T>(T a, T b) { return a * b; };
constexpr auto kDiv = []<class T>(T a, T b) { return a / b; };
constexpr auto kFma = []<class T>(T a, T b, T c) { return std::fma(a, b, c); };
constexpr auto kRcp = []<class T>(T a) { return T{1} / a; };
constexpr auto kSqrt = []<class T>(T a) { return std::sqrt(a); };
/// Approximations: the exact result, rounded once. The hardware's lie within the errors that the ISA states.
constexpr auto kRsqrt = []<class T>(T a) { return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a))); };
constexpr auto kSin = [](float a) { return static_cast<float>(std::sin(double{a})); };
constexpr auto kCos = [](float a) { return static_cast<float>(std::cos(double{a})); };
constexpr auto kLg2 = [](float a) { return static_cast<float>(std::log2(double{a})); };
constexpr auto kEx2 = [](float a) { return static_cast<float>(std::exp2(double{a})); };
constexpr auto kTanh = [](float a) { return static_cast<float>(std::tanh(double{a})); };
/// rcp and rsqrt in .f64.approx.ftz give the upper 32 bits alone (PTX ISA, rcp.approx.ftz.f64).
double UpperHalf(double value) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0xffffffff00000000U);
}
constexpr auto kRcp64 = [](double a) { return UpperHalf(1.0 / UpperHalf(a)); };
constexpr auto kRsqrt64 = [](double a) { return UpperHalf(1.0 / std::sqrt(UpperHalf(a))); };
constexpr auto kAbs = []<class T>(T a) { return std::fabs(a); };
constexpr auto kNeg = []<class T>(T a) { return -a; };

/// The number where the other is NaN; -0 is less than +0.
constexpr auto kMin = []<class T>(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
};
constexpr auto kMax = []<class T>(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
};
const float kCanonicalNan = std::bit_cast<float>(0x7fffffffU);
constexpr auto kMinNan = [](float a, float b) { return std::isnan(a) || std::isnan(b) ? kCanonicalNan : kMin(a, b); };
constexpr auto kMaxNan = [](float a, float b) { return std::isnan(a) || std::isnan(b) ? kCanonicalNan : kMax(a, b); };
constexpr auto kXorSignMin = [](float a, float b) {
  return std::copysign(kMin(std::fabs(a), std::fabs(b)), std::signbit(a) != std::signbit(b) ? -1.0F : 1.0F);
};
constexpr auto kXorSignMax = [](float a, float b) {
  return std::copysign(kMax(std::fabs(a), std::fabs(b)), std::signbit(a) != std::signbit(b) ? -1.0F : 1.0F);
};
constexpr auto kCopysign = []<class T>(T sign, T value) { return std::copysign(value, sign); };

std::uint16_t TakeFlags(Builder& b) {
  std::uint16_t flags = 0;
  if (b.Take(".rz"))
    flags = static_cast<std::uint16_t>(Round::kZero);
  else if (b.Take(".rm"))
    flags = static_cast<std::uint16_t>(Round::kDown);
  else if (b.Take(".rp"))
    flags = static_cast<std::uint16_t>(Round::kUp);
  else
    b.Take(".rn");
  if (b.Take(".ftz")) flags |= kFlush;
  if (b.Take(".sat")) flags |= kSaturate;
  return flags;
}

template <auto Op>
void Arithmetic1(Builder& b) {
  b.Take(".approx");
  const std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  const Handler plain = type == Type::kF64 ? &One<double, Op> : &One<float, Op>;
  const Handler careful = type == Type::kF64 ? &CarefulOne<double, Op> : &CarefulOne<float, Op>;
  b.Emit({.run = flags == 0 ? plain : careful, .d = b.Dst(0), .a = b.Src(1, type), .flags = flags});
}
template <auto Op>
void Arithmetic2(Builder& b) {
  b.Take(".approx");
  b.Take(".full");
  const std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  b.NeedOperands(3, 3);
  const Handler plain = type == Type::kF64 ? &Two<double, Op> : &Two<float, Op>;
  const Handler careful = type == Type::kF64 ? &CarefulTwo<double, Op> : &CarefulTwo<float, Op>;
  b.Emit(
      {.run = flags == 0 ? plain : careful, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, type), .flags = flags});
}
void Fma(Builder& b) {
  const std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  b.NeedOperands(4, 4);
  const Handler plain = type == Type::kF64 ? &Three<double, kFma> : &Three<float, kFma>;
  const Handler careful = type == Type::kF64 ? &CarefulThree<double, kFma> : &CarefulThree<float, kFma>;
  b.Emit({.run = flags == 0 ? plain : careful,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .b = b.Src(2, type),
          .c = b.Src(3, type),
          .flags = flags});
}
/// rcp and rsqrt: .f64 with .approx is another instruction than .f64 with a rounding.
template <auto Op, auto Approx64>
void Reciprocal(Builder& b) {
  const bool approx = b.Take(".approx");
  const std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  Handler run = flags == 0 ? &One<float, Op> : &CarefulOne<float, Op>;
  if (type == Type::kF64) run = approx ? &CarefulOne<double, Approx64> : &CarefulOne<double, Op>;
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .flags = flags});
}
template <auto Op>
void Float32Only(Builder& b) {
  b.Take(".approx");
  const std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  if (type != Type::kF32) return b.Mismatch();
  b.Emit({.run = &CarefulOne<float, Op>, .d = b.Dst(0), .a = b.Src(1, type), .flags = flags});
}
/// Sign operations touch nothing but the sign, NaNs included; flushing is for numbers.
template <auto Op>
void Sign(Builder& b) {
  const std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  const Handler plain = type == Type::kF64 ? &One<double, Op> : &One<float, Op>;
  b.Emit({.run = flags == 0 ? plain : &CarefulOne<float, Op>, .d = b.Dst(0), .a = b.Src(1, type), .flags = flags});
}

template <auto Op, auto Nan, auto XorSign>
void MinMax(Builder& b) {
  const bool nan = b.Take(".NaN"), xorsign = b.Take(".xorsign");
  if (xorsign) b.Take(".abs");
  const std::uint16_t flags = TakeFlags(b);
  const Type type = b.TakeType();
  b.NeedOperands(3, 4);
  if (b.failed()) return;
  Handler run = type == Type::kF64 ? &CarefulTwo<double, Op> : &CarefulTwo<float, Op>;
  if (nan || xorsign) {
    if (type != Type::kF32 || (nan && xorsign)) return b.Refuse("is not supported with these modifiers");
    run = nan ? &CarefulTwo<float, Nan> : &CarefulTwo<float, XorSign>;
  }
  const Slot d = b.Dst(0);
  if (b.operands() == 3) return b.Emit({.run = run, .d = d, .a = b.Src(1, type), .b = b.Src(2, type), .flags = flags});
  const Slot first = b.Temporary();
  b.Emit({.run = run, .d = first, .a = b.Src(1, type), .b = b.Src(2, type), .flags = flags});
  b.Emit({.run = run, .d = d, .a = first, .b = b.Src(3, type), .flags = flags});
}

enum Test : std::int64_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
template <class T>
void Testp(Warp& w, const Inst& i, Mask m) {
  const std::uint64_t* a = w.Src(i.a);
  Mask result = 0;
  ForLanes(m, [&](int l) {
    const T v = Get<T>(a[l]);
    bool is = false;
    switch (i.imm) {
      case kFinite: is = std::isfinite(v); break;
      case kInfinite: is = std::isinf(v); break;
      case kNumber: is = !std::isnan(v); break;
      case kNotANumber: is = std::isnan(v); break;
      case kNormal: is = std::isnormal(v); break;
      default: is = std::fpclassify(v) == FP_SUBNORMAL; break;
    }
    result |= Mask{is} << l;
  });
  w.SetPred(i.d, m, result);
}
void BuildTestp(Builder& b) {
  std::int64_t test = -1, n = 0;
  for (const char* name : {".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"}) {
    if (b.Take(name)) test = n;
    ++n;
  }
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  if (b.failed() || test < 0) return b.Mismatch();
  b.Emit({.run = type == Type::kF64 ? &Testp<double> : &Testp<float>,
          .d = b.PredDst(b.now().operands[0]),
          .a = b.Src(1, type),
          .imm = test});
}

constexpr std::array kOps = {
    Op{"add", Class::kFloat, Arithmetic2<kAdd>},
    Op{"sub", Class::kFloat, Arithmetic2<kSub>},
    Op{"mul", Class::kFloat, Arithmetic2<kMul>},
    Op{"div", Class::kFloat, Arithmetic2<kDiv>},
    Op{"fma", Class::kFloat, Fma},
    Op{"mad", Class::kFloat, Fma},
    Op{"rcp", Class::kFloat, Reciprocal<kRcp, kRcp64>},
    Op{"sqrt", Class::kFloat, Arithmetic1<kSqrt>},
    Op{"rsqrt", Class::kFloat, Reciprocal<kRsqrt, kRsqrt64>},
    Op{"sin", Class::kFloat, Float32Only<kSin>},
    Op{"cos", Class::kFloat, Float32Only<kCos>},
    Op{"lg2", Class::kFloat, Float32Only<kLg2>},
    Op{"ex2", Class::kFloat, Float32Only<kEx2>},
    Op{"tanh", Class::kFloat, Float32Only<kTanh>},
    Op{"abs", Class::kFloat, Sign<kAbs>},
    Op{"neg", Class::kFloat, Sign<kNeg>},
    Op{"min", Class::kFloat, MinMax<kMin, kMinNan, kXorSignMin>},
    Op{"max", Class::kFloat, MinMax<kMax, kMaxNan, kXorSignMax>},
    Op{"copysign", Class::kFloat, Arithmetic2<kCopysign>},
    Op{"testp", Class::kFloat, BuildTestp},
};

}  // namespace

std::span<const Op> FloatOps() { return kOps; }

}  // namespace gpuop::machine::exec
