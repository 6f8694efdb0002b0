// Comparison and selection (PTX ISA §9.7.6).

#include <array>
#include <cmath>
#include <optional>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/half.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

enum class Cmp : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
constexpr std::array<std::string_view, 14> kCmpNames = {".eq",  ".ne",  ".lt",  ".le",  ".gt",  ".ge",  ".equ",
                                                        ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"};

template <class T>
bool Compare(Cmp cmp, T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
  switch (cmp) {
    case Cmp::kEq: return a == b;
    case Cmp::kNe: return !unordered && a != b;
    case Cmp::kLt: return a < b;
    case Cmp::kLe: return a <= b;
    case Cmp::kGt: return a > b;
    case Cmp::kGe: return a >= b;
    case Cmp::kEqu: return unordered || a == b;
    case Cmp::kNeu: return unordered || a != b;
    case Cmp::kLtu: return unordered || a < b;
    case Cmp::kLeu: return unordered || a <= b;
    case Cmp::kGtu: return unordered || a > b;
    case Cmp::kGeu: return unordered || a >= b;
    case Cmp::kNum: return !unordered;
    case Cmp::kNan: return unordered;
  }
  return false;
}

/// How a value of a register is compared: as itself, or half formats as what they stand for.
struct AsHalf {
  static float From(std::uint64_t bits) { return static_cast<float>(Widen(static_cast<std::uint16_t>(bits), kHalf)); }
};
struct AsBfloat {
  static float From(std::uint64_t bits) { return static_cast<float>(Widen(static_cast<std::uint16_t>(bits), kBfloat)); }
};
template <class T>
struct As {
  static T From(std::uint64_t bits) { return Get<T>(bits); }
};
struct AsFlushed {
  static float From(std::uint64_t bits) {
    const float value = Get<float>(bits);
    return std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
  }
};

template <class V, Cmp kCmp>
Mask Compared(Warp& w, const Inst& i, Mask m) {
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  Mask result = 0;
  ForLanes(m, [&](int l) { result |= Mask{Compare(kCmp, V::From(a[l]), V::From(b[l]))} << l; });
  return result;
}

/// What the comparison is joined with: c, a predicate.
enum Joined : std::uint16_t { kAlone, kAnd, kOr, kXor };
Mask Join(Warp& w, const Inst& i, Mask value) {
  switch (i.flags) {
    case kAnd: return value & w.PredSrc(i.c);
    case kOr: return value | w.PredSrc(i.c);
    case kXor: return value ^ w.PredSrc(i.c);
    default: return value;
  }
}

template <class V, Cmp kCmp>
void Setp(Warp& w, const Inst& i, Mask m) {
  const Mask value = Compared<V, kCmp>(w, i, m);
  w.SetPred(i.d, m, Join(w, i, value));
  if (i.e != kNoSlot) w.SetPred(i.e, m, Join(w, i, ~value & m));
}

template <class V, Cmp kCmp>
void Set(Warp& w, const Inst& i, Mask m) {
  const Mask value = Join(w, i, Compared<V, kCmp>(w, i, m));
  std::uint64_t* d = w.Dst(i.d);
  ForLanes(m, [&](int l) { d[l] = ((value >> l) & 1U) != 0 ? static_cast<std::uint64_t>(i.imm) : 0; });
}

/// Both halves of packed values: each its predicate.
template <class V, Cmp kCmp>
void SetpPacked(Warp& w, const Inst& i, Mask m) {
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  Mask low = 0, high = 0;
  ForLanes(m, [&](int l) {
    low |= Mask{Compare(kCmp, V::From(a[l]), V::From(b[l]))} << l;
    high |= Mask{Compare(kCmp, V::From(a[l] >> 16), V::From(b[l] >> 16))} << l;
  });
  w.SetPred(i.d, m, Join(w, i, low));
  if (i.e != kNoSlot) w.SetPred(i.e, m, Join(w, i, high));
}

/// The handler of a comparison for a kind of value; Shape is one of the above.
#define GPUOP_EXEC_BY_CMP(NAME, SHAPE)                                             \
  template <class V>                                                               \
  Handler NAME(Cmp cmp) {                                                          \
    switch (cmp) {                                                                 \
      case Cmp::kEq: return &SHAPE<V, Cmp::kEq>;                                   \
      case Cmp::kNe: return &SHAPE<V, Cmp::kNe>;                                   \
      case Cmp::kLt: return &SHAPE<V, Cmp::kLt>;                                   \
      case Cmp::kLe: return &SHAPE<V, Cmp::kLe>;                                   \
      case Cmp::kGt: return &SHAPE<V, Cmp::kGt>;                                   \
      case Cmp::kGe: return &SHAPE<V, Cmp::kGe>;                                   \
      case Cmp::kEqu: return &SHAPE<V, Cmp::kEqu>;                                 \
      case Cmp::kNeu: return &SHAPE<V, Cmp::kNeu>;                                 \
      case Cmp::kLtu: return &SHAPE<V, Cmp::kLtu>;                                 \
      case Cmp::kLeu: return &SHAPE<V, Cmp::kLeu>;                                 \
      case Cmp::kGtu: return &SHAPE<V, Cmp::kGtu>;                                 \
      case Cmp::kGeu: return &SHAPE<V, Cmp::kGeu>;                                 \
      case Cmp::kNum: return &SHAPE<V, Cmp::kNum>;                                 \
      case Cmp::kNan: return &SHAPE<V, Cmp::kNan>;                                 \
    }                                                                              \
    return nullptr;                                                                \
  }                                                                                \
  Handler NAME##Of(Type type, Cmp cmp, bool flush) {                               \
    switch (type) {                                                                \
      case Type::kB16:                                                             \
      case Type::kU16: return NAME<As<std::uint16_t>>(cmp);                        \
      case Type::kS16: return NAME<As<std::int16_t>>(cmp);                         \
      case Type::kB32:                                                             \
      case Type::kU32: return NAME<As<std::uint32_t>>(cmp);                        \
      case Type::kS32: return NAME<As<std::int32_t>>(cmp);                         \
      case Type::kB64:                                                             \
      case Type::kU64: return NAME<As<std::uint64_t>>(cmp);                        \
      case Type::kS64: return NAME<As<std::int64_t>>(cmp);                         \
      case Type::kF32: return flush ? NAME<AsFlushed>(cmp) : NAME<As<float>>(cmp); \
      case Type::kF64: return NAME<As<double>>(cmp);                               \
      case Type::kF16: return NAME<AsHalf>(cmp);                                   \
      case Type::kBf16: return NAME<AsBfloat>(cmp);                                \
      default: return nullptr;                                                     \
    }                                                                              \
  }
