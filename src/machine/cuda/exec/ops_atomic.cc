// atom and red (PTX ISA §9.7.13).

#include <array>
#include <cmath>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/half.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Space;
using ptx::Type;

constexpr auto kAnd = []<class T>(T old, T b, T) { return static_cast<T>(old & b); };
constexpr auto kOr = []<class T>(T old, T b, T) { return static_cast<T>(old | b); };
constexpr auto kXor = []<class T>(T old, T b, T) { return static_cast<T>(old ^ b); };
constexpr auto kExch = []<class T>(T, T b, T) { return b; };
constexpr auto kCas = []<class T>(T old, T b, T c) { return old == b ? c : old; };
constexpr auto kAdd = []<class T>(T old, T b, T) { return static_cast<T>(old + b); };
constexpr auto kInc = []<class T>(T old, T b, T) { return old >= b ? T{0} : static_cast<T>(old + 1); };
constexpr auto kDec = []<class T>(T old, T b, T) { return old == 0 || old > b ? b : static_cast<T>(old - 1); };
constexpr auto kMin = []<class T>(T old, T b, T) { return b < old ? b : old; };
constexpr auto kMax = []<class T>(T old, T b, T) { return old < b ? b : old; };
template <class F>
constexpr auto kAddAs =
    []<class T>(T old, T b, T) { return std::bit_cast<T>(std::bit_cast<F>(old) + std::bit_cast<F>(b)); };
template <bool kBrain>
std::uint16_t AddHalf(std::uint64_t a, std::uint64_t b) {
  constexpr SmallFloat kFormat = kBrain ? kBfloat : kHalf;
  return Narrow(FusedForNarrowing(Widen(static_cast<std::uint16_t>(a), kFormat), 1,
                                  Widen(static_cast<std::uint16_t>(b), kFormat)),
                kFormat);
}
template <bool kBrain>
constexpr auto kAddSmall = []<class T>(T old, T b, T) {
  if constexpr (sizeof(T) == 2) return AddHalf<kBrain>(old, b);
  return static_cast<T>(AddHalf<kBrain>(old, b) | std::uint32_t{AddHalf<kBrain>(old >> 16, b >> 16)} << 16);
};

/// Resolves in the space that imm's owner gave: flags is a ptx::Space.
std::byte* Resolve(Warp& w, const Inst& i, std::uint64_t address, std::uint32_t size, int lane) {
  if (static_cast<Space>(i.flags) == Space::kShared) return w.Shared(address, size);
  if (static_cast<Space>(i.flags) == Space::kGlobal) return w.Global(address, size);
  return w.Generic(address, size, lane);
}

template <class T, auto Op>
void Atomic(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  using Bits = std::make_unsigned_t<T>;
  ForLanes(m, [&](int l) {
    std::byte* at = Resolve(w, i, a[l] + static_cast<std::uint64_t>(i.imm), sizeof(T), l);
    if (at == nullptr) return;
    auto* place = reinterpret_cast<Bits*>(at);
    Bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (true) {
      const auto next = static_cast<Bits>(Op(static_cast<T>(old), Get<T>(b[l]), Get<T>(c[l])));
      if (__atomic_compare_exchange_n(place, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) break;
    }
    d[l] = Put<T>(static_cast<T>(old));
  });
}

template <auto Op>
Handler ByBits(Type type) {
  switch (ptx::SizeOf(type)) {
    case 2: return &Atomic<std::uint16_t, Op>;
    case 4: return &Atomic<std::uint32_t, Op>;
    case 8: return &Atomic<std::uint64_t, Op>;
    default: return nullptr;
  }
}
template <auto Op>
Handler ByInt(Type type) {
  switch (type) {
    case Type::kU32: return &Atomic<std::uint32_t, Op>;
    case Type::kS32: return &Atomic<std::int32_t, Op>;
    case Type::kU64: return &Atomic<std::uint64_t, Op>;
    case Type::kS64: return &Atomic<std::int64_t, Op>;
    default: return nullptr;
  }
}
Handler AddOf(Type type) {
  switch (type) {
    case Type::kU32:
    case Type::kS32: return &Atomic<std::uint32_t, kAdd>;
    case Type::kU64:
    case Type::kS64: return &Atomic<std::uint64_t, kAdd>;
    case Type::kF32: return &Atomic<std::uint32_t, kAddAs<float>>;
    case Type::kF64: return &Atomic<std::uint64_t, kAddAs<double>>;
    case Type::kF16: return &Atomic<std::uint16_t, kAddSmall<false>>;
    case Type::kF16x2: return &Atomic<std::uint32_t, kAddSmall<false>>;
    case Type::kBf16: return &Atomic<std::uint16_t, kAddSmall<true>>;
    case Type::kBf16x2: return &Atomic<std::uint32_t, kAddSmall<true>>;
    default: return nullptr;
  }
}

Handler TakeOperation(Builder& b, bool& three) {
  struct Named {
    const char* name;
    Handler (*by)(Type);
  };
  constexpr std::array kNamed = {
      Named{".and", ByBits<kAnd>},   Named{".or", ByBits<kOr>},   Named{".xor", ByBits<kXor>},
      Named{".exch", ByBits<kExch>}, Named{".cas", ByBits<kCas>}, Named{".add", AddOf},
      Named{".inc", ByInt<kInc>},    Named{".dec", ByInt<kDec>},  Named{".min", ByInt<kMin>},
      Named{".max", ByInt<kMax>},
  };
  for (const Named& named : kNamed) {
    if (!b.Take(named.name)) continue;
    three = std::string_view(named.name) == ".cas";
    return named.by(b.TakeType());
  }
  return nullptr;
}

/// kReturns: atom, which gives the old value; red does not.
template <bool kReturns>
void Build(Builder& b) {
  for (const char* hint :
       {".relaxed", ".acquire", ".release", ".acq_rel", ".cta", ".cluster", ".gpu", ".sys", ".noftz"})
    b.Take(hint);
  const bool policy = b.Take(".L2::cache_hint");
  Space space = b.TakeSpace();
  bool three = false;
  const Handler run = TakeOperation(b, three);
  const std::size_t first = kReturns ? 1 : 0;
  const std::size_t count = first + 2 + (three ? 1 : 0);
  b.NeedOperands(count, count + (policy ? 1 : 0));
  if (run == nullptr) return b.Mismatch();
  if (b.failed()) return;
  const Builder::Address address = b.AddressOf(b.now().operands[first]);
  if (space == Space::kGeneric && address.space) space = *address.space;
  // b's own type decides about its immediate: the widest reading is right for all but floats.
  const Type type = ptx::TypeNamed(b.now().modifiers.back()).value_or(Type::kB64);
  b.Emit({.run = run,
          .d = kReturns ? b.Dst(0) : b.Temporary(),
          .a = address.base,
          .b = b.Src(first + 1, type),
          .c = three ? b.Src(first + 2, type) : b.Constant(0),
          .imm = address.offset,
          .flags = static_cast<std::uint16_t>(space)});
}

constexpr std::array kOps = {
    Op{"atom", Class::kAny, Build<true>},
    Op{"red", Class::kAny, Build<false>},
};

}  // namespace

std::span<const Op> AtomicOps() { return kOps; }

}  // namespace gpuop::machine::exec
