// Loads, stores and copies (PTX ISA §9.7.9).

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Space;
using ptx::Type;

/// Where an address leads: kernel parameters and those of functions are different memories.
enum class Where : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kKernelParam, kFrameParam };

template <Where kWhere>
std::byte* Resolve(Warp& w, std::uint64_t address, std::uint32_t size, int lane) {
  if constexpr (kWhere == Where::kGlobal) return w.Global(address, size);
  if constexpr (kWhere == Where::kShared) return w.Shared(address, size);
  if constexpr (kWhere == Where::kLocal) return w.Local(address, size, lane);
  if constexpr (kWhere == Where::kKernelParam) return const_cast<std::byte*>(w.KernelParam(address, size));
  if constexpr (kWhere == Where::kFrameParam) return w.FrameParam(address, size, lane);
  return w.Generic(address, size, lane);
}

/// Other blocks may write the same place: a torn value would be ours, not the program's. Parameters may be unaligned.
template <class T, Where kWhere>
T Read(const std::byte* from) {
  if constexpr (kWhere == Where::kKernelParam || kWhere == Where::kFrameParam) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  } else {
    return __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_RELAXED);
  }
}
template <class T, Where kWhere>
void Write(std::byte* to, T value) {
  if constexpr (kWhere == Where::kFrameParam)
    std::memcpy(to, &value, sizeof value);
  else
    __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELAXED);
}

template <class T, Where kWhere>
void Load(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) {
    const std::byte* from = Resolve<kWhere>(w, a[l] + static_cast<std::uint64_t>(i.imm), sizeof(T), l);
    if (from != nullptr) d[l] = Put<T>(Read<T, kWhere>(from));
  });
}
template <class T, Where kWhere>
void LoadVector(Warp& w, const Inst& i, Mask m) {
  const std::int32_t* list = w.frame().code->lists.data() + i.target;
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) {
    const std::byte* from = Resolve<kWhere>(w, a[l] + static_cast<std::uint64_t>(i.imm), sizeof(T) * i.count, l);
    for (unsigned k = 0; k < i.count && from != nullptr; ++k)
      w.Dst(list[k])[l] = Put<T>(Read<T, kWhere>(from + k * sizeof(T)));
  });
}
template <class T, Where kWhere>
void Store(Warp& w, const Inst& i, Mask m) {
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) {
    std::byte* to = Resolve<kWhere>(w, a[l] + static_cast<std::uint64_t>(i.imm), sizeof(T), l);
    if (to != nullptr) Write<T, kWhere>(to, static_cast<T>(b[l]));
  });
}
template <class T, Where kWhere>
void StoreVector(Warp& w, const Inst& i, Mask m) {
  const std::int32_t* list = w.frame().code->lists.data() + i.target;
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) {
    std::byte* to = Resolve<kWhere>(w, a[l] + static_cast<std::uint64_t>(i.imm), sizeof(T) * i.count, l);
    for (unsigned k = 0; k < i.count && to != nullptr; ++k)
      Write<T, kWhere>(to + k * sizeof(T), static_cast<T>(w.Src(list[k])[l]));
  });
}

template <class T, Where kWhere>
Handler ShapeOf(bool load, bool vector) {
  if (load) return vector ? &LoadVector<T, kWhere> : &Load<T, kWhere>;
  if constexpr (kWhere == Where::kKernelParam) return nullptr;
  return vector ? &StoreVector<T, kWhere> : &Store<T, kWhere>;
}
template <class T>
Handler WhereOf(Where where, bool load, bool vector) {
  switch (where) {
    case Where::kGeneric: return ShapeOf<T, Where::kGeneric>(load, vector);
    case Where::kGlobal: return ShapeOf<T, Where::kGlobal>(load, vector);
    case Where::kShared: return ShapeOf<T, Where::kShared>(load, vector);
    case Where::kLocal: return ShapeOf<T, Where::kLocal>(load, vector);
    case Where::kKernelParam: return ShapeOf<T, Where::kKernelParam>(load, vector);
    case Where::kFrameParam: return ShapeOf<T, Where::kFrameParam>(load, vector);
  }
  return nullptr;
}
Handler AccessOf(Type type, Where where, bool load, bool vector) {
  switch (type) {
    case Type::kS8:
      if (load) return WhereOf<std::int8_t>(where, load, vector);
      [[fallthrough]];
    case Type::kB8:
    case Type::kU8: return WhereOf<std::uint8_t>(where, load, vector);
    case Type::kS16:
      if (load) return WhereOf<std::int16_t>(where, load, vector);
      [[fallthrough]];
    case Type::kB16:
    case Type::kU16:
    case Type::kF16:
    case Type::kBf16: return WhereOf<std::uint16_t>(where, load, vector);
    case Type::kS32:
      if (load) return WhereOf<std::int32_t>(where, load, vector);
      [[fallthrough]];
    case Type::kB32:
    case Type::kU32:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBf16x2: return WhereOf<std::uint32_t>(where, load, vector);
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64: return WhereOf<std::uint64_t>(where, load, vector);
    default: return nullptr;
  }
}

