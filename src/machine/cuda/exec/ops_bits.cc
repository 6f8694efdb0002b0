// Logic, shifts and bit fields (PTX ISA §9.7.1, §9.7.8).

#include <algorithm>
#include <array>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

constexpr auto kAnd = []<class T>(T a, T b) { return static_cast<T>(a & b); };
constexpr auto kOr = []<class T>(T a, T b) { return static_cast<T>(a | b); };
constexpr auto kXor = []<class T>(T a, T b) { return static_cast<T>(a ^ b); };
constexpr auto kNot = []<class T>(T a) { return static_cast<T>(~a); };
constexpr auto kCnot = []<class T>(T a) { return static_cast<T>(a == 0 ? 1 : 0); };

/// Amounts are 32 bits without sign; beyond the width everything is shifted out.
template <class T, bool kLeft>
void Shift(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) {
    const T value = Get<T>(a[l]);
    const std::uint32_t amount = Get<std::uint32_t>(b[l]);
    const bool all = amount >= sizeof(T) * 8;
    if constexpr (kLeft)
      d[l] = Put<T>(all ? T{0} : static_cast<T>(static_cast<std::uint64_t>(value) << amount));
    else
      d[l] = Put<T>(all ? static_cast<T>(value < 0 ? -1 : 0) : static_cast<T>(value >> amount));
  });
}

/// shf: 32 of the 64 bits of b:a.
template <bool kLeft, bool kWrap>
void Funnel(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) {
    const std::uint64_t both = (b[l] << 32) | (a[l] & 0xffffffffU);
    const std::uint32_t given = Get<std::uint32_t>(c[l]);
    const std::uint32_t amount = kWrap ? given & 31U : std::min(given, 32U);
    d[l] = static_cast<std::uint32_t>(kLeft ? both >> (32 - amount) : both >> amount);
  });
}

void Lop3(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) {
    std::uint64_t result = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (((i.imm >> k) & 1) != 0)
        result |= ((k & 4U) != 0 ? a[l] : ~a[l]) & ((k & 2U) != 0 ? b[l] : ~b[l]) & ((k & 1U) != 0 ? c[l] : ~c[l]);
    d[l] = static_cast<std::uint32_t>(result);
  });
}

template <class T>
void Bfe(Warp& w, const Inst& i, Mask m) {
  constexpr unsigned kBits = sizeof(T) * 8;
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) {
    using U = std::make_unsigned_t<T>;
    const U value = Get<U>(a[l]);
    const unsigned pos = b[l] & 0xffU, len = c[l] & 0xffU;
    // The sign is that of the field's last bit, or of the value's where the field reaches beyond it (PTX ISA, bfe).
    const unsigned last = std::min(pos + len - 1, kBits - 1);
    const bool sign = std::is_signed_v<T> && len != 0 && ((value >> last) & 1U) != 0;
    U result = pos >= kBits ? U{0} : static_cast<U>(value >> pos);
    const unsigned have = pos >= kBits ? 0 : std::min(len, kBits - pos);
    if (have < kBits) {
      const U mask = static_cast<U>((U{1} << have) - 1);
      result = static_cast<U>((result & mask) | (sign ? ~mask : 0));
    }
    d[l] = Put<U>(result);
  });
}

template <class T>
void Bfi(Warp& w, const Inst& i, Mask m) {
  constexpr unsigned kBits = sizeof(T) * 8;
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c), *x = w.Src(i.x);
  ForLanes(m, [&](int l) {
    const unsigned pos = c[l] & 0xffU, len = std::min<unsigned>(x[l] & 0xffU, kBits);
    T mask = len >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    T value = static_cast<T>(Get<T>(a[l]) & mask);
    mask = pos >= kBits ? T{0} : static_cast<T>(mask << pos);
    value = pos >= kBits ? T{0} : static_cast<T>(value << pos);
    d[l] = Put<T>(static_cast<T>((Get<T>(b[l]) & ~mask) | value));
  });
}

template <class T, bool kShiftAmount>
std::uint32_t FindHighest(T value) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(value < 0 ? ~value : value);
  if (bits == 0) return 0xffffffffU;
  const int zeros = std::countl_zero(bits);
  return static_cast<std::uint32_t>(kShiftAmount ? zeros : static_cast<int>(sizeof(T)) * 8 - 1 - zeros);
}
template <class T, bool kShiftAmount>
void Bfind(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) { d[l] = FindHighest<T, kShiftAmount>(Get<T>(a[l])); });
}

template <class T, auto Op>
void Count(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) { d[l] = static_cast<std::uint32_t>(Op(Get<T>(a[l]))); });
}
constexpr auto kPopc = []<class T>(T v) { return std::popcount(v); };
constexpr auto kClz = []<class T>(T v) { return std::countl_zero(v); };
constexpr auto kBrev = []<class T>(T v) {
  T reversed = 0;
  for (unsigned k = 0; k < sizeof(T) * 8; ++k) reversed = static_cast<T>((reversed << 1) | ((v >> k) & 1U));
  return reversed;
};

template <auto Op>
void Logic(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(3, 3);
  if (type == Type::kPred) {
    if (b.failed()) return;
    const Handler run = [](Warp& w, const Inst& i, Mask m) {
      w.SetPred(i.d, m, static_cast<Mask>(Op(w.PredSrc(i.a), w.PredSrc(i.b))));
    };
    const auto& operands = b.now().operands;
    return b.Emit({.run = run, .d = b.PredDst(operands[0]), .a = b.PredSrc(operands[1]), .b = b.PredSrc(operands[2])});
  }
  const Handler run = TwoInt<Op>(type);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, type)});
}

