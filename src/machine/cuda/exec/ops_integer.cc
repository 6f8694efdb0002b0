// Integer arithmetic (PTX ISA §9.7.1).

#include <algorithm>
#include <array>
#include <limits>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Sums wrap: computed without sign.
constexpr auto kAdd = []<class T>(T a, T b) { return static_cast<Unsigned<T>>(Unsigned<T>(a) + Unsigned<T>(b)); };
constexpr auto kSub = []<class T>(T a, T b) { return static_cast<Unsigned<T>>(Unsigned<T>(a) - Unsigned<T>(b)); };
constexpr auto kMulLo = []<class T>(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
};
template <class T>
constexpr T High(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
}
constexpr auto kMulHi = []<class T>(T a, T b) { return High(a, b); };
constexpr auto kMadLo = []<class T>(T a, T b, T c) { return static_cast<T>(kAdd(kMulLo(a, b), c)); };
constexpr auto kMadHi = []<class T>(T a, T b, T c) { return static_cast<T>(kAdd(High(a, b), c)); };

/// Division by zero gives all ones, as the hardware does; the most negative number divided by -1 is itself.
constexpr auto kDiv = []<class T>(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a));
  return static_cast<T>(a / b);
};
constexpr auto kRem = []<class T>(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return T{0};
  return static_cast<T>(a % b);
};
constexpr auto kMin = []<class T>(T a, T b) { return a < b ? a : b; };
constexpr auto kMax = []<class T>(T a, T b) { return a < b ? b : a; };
constexpr auto kMinRelu = []<class T>(T a, T b) { return std::max(T{0}, std::min(a, b)); };
constexpr auto kMaxRelu = []<class T>(T a, T b) { return std::max({T{0}, a, b}); };
constexpr auto kAbs = []<class T>(T a) {
  return static_cast<T>(a < 0 ? Unsigned<T>(0) - Unsigned<T>(a) : Unsigned<T>(a));
};
constexpr auto kNeg = []<class T>(T a) { return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a)); };
constexpr auto kSad = []<class T>(T a, T b, T c) {
  return static_cast<T>(kAdd(static_cast<T>(a < b ? kSub(b, a) : kSub(a, b)), c));
};
template <class T>
constexpr T Saturate(std::int64_t value) {
  return static_cast<T>(std::clamp<std::int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
constexpr auto kAddSat = [](std::int32_t a, std::int32_t b) { return Saturate<std::int32_t>(std::int64_t{a} + b); };
constexpr auto kSubSat = [](std::int32_t a, std::int32_t b) { return Saturate<std::int32_t>(std::int64_t{a} - b); };

/// 24-bit products: the low (or high) 32 of 48 bits.
template <class T>
constexpr std::int64_t Product24(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    const auto cut = [](T v) {
      return std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(v) << 8) >> 8};
    };
    return cut(a) * cut(b);
  } else {
    return static_cast<std::int64_t>(std::uint64_t{a & 0xffffffU} * (b & 0xffffffU));
  }
}
constexpr auto kMul24Lo = []<class T>(T a, T b) { return static_cast<T>(Product24(a, b)); };
constexpr auto kMul24Hi = []<class T>(T a, T b) { return static_cast<T>(Product24(a, b) >> 16); };
constexpr auto kMad24Lo = []<class T>(T a, T b, T c) {
  return static_cast<T>(kAdd(static_cast<T>(Product24(a, b)), c));
};
constexpr auto kMad24Hi = []<class T>(T a, T b, T c) {
  return static_cast<T>(kAdd(static_cast<T>(Product24(a, b) >> 16), c));
};

/// Two halves of 16 bits at once.
template <class T, auto Op>
void TwoPacked(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) {
    const auto low = static_cast<std::uint16_t>(Op(static_cast<T>(a[l]), static_cast<T>(b[l])));
    const auto high = static_cast<std::uint16_t>(Op(static_cast<T>(a[l] >> 16), static_cast<T>(b[l] >> 16)));
    d[l] = low | std::uint64_t{high} << 16;
  });
}

template <class From, class To>
void MulWide(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) { d[l] = Put<To>(static_cast<To>(To{Get<From>(a[l])} * To{Get<From>(b[l])})); });
}
template <class From, class To>
void MadWide(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) {
    d[l] = Put<To>(static_cast<To>(kAdd(static_cast<To>(To{Get<From>(a[l])} * To{Get<From>(b[l])}), Get<To>(c[l]))));
  });
}

void EmitTwo(Builder& b, Handler run, Type type) {
  b.NeedOperands(3, 3);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, type)});
}
void EmitThree(Builder& b, Handler run, Type type, Type last) {
  b.NeedOperands(4, 4);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, type), .c = b.Src(3, last)});
}
void EmitOne(Builder& b, Handler run, Type type) {
  b.NeedOperands(2, 2);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type)});
}

Type Widened(Type type) {
  switch (type) {
    case Type::kU16: return Type::kU32;
    case Type::kS16: return Type::kS32;
    case Type::kU32: return Type::kU64;
    case Type::kS32: return Type::kS64;
    default: return Type::kNone;
  }
}