/// Orders, scopes and cache hints: memory here is coherent and one.
void TakeHints(Builder& b) {
  for (const char* hint : {".weak", ".volatile", ".relaxed", ".acquire", ".release", ".mmio", ".cta", ".cluster",
                           ".gpu", ".sys", ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt", ".nc", ".unified"})
    b.Take(hint);
  b.TakeAll(".L1::");
  b.TakeAll(".L2::");
}

/// The modifier ".shared" and the operand's own space agree, or one of them is silent.
std::optional<Where> FindWhere(Builder& b, Space said, const Builder::Address& address) {
  if (said == Space::kConst) said = Space::kGlobal;  // one memory: names of both stand for global addresses
  const Space space = said == Space::kGeneric && address.space ? *address.space : said;
  if (address.space && said != Space::kGeneric && said != *address.space) {
    b.Mismatch();
    return std::nullopt;
  }
  switch (space) {
    case Space::kGlobal:
    case Space::kConst: return Where::kGlobal;
    case Space::kShared: return Where::kShared;
    case Space::kLocal: return Where::kLocal;
    case Space::kParam: {
      // In an entry both its parameters and those it passes on are .param: names tell which; addresses are the entry's.
      const auto& base = b.now().operands;
      for (const ptx::Operand& operand : base)
        if (operand.kind == ptx::Operand::Kind::kAddress && operand.parts[0].kind == ptx::Operand::Kind::kVariable)
          return b.IsKernelParam(operand.parts[0].index) ? Where::kKernelParam : Where::kFrameParam;
      return b.function().entry ? Where::kKernelParam : Where::kFrameParam;
    }
    default: return Where::kGeneric;
  }
}

template <bool kLoad>
void Access(Builder& b) {
  TakeHints(b);
  const Space space = b.TakeSpace();
  const bool v2 = b.Take(".v2"), v4 = b.Take(".v4"), v8 = b.Take(".v8");
  const Type type = b.TakeType();
  b.NeedOperands(2, 3);
  if (b.failed()) return;
  const ptx::Operand& value = b.now().operands[kLoad ? 0 : 1];
  const bool vector = v2 || v4 || v8;
  if (vector != (value.kind == ptx::Operand::Kind::kVector)) return b.Mismatch();
  const Builder::Address address = b.AddressOf(b.now().operands[kLoad ? 1 : 0]);
  const auto where = FindWhere(b, space, address);
  if (b.failed() || !where) return;
  Inst inst{.run = AccessOf(type, *where, kLoad, vector), .a = address.base, .imm = address.offset};
  if (type == Type::kB128) return b.Refuse("moves 128 bits at once, which is not supported");
  if (inst.run == nullptr) return b.Mismatch();
  if (vector) {
    inst.target = b.List(value, type, kLoad, inst.count);
    if (inst.count != (v2 ? 2 : v4 ? 4 : 8)) return b.Mismatch();
  } else if (kLoad) {
    inst.d = b.Dst(value);
  } else {
    inst.b = b.Src(value, type);
  }
  b.Emit(inst);
}

/// cp.async copies at once; its groups are always complete.
void CopyBytes(Warp& w, const Inst& i, Mask m) {
  const std::uint64_t *to = w.Src(i.a), *from = w.Src(i.b);
  ForLanes(m, [&](int l) {
    const std::uint64_t wanted = i.c == kNoSlot ? i.flags : std::min<std::uint64_t>(w.Src(i.c)[l], i.flags);
    std::byte* target = w.Shared(to[l] + static_cast<std::uint64_t>(i.imm), i.flags);
    if (target == nullptr) return;
    std::byte bytes[16] = {};
    if (wanted != 0) {
      const std::byte* source = w.Global(from[l] + i.target, i.flags);
      if (source == nullptr) return;
      std::memcpy(bytes, source, wanted);
    }
    std::memcpy(target, bytes, i.flags);
  });
}
void Cp(Builder& b) {
  if (!b.Take(".async")) return b.Refuse("is not supported on this device");
  if (b.Take(".commit_group") || b.Take(".wait_group") || b.Take(".wait_all")) return;
  TakeHints(b);
  b.TakeSpace();
  b.TakeSpace();
  b.NeedOperands(3, 5);
  if (b.failed() || b.now().operands[2].kind != ptx::Operand::Kind::kInteger) return b.Mismatch();
  const Builder::Address to = b.AddressOf(b.now().operands[0]), from = b.AddressOf(b.now().operands[1]);
  const std::uint64_t size = b.now().operands[2].bits;
  if (size != 4 && size != 8 && size != 16) return b.Mismatch();
  b.Emit({.run = &CopyBytes,
          .a = to.base,
          .b = from.base,
          .c = b.operands() > 3 ? b.Src(3, Type::kU32) : kNoSlot,
          .imm = to.offset,
          .target = static_cast<std::uint32_t>(from.offset),
          .flags = static_cast<std::uint16_t>(size)});
}

/// Hints about caches, which are not simulated.
void Hint(Builder& b) { b.TakeAll("."); }

void CreatePolicy(Builder& b) {
  b.TakeAll(".");
  b.NeedOperands(1, 4);
  const Handler run = [](Warp& w, const Inst& i, Mask m) { ForLanes(m, [&](int l) { w.Dst(i.d)[l] = 0; }); };
  b.Emit({.run = run, .d = b.Dst(0)});
}

constexpr std::array kOps = {
    Op{"ld", Class::kAny, Access<true>},
    Op{"ldu", Class::kAny, Access<true>},
    Op{"st", Class::kAny, Access<false>},
    Op{"cp", Class::kAny, Cp},
    Op{"prefetch", Class::kAny, Hint},
    Op{"prefetchu", Class::kAny, Hint},
    Op{"discard", Class::kAny, Hint},
    Op{"applypriority", Class::kAny, Hint},
    Op{"createpolicy", Class::kAny, CreatePolicy},
};

}  // namespace

std::span<const Op> MemoryOps() { return kOps; }

}  // namespace gpuop::machine::exec
