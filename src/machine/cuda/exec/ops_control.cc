// Branches, calls, barriers and what ends a kernel (PTX ISA §9.7.12, §9.7.13).

#include <array>
#include <string>
#include <utility>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Operand;
using ptx::Type;

/// The barrier that stands for the cluster's, after the 16 of the block.
constexpr std::uint64_t kClusterBarrier = 16;

void Bra(Builder& b) {
  b.Take(".uni");
  b.NeedOperands(1, 1);
  b.Jump({.flow = Flow::kBranch});
}

void Brx(Builder& b) {
  b.Take(".idx");
  b.Take(".uni");
  b.NeedOperands(2, 2);
  const auto& targets = b.now().targets;
  if (b.failed() || targets.empty()) return b.Mismatch();
  const auto at = static_cast<std::uint32_t>(b.code().lists.size());
  for (std::uint32_t i = 0; i < targets.size(); ++i) {
    b.code().lists.push_back(0);
    b.TableEntry(at + i, targets[i]);
  }
  b.Emit({.a = b.Src(0, Type::kU32),
          .imm = at,
          .target = static_cast<std::uint32_t>(targets.size()),
          .flow = Flow::kTable});
}

/// An argument or result: a .param variable or a register.
CallInfo::Value ValueOf(Builder& b, const Operand& operand, bool written) {
  if (operand.kind == Operand::Kind::kVariable) {
    const ptx::Variable& variable = b.function().variables[operand.index];
    if (variable.space != ptx::Space::kParam || b.IsKernelParam(operand.index)) b.Mismatch();
    return {.offset = static_cast<std::uint32_t>(b.places()[operand.index].address),
            .size = static_cast<std::uint32_t>(variable.size)};
  }
  return {.in_register = true, .slot = written ? b.Dst(operand) : b.Src(operand, Type::kB64), .size = 8};
}

void Call(Builder& b) {
  b.Take(".uni");
  if (b.operands() == 0) return b.Mismatch();
  const auto& operands = b.now().operands;
  CallInfo call;
  std::size_t at = 0;
  if (operands[0].kind == Operand::Kind::kTuple) {
    for (const Operand& part : operands[0].parts) call.results.push_back(ValueOf(b, part, true));
    ++at;
  }
  if (at >= operands.size()) return b.Mismatch();
  const Operand& target = operands[at++];
  if (at < operands.size() && operands[at].kind == Operand::Kind::kTuple)
    for (const Operand& part : operands[at].parts) call.args.push_back(ValueOf(b, part, false));
  Inst inst{.a = kNoSlot, .b = static_cast<Slot>(b.code().calls.size()), .flow = Flow::kCall};
  if (target.kind == Operand::Kind::kSymbol) {
    const auto function = b.symbols().Function(target.name);
    if (!function) return b.Refuse("calls '" + std::string(target.name) + "', which is not defined");
    inst.target = *function;
  } else {
    inst.a = b.Src(target, Type::kU64);
  }
  b.code().calls.push_back(std::move(call));
  b.Emit(inst);
}

void Ret(Builder& b) {
  b.Take(".uni");
  b.Emit({.flow = Flow::kReturn});
}
void Exit(Builder& b) { b.Emit({.flow = Flow::kExit}); }

void EndKernel(Builder& b) {
  const Handler run = [](Warp& w, const Inst&, Mask) { w.Raise(Trap::kTrap, "trap"); };
  b.Emit({.run = run});
}

/// Memory is coherent and warps of a block run in turn: fences order nothing that is not ordered.
void Nothing(Builder& b) { b.TakeAll("."); }

void WarpBarrier(Builder& b) {
  b.Take(".sync");
  b.NeedOperands(1, 1);
  const Handler run = [](Warp&, const Inst&, Mask) {};
  b.Emit({.run = run, .c = b.Src(0, Type::kB32), .flow = Flow::kWarp});
}

void Reduction(Builder& b) {
  std::uint16_t kind = kBarrierPopc;
  if (b.Take(".and"))
    kind = kBarrierAnd;
  else if (b.Take(".or"))
    kind = kBarrierOr;
  else
    b.Take(".popc");
  b.TakeType();
  b.NeedOperands(3, 4);
  if (b.failed()) return;
  const auto& operands = b.now().operands;
  const bool counted = operands.size() == 4;
  b.Emit({.d = kind == kBarrierPopc ? b.Dst(0) : b.PredDst(operands[0]),
          .a = b.Src(1, Type::kU32),
          .b = counted ? b.Src(2, Type::kU32) : kNoSlot,
          .c = b.PredSrc(operands.back()),
          .flags = kind,
          .flow = Flow::kBarrier});
}

void Barrier(Builder& b) {
  if (b.Take(".warp")) return WarpBarrier(b);
  b.Take(".cta");
  b.Take(".aligned");
  if (b.Take(".cluster")) {
    b.TakeAll(".a");  // acquire, and arrive, whose other half is the wait
    b.TakeAll(".re");
    if (!b.Take(".wait")) return;
    return b.Emit({.a = b.Constant(kClusterBarrier), .b = kNoSlot, .flags = kBarrierSync, .flow = Flow::kBarrier});
  }
  if (b.Take(".red")) return Reduction(b);
  const bool arrive = b.Take(".arrive");
  if (!arrive) b.Take(".sync");
  b.NeedOperands(arrive ? 2 : 1, 2);
  b.Emit({.a = b.Src(0, Type::kU32),
          .b = b.operands() > 1 ? b.Src(1, Type::kU32) : kNoSlot,
          .flags = arrive ? kBarrierArrive : kBarrierSync,
          .flow = Flow::kBarrier});
}

constexpr std::array kOps = {
    Op{"bra", Class::kAny, Bra},
    Op{"brx", Class::kAny, Brx},
    Op{"call", Class::kAny, Call},
    Op{"ret", Class::kAny, Ret},
    Op{"exit", Class::kAny, Exit},
    Op{"trap", Class::kAny, EndKernel},
    Op{"bar", Class::kAny, Barrier},
    Op{"barrier", Class::kAny, Barrier},
    Op{"membar", Class::kAny, Nothing},
    Op{"fence", Class::kAny, Nothing},
    Op{"nanosleep", Class::kAny, Nothing},
    Op{"brkpt", Class::kAny, Nothing},
    Op{"pmevent", Class::kAny, Nothing},
    Op{"setmaxnreg", Class::kAny, Nothing},
    Op{"griddepcontrol", Class::kAny, Nothing},
};

}  // namespace

std::span<const Op> ControlOps() { return kOps; }

}  // namespace gpuop::machine::exec