Handler WideProduct(Type type) {
  switch (type) {
    case Type::kU16: return &MulWide<std::uint16_t, std::uint32_t>;
    case Type::kS16: return &MulWide<std::int16_t, std::int32_t>;
    case Type::kU32: return &MulWide<std::uint32_t, std::uint64_t>;
    case Type::kS32: return &MulWide<std::int32_t, std::int64_t>;
    default: return nullptr;
  }
}
Handler WideSum(Type type) {
  switch (type) {
    case Type::kU16: return &MadWide<std::uint16_t, std::uint32_t>;
    case Type::kS16: return &MadWide<std::int16_t, std::int32_t>;
    case Type::kU32: return &MadWide<std::uint32_t, std::uint64_t>;
    case Type::kS32: return &MadWide<std::int32_t, std::int64_t>;
    default: return nullptr;
  }
}

void Add(Builder& b) {
  const bool saturate = b.Take(".sat");
  const Type type = b.TakeType();
  if (saturate && type != Type::kS32) return b.Mismatch();
  if (type == Type::kU16x2 || type == Type::kS16x2) return EmitTwo(b, &TwoPacked<std::uint16_t, kAdd>, type);
  EmitTwo(b, saturate ? &Two<std::int32_t, kAddSat> : TwoInt<kAdd>(type), type);
}
void Sub(Builder& b) {
  const bool saturate = b.Take(".sat");
  const Type type = b.TakeType();
  if (saturate && type != Type::kS32) return b.Mismatch();
  EmitTwo(b, saturate ? &Two<std::int32_t, kSubSat> : TwoInt<kSub>(type), type);
}
void Mul(Builder& b) {
  const bool wide = b.Take(".wide"), high = b.Take(".hi");
  if (!wide && !high) b.Take(".lo");
  const Type type = b.TakeType();
  EmitTwo(b, wide ? WideProduct(type) : high ? TwoInt<kMulHi>(type) : TwoInt<kMulLo>(type), type);
}
void Mad(Builder& b) {
  const bool wide = b.Take(".wide"), high = b.Take(".hi");
  if (!wide && !high) b.Take(".lo");
  const Type type = b.TakeType();
  EmitThree(b,
            wide   ? WideSum(type)
            : high ? ThreeInt<kMadHi>(type)
                   : ThreeInt<kMadLo>(type),
            type, wide ? Widened(type) : type);
}
void Mul24(Builder& b) {
  const bool high = b.Take(".hi");
  if (!high) b.Take(".lo");
  const Type type = b.TakeType();
  if (type == Type::kU32) return EmitTwo(b, high ? &Two<std::uint32_t, kMul24Hi> : &Two<std::uint32_t, kMul24Lo>, type);
  if (type == Type::kS32) return EmitTwo(b, high ? &Two<std::int32_t, kMul24Hi> : &Two<std::int32_t, kMul24Lo>, type);
  b.Mismatch();
}
void Mad24(Builder& b) {
  const bool high = b.Take(".hi");
  if (!high) b.Take(".lo");
  const Type type = b.TakeType();
  Handler run = nullptr;
  if (type == Type::kU32) run = high ? &Three<std::uint32_t, kMad24Hi> : &Three<std::uint32_t, kMad24Lo>;
  if (type == Type::kS32) run = high ? &Three<std::int32_t, kMad24Hi> : &Three<std::int32_t, kMad24Lo>;
  EmitThree(b, run, type, type);
}
template <auto Op>
void Plain2(Builder& b) {
  const Type type = b.TakeType();
  EmitTwo(b, TwoInt<Op>(type), type);
}
template <auto Op, auto WithRelu>
void MinMax(Builder& b) {
  const bool relu = b.Take(".relu");
  const Type type = b.TakeType();
  if (type == Type::kU16x2) return EmitTwo(b, &TwoPacked<std::uint16_t, Op>, type);
  if (type == Type::kS16x2)
    return EmitTwo(b, relu ? &TwoPacked<std::int16_t, WithRelu> : &TwoPacked<std::int16_t, Op>, type);
  if (relu && type != Type::kS32) return b.Mismatch();
  EmitTwo(b, relu ? &Two<std::int32_t, WithRelu> : TwoInt<Op>(type), type);
}
template <auto Op>
void Signed1(Builder& b) {
  const Type type = b.TakeType();
  Handler run = nullptr;
  if (type == Type::kS16) run = &One<std::int16_t, Op>;
  if (type == Type::kS32) run = &One<std::int32_t, Op>;
  if (type == Type::kS64) run = &One<std::int64_t, Op>;
  EmitOne(b, run, type);
}
void Sad(Builder& b) {
  const Type type = b.TakeType();
  EmitThree(b, ThreeInt<kSad>(type), type, type);
}

constexpr std::array kOps = {
    Op{"add", Class::kInt, Add},
    Op{"sub", Class::kInt, Sub},
    Op{"mul", Class::kInt, Mul},
    Op{"mad", Class::kInt, Mad},
    Op{"mul24", Class::kInt, Mul24},
    Op{"mad24", Class::kInt, Mad24},
    Op{"div", Class::kInt, Plain2<kDiv>},
    Op{"rem", Class::kInt, Plain2<kRem>},
    Op{"min", Class::kInt, MinMax<kMin, kMinRelu>},
    Op{"max", Class::kInt, MinMax<kMax, kMaxRelu>},
    Op{"abs", Class::kInt, Signed1<kAbs>},
    Op{"neg", Class::kInt, Signed1<kNeg>},
    Op{"sad", Class::kInt, Sad},
};

}  // namespace

std::span<const Op> IntegerOps() { return kOps; }

}  // namespace gpuop::machine::exec
