#pragma once
// Turns a function's instructions into Code, one by one. A family of instructions (ops_*.cc) says in a table which
// names it knows and how each is decoded; everything that an instruction says must be taken, or it is refused by name.

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "machine/cuda/exec/code.h"
#include "machine/cuda/ptx/module.h"

namespace gpuop::machine::exec {

/// Where a name of the module, or a variable of the function, is.
struct Place {
  ptx::Space space = ptx::Space::kGlobal;
  std::uint64_t address = 0;  ///< in its space
};

/// What a function's code refers to outside itself.
class Symbols {
 public:
  virtual ~Symbols() = default;
  /// A variable of the module, or the address of a function; nullopt: no such name.
  virtual std::optional<Place> Find(std::string_view name) const = 0;
  /// Index in Program::functions of a called function; nullopt: no such name.
  virtual std::optional<std::uint32_t> Function(std::string_view name) const = 0;
};

class Builder {
 public:
  /// `places`: of the function's variables, by their index.
  Builder(const ptx::Function& function, std::span<const Place> places, const Symbols& symbols, Routine& code);
  /// Decodes every instruction. The error names line and instruction, as Complaint does.
  Result<> Run();

  // What the families ask. A wrong instruction is remembered as the error; what is returned then does not matter.
  const ptx::Instruction& now() const { return *now_; }
  std::size_t operands() const { return now_->operands.size(); }
  /// Whether the instruction has this modifier; it counts as understood.
  bool Take(std::string_view modifier);
  /// All that begin with `prefix` count as understood.
  void TakeAll(std::string_view prefix);
  /// The first type that was not taken yet; kNone: there is none.
  ptx::Type TakeType();
  /// The space among the modifiers; kGeneric without one.
  ptx::Space TakeSpace();

  Slot Dst(std::size_t operand);
  Slot Src(std::size_t operand, ptx::Type type);
  Slot Src(const ptx::Operand& operand, ptx::Type type);
  Slot Dst(const ptx::Operand& operand);
  Slot PredDst(const ptx::Operand& operand);
  Slot PredSrc(const ptx::Operand& operand);
  bool IsPredicate(const ptx::Operand& operand) const;
  Slot Constant(std::uint64_t bits);
  Slot Temporary() { return static_cast<Slot>(code_.registers++); }
  Slot SpecialSlot(Special special);

  /// [base + offset], and the space when a name gives it.
  struct Address {
    Slot base = 0;
    std::int64_t offset = 0;
    std::optional<ptx::Space> space = std::nullopt;
  };
  Address AddressOf(const ptx::Operand& operand);
  /// The registers of a vector operand, as a run in Routine::lists; a single register is a vector of one.
  std::uint32_t List(const ptx::Operand& operand, ptx::Type type, bool written, std::uint8_t& count);

  /// Adds an instruction under the guard of the one being decoded.
  void Emit(Inst inst);
  Routine& code() { return code_; }
  const ptx::Function& function() const { return function_; }
  const Symbols& symbols() const { return symbols_; }
  std::span<const Place> places() const { return places_; }
  /// Whether a variable of the function is a parameter of the kernel, rather than one that is passed on in a call.
  bool IsKernelParam(std::uint32_t variable) const;
  void Jump(Inst inst);  ///< Emit, with its target among now().targets[0], to be set when all places are known
  void Refuse(std::string_view why);
  /// "Arguments mismatch for instruction 'x'"
  void Mismatch();
  void NeedOperands(std::size_t least, std::size_t most);
  bool failed() const { return error_.has_value(); }

 private:
  void Decode(const ptx::Instruction& inst);
  Slot SpecialValue(const ptx::Operand& operand);
  Slot NamedValue(const Place& place, std::uint64_t more);
  std::optional<Place> PlaceOf(const ptx::Operand& operand);

  const ptx::Function& function_;
  std::span<const Place> places_;
  const Symbols& symbols_;
  Routine& code_;
  const ptx::Instruction* now_ = nullptr;
  std::vector<bool> taken_;
  std::vector<Slot> slots_;  ///< of the function's registers: a register or a predicate
  std::map<std::uint64_t, Slot> constants_;
  std::map<Special, Slot> specials_;
  std::vector<std::uint32_t> starts_;                            ///< of the function's instructions in Routine::insts
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jumps_;   ///< instruction, its target in the PTX
  std::vector<std::pair<std::uint32_t, std::uint32_t>> tables_;  ///< entry of Routine::lists, its target in the PTX
  std::optional<Error> error_;

 public:
  /// Makes entry `at` of Routine::lists the place of the PTX's instruction `target`.
  void TableEntry(std::uint32_t at, std::uint32_t target) { tables_.emplace_back(at, target); }
};

/// Which instructions of a name a row is for, by the last type among the modifiers.
enum class Class : std::uint8_t { kAny, kInt, kFloat, kHalf };

struct Op {
  std::string_view name;
  Class of = Class::kAny;
  void (*build)(Builder&) = nullptr;
};

/// What reads %clock, %clock64, %clock_hi, %globaltimer, …; nullptr: another name.
Handler ClockReader(std::string_view name);

std::span<const Op> IntegerOps();
std::span<const Op> CarryOps();
std::span<const Op> BitOps();
std::span<const Op> ByteOps();
std::span<const Op> FloatOps();
std::span<const Op> HalfOps();
std::span<const Op> ConvertOps();
std::span<const Op> CompareOps();
std::span<const Op> MoveOps();
std::span<const Op> MemoryOps();
std::span<const Op> AtomicOps();
std::span<const Op> WarpOps();
std::span<const Op> ControlOps();

}  // namespace gpuop::machine::exec