GPUOP_EXEC_BY_CMP(SetpBy, Setp)
GPUOP_EXEC_BY_CMP(SetBy, Set)
#undef GPUOP_EXEC_BY_CMP

/// The comparison among the modifiers; unsigned ones have names of their own.
std::optional<Cmp> TakeCmp(Builder& b) {
  for (std::size_t i = 0; i < kCmpNames.size(); ++i)
    if (b.Take(kCmpNames[i])) return static_cast<Cmp>(i);
  if (b.Take(".lo")) return Cmp::kLt;
  if (b.Take(".ls")) return Cmp::kLe;
  if (b.Take(".hi")) return Cmp::kGt;
  if (b.Take(".hs")) return Cmp::kGe;
  return std::nullopt;
}

std::uint16_t TakeJoin(Builder& b) {
  if (b.Take(".and")) return kAnd;
  if (b.Take(".or")) return kOr;
  if (b.Take(".xor")) return kXor;
  return kAlone;
}

template <class V>
Handler PackedBy(Cmp cmp) {
  switch (cmp) {
    case Cmp::kEq: return &SetpPacked<V, Cmp::kEq>;
    case Cmp::kNe: return &SetpPacked<V, Cmp::kNe>;
    case Cmp::kLt: return &SetpPacked<V, Cmp::kLt>;
    case Cmp::kLe: return &SetpPacked<V, Cmp::kLe>;
    case Cmp::kGt: return &SetpPacked<V, Cmp::kGt>;
    case Cmp::kGe: return &SetpPacked<V, Cmp::kGe>;
    case Cmp::kEqu: return &SetpPacked<V, Cmp::kEqu>;
    case Cmp::kNeu: return &SetpPacked<V, Cmp::kNeu>;
    case Cmp::kNan: return &SetpPacked<V, Cmp::kNan>;
    default: return nullptr;
  }
}

