// Extended-precision integer arithmetic: the carry flag CC.CF of each thread (PTX ISA §9.7.2).

#include <array>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

enum Flags : std::uint16_t { kReads = 1, kWrites = 2, kSubtracts = 4, kHigh = 8 };

/// d = a ± b ± CF, in T; b may be a product's half.
template <class T>
void Sum(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  Mask& carry = w.frame().carry;
  Mask out = 0;
  ForLanes(m, [&](int l) {
    const unsigned __int128 x = Get<T>(a[l]), y = Get<T>(b[l]);
    const unsigned in = (i.flags & kReads) != 0 ? (carry >> l) & 1U : 0;
    const unsigned __int128 sum = (i.flags & kSubtracts) != 0 ? x - y - in : x + y + in;
    out |= Mask{((sum >> (sizeof(T) * 8)) & 1U) != 0} << l;
    d[l] = Put<T>(static_cast<T>(sum));
  });
  if ((i.flags & kWrites) != 0) carry = (carry & ~m) | out;
}

template <class T>
void Product(Warp& w, const Inst& i, Mask m) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  using Bits = std::make_unsigned_t<T>;
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  Mask& carry = w.frame().carry;
  Mask out = 0;
  ForLanes(m, [&](int l) {
    const Wide product = Wide{Get<T>(a[l])} * Wide{Get<T>(b[l])};
    const auto half = static_cast<Bits>((i.flags & kHigh) != 0 ? product >> (sizeof(T) * 8) : product);
    const unsigned in = (i.flags & kReads) != 0 ? (carry >> l) & 1U : 0;
    const unsigned __int128 sum = static_cast<unsigned __int128>(half) + Get<Bits>(c[l]) + in;
    out |= Mask{((sum >> (sizeof(T) * 8)) & 1U) != 0} << l;
    d[l] = Put<Bits>(static_cast<Bits>(sum));
  });
  if ((i.flags & kWrites) != 0) carry = (carry & ~m) | out;
}

template <std::uint16_t kFlags>
void SumWithCarry(Builder& b) {
  std::uint16_t flags = kFlags;
  if (b.Take(".cc")) flags |= kWrites;
  const Type type = b.TakeType();
  b.NeedOperands(3, 3);
  b.Emit({.run = ptx::SizeOf(type) == 8 ? &Sum<std::uint64_t> : &Sum<std::uint32_t>,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .b = b.Src(2, type),
          .flags = flags});
}

template <std::uint16_t kFlags>
void ProductWithCarry(Builder& b) {
  std::uint16_t flags = kFlags;
  if (b.Take(".hi"))
    flags |= kHigh;
  else
    b.Take(".lo");
  if (b.Take(".cc")) flags |= kWrites;
  const Type type = b.TakeType();
  Handler run = nullptr;
  if (type == Type::kU32) run = &Product<std::uint32_t>;
  if (type == Type::kS32) run = &Product<std::int32_t>;
  if (type == Type::kU64) run = &Product<std::uint64_t>;
  if (type == Type::kS64) run = &Product<std::int64_t>;
  b.NeedOperands(4, 4);
  if (run == nullptr) return b.Mismatch();
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, type), .b = b.Src(2, type), .c = b.Src(3, type), .flags = flags});
}

constexpr std::array kOps = {
    Op{"addc", Class::kAny, SumWithCarry<kReads>},       Op{"subc", Class::kAny, SumWithCarry<kReads | kSubtracts>},
    Op{"madc", Class::kAny, ProductWithCarry<kReads>},   Op{"add.cc", Class::kAny, SumWithCarry<0>},
    Op{"sub.cc", Class::kAny, SumWithCarry<kSubtracts>}, Op{"mad.cc", Class::kAny, ProductWithCarry<0>},
};

}  // namespace

std::span<const Op> CarryOps() { return kOps; }

}  // namespace gpuop::machine::exec
