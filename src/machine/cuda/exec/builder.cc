#include "machine/cuda/exec/builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/cuda/exec/half.h"
#include "machine/cuda/exec/value.h"
#include "machine/cuda/ptx/lexer.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Operand;
using ptx::Type;

Class ClassOf(const ptx::Instruction& inst) {
  Type last = Type::kNone;
  for (const std::string_view modifier : inst.modifiers) last = ptx::TypeNamed(modifier).value_or(last);
  switch (last) {
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBf16:
    case Type::kBf16x2: return Class::kHalf;
    case Type::kF32:
    case Type::kF64: return Class::kFloat;
    default: return Class::kInt;
  }
}

const Op* FindOp(const ptx::Instruction& inst) {
  static const std::map<std::string, std::vector<const Op*>, std::less<>>& table = *[] {
    auto* made = new std::map<std::string, std::vector<const Op*>, std::less<>>;
    for (const auto& family : {IntegerOps(), CarryOps(), BitOps(), ByteOps(), FloatOps(), HalfOps(), ConvertOps(),
                               CompareOps(), MoveOps(), MemoryOps(), AtomicOps(), WarpOps(), ControlOps()})
      for (const Op& op : family) (*made)[std::string(op.name)].push_back(&op);
    return made;
  }();
  const bool carry = std::ranges::find(inst.modifiers, ".cc") != inst.modifiers.end();
  const bool begins = inst.base == "add" || inst.base == "sub" || inst.base == "mad";
  const auto it = table.find(carry && begins ? std::string(inst.base) + ".cc" : std::string(inst.base));
  if (it == table.end()) return nullptr;
  for (const Op* op : it->second)
    if (op->of == Class::kAny || op->of == ClassOf(inst)) return op;
  return nullptr;
}

struct SpecialName {
  std::string_view name;
  Special special;
};
constexpr std::array kSpecials = {
    SpecialName{"%tid.x", Special::kTidX},
    SpecialName{"%tid.y", Special::kTidY},
    SpecialName{"%tid.z", Special::kTidZ},
    SpecialName{"%ntid.x", Special::kNtidX},
    SpecialName{"%ntid.y", Special::kNtidY},
    SpecialName{"%ntid.z", Special::kNtidZ},
    SpecialName{"%ctaid.x", Special::kCtaidX},
    SpecialName{"%ctaid.y", Special::kCtaidY},
    SpecialName{"%ctaid.z", Special::kCtaidZ},
    SpecialName{"%nctaid.x", Special::kNctaidX},
    SpecialName{"%nctaid.y", Special::kNctaidY},
    SpecialName{"%nctaid.z", Special::kNctaidZ},
    SpecialName{"%laneid", Special::kLane},
    SpecialName{"%warpid", Special::kWarp},
    SpecialName{"%nwarpid", Special::kWarps},
    SpecialName{"%smid", Special::kSm},
    SpecialName{"%nsmid", Special::kSms},
    SpecialName{"%gridid", Special::kGrid},
    SpecialName{"%lanemask_eq", Special::kLaneEq},
    SpecialName{"%lanemask_le", Special::kLaneLe},
    SpecialName{"%lanemask_lt", Special::kLaneLt},
    SpecialName{"%lanemask_ge", Special::kLaneGe},
    SpecialName{"%lanemask_gt", Special::kLaneGt},
    SpecialName{"%dynamic_smem_size", Special::kDynamicShared},
    SpecialName{"%total_smem_size", Special::kTotalShared},
    SpecialName{"%aggr_smem_size", Special::kTotalShared},
    // How kernels compiled by nvcc find the words of cooperative_groups' grid barrier.
    SpecialName{"%envreg1", Special::kWorkspaceHigh},
    SpecialName{"%envreg2", Special::kWorkspaceLow},
    // Clusters are of one block.
    SpecialName{"%clusterid.x", Special::kCtaidX},
    SpecialName{"%clusterid.y", Special::kCtaidY},
    SpecialName{"%clusterid.z", Special::kCtaidZ},
    SpecialName{"%nclusterid.x", Special::kNctaidX},
    SpecialName{"%nclusterid.y", Special::kNctaidY},
    SpecialName{"%nclusterid.z", Special::kNctaidZ},
    SpecialName{"%cluster_ctaid.x", Special::kZero},
    SpecialName{"%cluster_ctaid.y", Special::kZero},
    SpecialName{"%cluster_ctaid.z", Special::kZero},
    SpecialName{"%cluster_nctaid.x", Special::kOne},
    SpecialName{"%cluster_nctaid.y", Special::kOne},
    SpecialName{"%cluster_nctaid.z", Special::kOne},
    SpecialName{"%cluster_ctarank", Special::kZero},
    SpecialName{"%cluster_nctarank", Special::kOne},
};