void BuildSetp(Builder& b) {
  const auto cmp = TakeCmp(b);
  const std::uint16_t join = TakeJoin(b);
  const bool flush = b.Take(".ftz");
  const Type type = b.TakeType();
  b.NeedOperands(join == kAlone ? 3 : 4, join == kAlone ? 3 : 4);
  if (b.failed() || !cmp) return b.Mismatch();
  const ptx::Operand& to = b.now().operands[0];
  Handler run = SetpByOf(type, *cmp, flush);
  if (type == Type::kF16x2) run = PackedBy<AsHalf>(*cmp);
  if (type == Type::kBf16x2) run = PackedBy<AsBfloat>(*cmp);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run,
          .d = b.PredDst(to),
          .e = to.second.empty() ? kNoSlot : b.PredDst(to.second[0]),
          .a = b.Src(1, type),
          .b = b.Src(2, type),
          .c = join == kAlone ? 0 : b.PredSrc(b.now().operands[3]),
          .flags = join});
}

void BuildSet(Builder& b) {
  const auto cmp = TakeCmp(b);
  const std::uint16_t join = TakeJoin(b);
  const bool flush = b.Take(".ftz");
  const Type to = b.TakeType(), type = b.TakeType();
  b.NeedOperands(join == kAlone ? 3 : 4, join == kAlone ? 3 : 4);
  const Handler run = cmp ? SetByOf(type, *cmp, flush) : nullptr;
  if (b.failed() || run == nullptr) return b.Mismatch();
  std::int64_t yes = -1;
  if (to == Type::kF32) yes = std::bit_cast<std::int32_t>(1.0F);
  if (to == Type::kF16) yes = ToHalf(1);
  if (to == Type::kBf16) yes = ToBfloat(1);
  b.Emit({.run = run,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .b = b.Src(2, type),
          .c = join == kAlone ? 0 : b.PredSrc(b.now().operands[3]),
          .imm = yes,
          .flags = join});
}

void Selp(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  const Mask chosen = w.PredSrc(i.c);
  ForLanes(m, [&](int l) { d[l] = ((chosen >> l) & 1U) != 0 ? a[l] : b[l]; });
}
void BuildSelp(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(4, 4);
  if (b.failed()) return;
  b.Emit({.run = &Selp, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, type), .c = b.PredSrc(b.now().operands[3])});
}

template <class V>
void Slct(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) { d[l] = V::From(c[l]) >= 0 ? a[l] : b[l]; });
}
void BuildSlct(Builder& b) {
  const bool flush = b.Take(".ftz");
  const Type type = b.TakeType(), by = b.TakeType();
  b.NeedOperands(4, 4);
  if (by != Type::kS32 && by != Type::kF32) return b.Mismatch();
  b.Emit({.run = by != Type::kF32 ? &Slct<As<std::int32_t>>
                 : flush          ? &Slct<AsFlushed>
                                  : &Slct<As<float>>,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .b = b.Src(2, type),
          .c = b.Src(3, by)});
}

constexpr std::array kOps = {
    Op{"setp", Class::kAny, BuildSetp},
    Op{"set", Class::kAny, BuildSet},
    Op{"selp", Class::kAny, BuildSelp},
    Op{"slct", Class::kAny, BuildSlct},
};

}  // namespace

std::span<const Op> CompareOps() { return kOps; }

}  // namespace gpuop::machine::exec
