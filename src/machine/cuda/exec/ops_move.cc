// mov, packing, and addresses of the state spaces (PTX ISA §9.7.9).

#include <array>
#include <chrono>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Operand;
using ptx::Type;

void Copy(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) { d[l] = a[l]; });
}

/// d = the parts of Code::lists one after another, each `flags` bits wide.
void Pack(Warp& w, const Inst& i, Mask m) {
  const std::int32_t* parts = w.frame().code->lists.data() + i.imm;
  const std::uint64_t mask = (std::uint64_t{1} << i.flags) - 1;
  ForLanes(m, [&](int l) {
    std::uint64_t value = 0;
    for (unsigned k = 0; k < i.count; ++k) value |= (w.Src(parts[k])[l] & mask) << (k * i.flags);
    w.Dst(i.d)[l] = value;
  });
}
void Unpack(Warp& w, const Inst& i, Mask m) {
  const std::int32_t* parts = w.frame().code->lists.data() + i.imm;
  const std::uint64_t mask = (std::uint64_t{1} << i.flags) - 1;
  ForLanes(m, [&](int l) {
    const std::uint64_t value = w.Src(i.a)[l];
    for (unsigned k = 0; k < i.count; ++k) w.Dst(parts[k])[l] = (value >> (k * i.flags)) & mask;
  });
}

void MovePredicate(Builder& b) {
  const auto& operands = b.now().operands;
  const Operand& from = operands[1];
  const Slot d = b.PredDst(operands[0]);
  if (from.kind == Operand::Kind::kInteger) {
    const Handler set = [](Warp& w, const Inst& i, Mask m) { w.SetPred(i.d, m, i.imm != 0 ? m : 0); };
    return b.Emit({.run = set, .d = d, .imm = static_cast<std::int64_t>(from.bits)});
  }
  const Handler copy = [](Warp& w, const Inst& i, Mask m) { w.SetPred(i.d, m, w.PredSrc(i.a)); };
  b.Emit({.run = copy, .d = d, .a = b.PredSrc(from)});
}

void Move(Builder& b) {
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  if (b.failed()) return;
  const auto& operands = b.now().operands;
  if (type == Type::kPred) return MovePredicate(b);
  if (type == Type::kB128) return b.Refuse("uses a register of 128 bits");
  const bool packs = operands[1].kind == Operand::Kind::kVector, unpacks = operands[0].kind == Operand::Kind::kVector;
  if (!packs && !unpacks) return b.Emit({.run = &Copy, .d = b.Dst(0), .a = b.Src(1, type)});
  if (packs && unpacks) return b.Mismatch();
  Inst inst{.run = packs ? &Pack : &Unpack};
  inst.imm = b.List(operands[packs ? 1 : 0], Type::kB64, unpacks, inst.count);
  if (inst.count < 2 || ptx::SizeOf(type) % inst.count != 0) return b.Mismatch();
  inst.flags = static_cast<std::uint16_t>(ptx::SizeOf(type) * 8 / inst.count);
  if (packs) inst.d = b.Dst(0);
  if (unpacks) inst.a = b.Src(1, type);
  b.Emit(inst);
}

std::uint64_t WindowOf(ptx::Space space) {
  switch (space) {
    case ptx::Space::kShared: return kSharedWindow;
    case ptx::Space::kLocal: return kLocalWindow;
    case ptx::Space::kParam: return kParamWindow;
    default: return 0;
  }
}

void Cvta(Builder& b) {
  const bool to = b.Take(".to");
  const ptx::Space space = b.TakeSpace();
  const Type type = b.TakeType();
  b.NeedOperands(2, 2);
  const std::uint64_t window = WindowOf(space);
  b.Emit({.run = &Two<std::uint64_t, [](auto x, auto y) { return x + y; }>,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .b = b.Constant(to ? 0 - window : window)});
}

void Isspacep(Builder& b) {
  const ptx::Space space = b.TakeSpace();
  b.NeedOperands(2, 2);
  if (b.failed()) return;
  const Handler run = [](Warp& w, const Inst& i, Mask m) {
    const std::uint64_t* a = w.Src(i.a);
    Mask result = 0;
    ForLanes(m, [&](int l) { result |= Mask{static_cast<std::int64_t>(a[l] >> 48) == i.imm} << l; });
    w.SetPred(i.d, m, result);
  };
  b.Emit({.run = run,
          .d = b.PredDst(b.now().operands[0]),
          .a = b.Src(1, Type::kU64),
          .imm = static_cast<std::int64_t>(WindowOf(space) >> 48)});
}

std::uint64_t Nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
template <int kShift>
void ReadClock(Warp& w, const Inst& i, Mask m) {
  const std::uint64_t now = Nanoseconds() >> kShift;
  ForLanes(m, [&](int l) { w.Dst(i.d)[l] = now; });
}

constexpr std::array kOps = {
    Op{"mov", Class::kAny, Move},
    Op{"cvta", Class::kAny, Cvta},
    Op{"isspacep", Class::kAny, Isspacep},
};

}  // namespace

Handler ClockReader(std::string_view name) {
  if (name == "%clock" || name == "%clock64" || name == "%globaltimer" || name == "%globaltimer_lo")
    return &ReadClock<0>;
  if (name == "%clock_hi" || name == "%globaltimer_hi") return &ReadClock<32>;
  return nullptr;
}

std::span<const Op> MoveOps() { return kOps; }

}  // namespace gpuop::machine::exec