/// An immediate's bits as a value of `type`.
std::uint64_t Immediate(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kInteger && type != Type::kF32 && type != Type::kF64) return operand.bits;
  double value = 0;
  if (operand.kind == Operand::Kind::kInteger) value = static_cast<double>(static_cast<std::int64_t>(operand.bits));
  if (operand.kind == Operand::Kind::kFloat) value = std::bit_cast<double>(operand.bits);
  if (operand.kind == Operand::Kind::kFloat32) {
    if (ptx::SizeOf(type) == 4 && type != Type::kF16x2 && type != Type::kBf16x2) return operand.bits;
    value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
  }
  switch (type) {
    case Type::kF32:
    case Type::kTf32:
    case Type::kB32: return Put(static_cast<float>(value));
    case Type::kF16: return ToHalf(value);
    case Type::kBf16: return ToBfloat(value);
    default: return std::bit_cast<std::uint64_t>(value);
  }
}

}  // namespace

Builder::Builder(const ptx::Function& function, std::span<const Place> places, const Symbols& symbols, Routine& code)
    : function_(function), places_(places), symbols_(symbols), code_(code) {
  for (const ptx::Register& reg : function.registers)
    slots_.push_back(static_cast<Slot>(reg.type == Type::kPred ? code.predicates++ : code.registers++));
}

Result<> Builder::Run() {
  for (const ptx::Instruction& inst : function_.instructions) {
    starts_.push_back(static_cast<std::uint32_t>(code_.insts.size()));
    Decode(inst);
    if (error_) return std::unexpected(*error_);
  }
  starts_.push_back(static_cast<std::uint32_t>(code_.insts.size()));
  code_.insts.push_back({.flow = Flow::kReturn});  // a body may end without ret
  for (const auto& [inst, target] : jumps_) code_.insts[inst].target = starts_[target];
  for (const auto& [entry, target] : tables_) code_.lists[entry] = static_cast<std::int32_t>(starts_[target]);
  return {};
}

void Builder::Decode(const ptx::Instruction& inst) {
  now_ = &inst;
  taken_.assign(inst.modifiers.size(), false);
  const Op* op = FindOp(inst);
  if (op == nullptr) return Refuse("is not supported on this device");
  op->build(*this);
  for (std::size_t i = 0; i < taken_.size() && !error_; ++i)
    if (!taken_[i]) Refuse("has the modifier '" + std::string(inst.modifiers[i]) + "', which is not supported");
}

bool Builder::Take(std::string_view modifier) {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (now_->modifiers[i] != modifier || taken_[i]) continue;
    taken_[i] = true;
    return true;
  }
  return false;
}

void Builder::TakeAll(std::string_view prefix) {
  for (std::size_t i = 0; i < taken_.size(); ++i)
    if (now_->modifiers[i].starts_with(prefix)) taken_[i] = true;
}

Type Builder::TakeType() {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i]) continue;
    const auto type = ptx::TypeNamed(now_->modifiers[i]);
    if (!type) continue;
    taken_[i] = true;
    return *type;
  }
  return Type::kNone;
}

ptx::Space Builder::TakeSpace() {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const auto space = ptx::SpaceNamed(now_->modifiers[i]);
    if (taken_[i] || !space) continue;
    taken_[i] = true;
    return *space;
  }
  return ptx::Space::kGeneric;
}

void Builder::Refuse(std::string_view why) {
  if (error_) return;
  error_ = {gpuop::Code::kUnsupported,
            ptx::Complaint(now_->line, "Instruction '" + std::string(now_->opcode) + "' " + std::string(why))};
}

void Builder::Mismatch() {
  if (error_) return;
  error_ = {gpuop::Code::kInvalid,
            ptx::Complaint(now_->line, "Arguments mismatch for instruction '" + std::string(now_->base) + "'")};
}

void Builder::NeedOperands(std::size_t least, std::size_t most) {
  if (operands() < least || operands() > most) Mismatch();
}

void Builder::Emit(Inst inst) {
  inst.line = now_->line;
  if (now_->guard != ptx::kNoGuard) inst.guard = slots_[now_->guard] * 2 + (now_->guard_negated ? 1 : 0);
  code_.insts.push_back(inst);
}

void Builder::Jump(Inst inst) {
  if (now_->targets.empty()) return Mismatch();
  Emit(inst);
  jumps_.emplace_back(code_.insts.size() - 1, now_->targets[0]);
}

bool Builder::IsKernelParam(std::uint32_t variable) const {
  return function_.entry && std::ranges::any_of(function_.params, [&](const ptx::Function::Formal& formal) {
           return !formal.in_register && formal.index == variable;
         });
}

bool Builder::IsPredicate(const Operand& operand) const {
  return operand.kind == Operand::Kind::kRegister && function_.registers[operand.index].type == Type::kPred;
}

Slot Builder::Dst(std::size_t operand) {
  if (operand < operands()) return Dst(now_->operands[operand]);
  Mismatch();
  return 0;
}

Slot Builder::Dst(const Operand& operand) {
  if (operand.kind == Operand::Kind::kSink) return Temporary();
  if (operand.kind == Operand::Kind::kRegister && !IsPredicate(operand)) {
    if (function_.registers[operand.index].type == Type::kB128) Refuse("uses a register of 128 bits");
    return slots_[operand.index];
  }
  Mismatch();
  return 0;
}

