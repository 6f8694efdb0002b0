// Bytes and masks: permutations, searches, extensions and dot products (PTX ISA §9.7.1, §9.7.9).

#include <algorithm>
#include <array>
#include <cstdlib>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Type;

/// prmt: each nibble of the selector names a byte of b:a, its top bit asks for the byte's sign.
std::uint32_t Permute(std::uint64_t bytes, std::uint32_t selector) {
  std::uint32_t result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const std::uint32_t nibble = (selector >> (4 * k)) & 0xfU;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7U))) & 0xffU;
    if ((nibble & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xffU : 0;
    result |= byte << (8 * k);
  }
  return result;
}
/// The selectors that the modes stand for, by the low two bits of c (PTX ISA, prmt).
constexpr std::array<std::array<std::uint16_t, 4>, 6> kModes = {{
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
}};
void Prmt(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) {
    const std::uint64_t bytes = (a[l] & 0xffffffffU) | b[l] << 32;
    const std::uint32_t selector = i.flags == 0 ? Get<std::uint32_t>(c[l]) : kModes[i.flags - 1U][c[l] & 3U];
    d[l] = Permute(bytes, selector);
  });
}

/// fns: the n-th set bit of a mask from a base on.
void Fns(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) {
    const std::uint32_t mask = Get<std::uint32_t>(a[l]);
    const auto offset = Get<std::int32_t>(c[l]);
    int at = static_cast<int>(b[l] & 31U), found = 0;
    const int wanted = offset == 0 ? 1 : std::abs(offset), step = offset < 0 ? -1 : 1;
    d[l] = 0xffffffffU;
    for (; at >= 0 && at < 32; at += step) {
      if (((mask >> at) & 1U) != 0 && ++found == wanted) {
        d[l] = static_cast<std::uint32_t>(at);
        break;
      }
      if (offset == 0) break;
    }
  });
}

template <bool kWrap>
void Bmsk(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) {
    const std::uint32_t pos = Get<std::uint32_t>(a[l]) & (kWrap ? 31U : ~0U);
    const std::uint32_t len = Get<std::uint32_t>(b[l]) & (kWrap ? 31U : ~0U);
    const std::uint64_t ones = len >= 32 ? 0xffffffffU : (std::uint64_t{1} << len) - 1;
    d[l] = pos >= 32 ? 0 : static_cast<std::uint32_t>(ones << pos);
  });
}

template <bool kSigned, bool kWrap>
void Szext(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) {
    const std::uint32_t bits = Get<std::uint32_t>(b[l]) & (kWrap ? 31U : ~0U);
    const std::uint32_t value = Get<std::uint32_t>(a[l]);
    if (bits >= 32) {
      d[l] = value;
    } else {
      const std::uint32_t mask = (1U << bits) - 1;
      const bool sign = kSigned && bits != 0 && ((value >> (bits - 1)) & 1U) != 0;
      d[l] = static_cast<std::uint32_t>((value & mask) | (sign ? ~mask : 0));
    }
  });
}

/// dp4a, dp2a: a's parts times b's bytes, added to c.
template <class A, class B, bool kTwo, bool kHigh>
void Dot(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  constexpr unsigned kParts = kTwo ? 2 : 4, kWidth = kTwo ? 16 : 8, kShift = kTwo && kHigh ? 16 : 0;
  ForLanes(m, [&](int l) {
    std::int64_t sum = static_cast<std::int64_t>(c[l]);
    for (unsigned k = 0; k < kParts; ++k) {
      const auto x = static_cast<A>(a[l] >> (k * kWidth));
      const auto y = static_cast<B>(b[l] >> (k * 8 + kShift));
      sum += std::int64_t{x} * y;
    }
    d[l] = static_cast<std::uint32_t>(sum);
  });
}

template <Handler kRun>
void Plain3(Builder& b) {
  b.TakeType();
  b.NeedOperands(4, 4);
  b.Emit({.run = kRun, .d = b.Dst(0), .a = b.Src(1, Type::kB32), .b = b.Src(2, Type::kB32), .c = b.Src(3, Type::kB32)});
}

void BuildPrmt(Builder& b) {
  b.TakeType();
  std::uint16_t mode = 0, n = 0;
  for (const char* name : {".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"}) {
    ++n;
    if (b.Take(name)) mode = n;
  }
  b.NeedOperands(4, 4);
  b.Emit({.run = &Prmt,
          .d = b.Dst(0),
          .a = b.Src(1, Type::kB32),
          .b = b.Src(2, Type::kB32),
          .c = b.Src(3, Type::kB32),
          .flags = mode});
}

void BuildBmsk(Builder& b) {
  const bool wrap = b.Take(".wrap");
  if (!wrap) b.Take(".clamp");
  b.TakeType();
  b.NeedOperands(3, 3);
  b.Emit(
      {.run = wrap ? &Bmsk<true> : &Bmsk<false>, .d = b.Dst(0), .a = b.Src(1, Type::kU32), .b = b.Src(2, Type::kU32)});
}

void BuildSzext(Builder& b) {
  const bool wrap = b.Take(".wrap");
  if (!wrap) b.Take(".clamp");
  const bool is_signed = b.TakeType() == Type::kS32;
  b.NeedOperands(3, 3);
  const Handler run = is_signed ? (wrap ? &Szext<true, true> : &Szext<true, false>)
                                : (wrap ? &Szext<false, true> : &Szext<false, false>);
  b.Emit({.run = run, .d = b.Dst(0), .a = b.Src(1, Type::kU32), .b = b.Src(2, Type::kU32)});
}

template <bool kTwo, bool kHigh>
Handler DotOf(bool a_signed, bool b_signed) {
  using A = std::conditional_t<kTwo, std::int16_t, std::int8_t>;
  using Ua = std::make_unsigned_t<A>;
  if (a_signed) return b_signed ? &Dot<A, std::int8_t, kTwo, kHigh> : &Dot<A, std::uint8_t, kTwo, kHigh>;
  return b_signed ? &Dot<Ua, std::int8_t, kTwo, kHigh> : &Dot<Ua, std::uint8_t, kTwo, kHigh>;
}
template <bool kTwo>
void BuildDot(Builder& b) {
  const bool high = kTwo && b.Take(".hi");
  if (kTwo && !high) b.Take(".lo");
  const bool a = b.TakeType() == Type::kS32, s = b.TakeType() == Type::kS32;
  b.NeedOperands(4, 4);
  b.Emit({.run = high ? DotOf<kTwo, true>(a, s) : DotOf<kTwo, false>(a, s),
          .d = b.Dst(0),
          .a = b.Src(1, Type::kB32),
          .b = b.Src(2, Type::kB32),
          .c = b.Src(3, Type::kB32)});
}

constexpr std::array kOps = {
    Op{"prmt", Class::kAny, BuildPrmt},       Op{"fns", Class::kAny, Plain3<&Fns>},
    Op{"bmsk", Class::kAny, BuildBmsk},       Op{"szext", Class::kAny, BuildSzext},
    Op{"dp4a", Class::kAny, BuildDot<false>}, Op{"dp2a", Class::kAny, BuildDot<true>},
};

}  // namespace

std::span<const Op> ByteOps() { return kOps; }

}  // namespace gpuop::machine::exec