void Not(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  if (b.failed()) return;
  if (type == Type::kPred) {
    const Handler run = [](Warp& w, const Inst& i, Mask m) { w.SetPred(i.d, m, ~w.PredSrc(i.a)); };
    return b.Emit({.run = run, .d = b.PredDst(b.now().operands[0]), .a = b.PredSrc(b.now().operands[1])});
  }
  const Handler run = OneInt<kNot>(type);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type)});
}

void Cnot(Builder& b) {
  const Type type = b.TakeType();
  const Handler run = OneInt<kCnot>(type);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type)});
}

template <bool kLeft>
Handler ShiftOf(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16: return &Shift<std::uint16_t, kLeft>;
    case Type::kS16: return &Shift<std::int16_t, kLeft>;
    case Type::kB32:
    case Type::kU32: return &Shift<std::uint32_t, kLeft>;
    case Type::kS32: return &Shift<std::int32_t, kLeft>;
    case Type::kB64:
    case Type::kU64: return &Shift<std::uint64_t, kLeft>;
    case Type::kS64: return &Shift<std::int64_t, kLeft>;
    default: return nullptr;
  }
}
template <bool kLeft>
void BuildShift(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(3, 3);
  const Handler run = ShiftOf<kLeft>(type);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, Type::kU32)});
}

void Shf(Builder& b) {
  const bool left = b.Take(".l");
  if (!left) b.Take(".r");
  const bool wrap = b.Take(".wrap");
  if (!wrap) b.Take(".clamp");
  b.TakeType();
  b.NeedOperands(4, 4);
  const Handler run = left ? (wrap ? &Funnel<true, true> : &Funnel<true, false>)
                           : (wrap ? &Funnel<false, true> : &Funnel<false, false>);
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, Type::kB32), .b = b.Src(2, Type::kB32), .c = b.Src(3, Type::kU32)});
}

void BuildLop3(Builder& b) {
  b.TakeType();
  b.NeedOperands(5, 5);
  if (b.failed() || b.now().operands[4].kind != ptx::Operand::Kind::kInteger) return b.Mismatch();
  b.Emit({.run = &Lop3,
          .d = b.Dst(0),
          .a = b.Src(1, Type::kB32),
          .b = b.Src(2, Type::kB32),
          .c = b.Src(3, Type::kB32),
          .imm = static_cast<std::int64_t>(b.now().operands[4].bits)});
}

void BuildBfe(Builder& b) {
  const Type type = b.TakeType();
  Handler run = nullptr;
  if (type == Type::kU32) run = &Bfe<std::uint32_t>;
  if (type == Type::kS32) run = &Bfe<std::int32_t>;
  if (type == Type::kU64) run = &Bfe<std::uint64_t>;
  if (type == Type::kS64) run = &Bfe<std::int64_t>;
  b.NeedOperands(4, 4);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, Type::kU32), .c = b.Src(3, Type::kU32)});
}

void BuildBfi(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(5, 5);
  b.Emit({.run = ptx::SizeOf(type) == 8 ? &Bfi<std::uint64_t> : &Bfi<std::uint32_t>,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .b = b.Src(2, type),
          .c = b.Src(3, Type::kU32),
          .x = b.Src(4, Type::kU32)});
}

template <bool kShiftAmount>
Handler BfindOf(Type type) {
  switch (type) {
    case Type::kU32: return &Bfind<std::uint32_t, kShiftAmount>;
    case Type::kS32: return &Bfind<std::int32_t, kShiftAmount>;
    case Type::kU64: return &Bfind<std::uint64_t, kShiftAmount>;
    case Type::kS64: return &Bfind<std::int64_t, kShiftAmount>;
    default: return nullptr;
  }
}
void BuildBfind(Builder& b) {
  const bool shift = b.Take(".shiftamt");
  const Type type = b.TakeType();
  const Handler run = shift ? BfindOf<true>(type) : BfindOf<false>(type);
  b.NeedOperands(2, 2);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type)});
}

template <auto Op>
void BuildCount(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  if (type != Type::kB32 && type != Type::kB64) return b.Mismatch();
  b.Emit({.run = type == Type::kB64 ? &Count<std::uint64_t, Op> : &Count<std::uint32_t, Op>,
          .d = b.Dst(0),
          .a = b.Src(1, type)});
}
void Brev(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  b.Emit({.run = type == Type::kB64 ? &One<std::uint64_t, kBrev> : &One<std::uint32_t, kBrev>,
          .d = b.Dst(0),
          .a = b.Src(1, type)});
}

constexpr std::array kOps = {
    Op{"and", Class::kAny, Logic<kAnd>},
    Op{"or", Class::kAny, Logic<kOr>},
    Op{"xor", Class::kAny, Logic<kXor>},
    Op{"not", Class::kAny, Not},
    Op{"cnot", Class::kAny, Cnot},
    Op{"shl", Class::kAny, BuildShift<true>},
    Op{"shr", Class::kAny, BuildShift<false>},
    Op{"shf", Class::kAny, Shf},
    Op{"lop3", Class::kAny, BuildLop3},
    Op{"bfe", Class::kAny, BuildBfe},
    Op{"bfi", Class::kAny, BuildBfi},
    Op{"bfind", Class::kAny, BuildBfind},
    Op{"popc", Class::kAny, BuildCount<kPopc>},
    Op{"clz", Class::kAny, BuildCount<kClz>},
    Op{"brev", Class::kAny, Brev},
};

}  // namespace

std::span<const Op> BitOps() { return kOps; }

}  // namespace gpuop::machine::exec