Slot Builder::Src(std::size_t operand, Type type) {
  if (operand < operands()) return Src(now_->operands[operand], type);
  Mismatch();
  return 0;
}

Slot Builder::Src(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      if (IsPredicate(operand) || operand.negated) break;
      return Dst(operand);
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat:
    case Operand::Kind::kFloat32: return Constant(Immediate(operand, type));
    case Operand::Kind::kSpecial: return SpecialValue(operand);
    case Operand::Kind::kVariable:
    case Operand::Kind::kSymbol:
      if (const auto place = PlaceOf(operand)) return NamedValue(*place, operand.bits);
      return 0;
    default: break;
  }
  Mismatch();
  return 0;
}

Slot Builder::PredDst(const Operand& operand) {
  if (operand.kind == Operand::Kind::kSink) return static_cast<Slot>(code_.predicates++);
  if (IsPredicate(operand) && !operand.negated) return slots_[operand.index];
  Mismatch();
  return 0;
}

Slot Builder::PredSrc(const Operand& operand) {
  if (IsPredicate(operand)) return slots_[operand.index] * 2 + (operand.negated ? 1 : 0);
  Mismatch();
  return 0;
}

Slot Builder::Constant(std::uint64_t bits) {
  const auto [it, added] = constants_.try_emplace(bits, ~static_cast<Slot>(constants_.size()));
  if (added) code_.constants.insert(code_.constants.end(), kLanes, bits);
  return it->second;
}

Slot Builder::SpecialSlot(Special special) {
  const auto [it, added] = specials_.try_emplace(special, 0);
  if (added) {
    it->second = Temporary();
    code_.specials.emplace_back(it->second, special);
  }
  return it->second;
}

Slot Builder::SpecialValue(const Operand& operand) {
  for (const SpecialName& known : kSpecials)
    if (known.name == operand.name) return SpecialSlot(known.special);
  if (const Handler read = ClockReader(operand.name)) {
    Inst inst{.run = read, .d = Temporary()};
    Emit(inst);
    return inst.d;
  }
  if (operand.name == "%is_explicit_cluster" || operand.name.starts_with("%pm") || operand.name.starts_with("%envreg"))
    return Constant(0);
  if (!error_)
    error_ = {gpuop::Code::kInvalid,
              ptx::Complaint(now_->line, "Unknown symbol '" + std::string(operand.name) + "' in instruction '" +
                                             std::string(now_->opcode) + "'")};
  return 0;
}

std::optional<Place> Builder::PlaceOf(const Operand& operand) {
  if (operand.kind == Operand::Kind::kVariable) return places_[operand.index];
  const auto place = symbols_.Find(operand.name);
  if (!place && !error_)
    error_ = {gpuop::Code::kInvalid, ptx::Complaint(now_->line, "Unknown symbol '" + std::string(operand.name) + "'")};
  return place;
}

Slot Builder::NamedValue(const Place& place, std::uint64_t more) {
  if (place.space == ptx::Space::kLocal) {
    Inst add{.run = &exec::Two<std::uint64_t, [](auto a, auto b) { return a + b; }>,
             .d = Temporary(),
             .a = SpecialSlot(Special::kLocalBase),
             .b = Constant(place.address + more)};
    Emit(add);
    return add.d;
  }
  if (place.space == ptx::Space::kParam && !function_.entry)
    Refuse("takes the address of a function's parameter, which is not supported");
  return Constant(place.address + more);
}

Builder::Address Builder::AddressOf(const Operand& operand) {
  if (operand.kind != Operand::Kind::kAddress || operand.parts.size() != 1) {
    Mismatch();
    return {};
  }
  const Operand& base = operand.parts[0];
  Address address{.offset = static_cast<std::int64_t>(operand.bits)};
  if (base.kind != Operand::Kind::kVariable && base.kind != Operand::Kind::kSymbol) {
    address.base = Src(base, Type::kB64);
    return address;
  }
  const auto place = PlaceOf(base);
  if (!place) return address;
  address.space = place->space;
  const bool local = place->space == ptx::Space::kLocal;
  address.base = local ? SpecialSlot(Special::kLocalBase) : Constant(0);
  address.offset += static_cast<std::int64_t>(place->address);
  return address;
}

std::uint32_t Builder::List(const Operand& operand, Type type, bool written, std::uint8_t& count) {
  std::vector<Slot> slots;
  if (operand.kind != Operand::Kind::kVector) slots.push_back(written ? Dst(operand) : Src(operand, type));
  for (const Operand& part : operand.parts) slots.push_back(written ? Dst(part) : Src(part, type));
  if (slots.size() > 8) Mismatch();
  count = static_cast<std::uint8_t>(slots.size());
  const auto at = static_cast<std::uint32_t>(code_.lists.size());
  code_.lists.insert(code_.lists.end(), slots.begin(), slots.end());
  return at;
}

}  // namespace gpuop::machine::exec
