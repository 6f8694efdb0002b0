#pragma once
// A PTX module as parsed: names resolved, nothing decided yet about how it runs. All texts are views into the PTX text.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/cuda/ptx/types.h"

namespace gpuop::machine::ptx {

/// One value of an initialiser: bits, or the address of a symbol.
struct Initial {
  std::uint64_t bits = 0;              ///< or what is added to the symbol's address
  std::string_view symbol{};           ///< empty: `bits` is the value
  std::uint32_t offset = 0, size = 0;  ///< where in the variable, bytes
};

enum class Linkage : std::uint8_t { kInternal, kExtern, kVisible, kWeak, kCommon };

struct Variable {
  std::string_view name{};
  Space space = Space::kGlobal;
  Type type = Type::kNone;
  std::uint32_t align = 1;
  std::uint64_t size = 0;  ///< bytes; 0 with `unsized`
  bool unsized = false;    ///< "x[]"
  bool managed = false;
  Linkage linkage = Linkage::kInternal;
  int line = 0;
  std::vector<Initial> initial{};  ///< what is not listed is zero
};

/// What an instruction names.
struct Operand {
  enum class Kind : std::uint8_t {
    kNone,
    kRegister,  ///< `index` of Function::registers
    kInteger,   ///< `bits`
    kFloat,     ///< `bits` of a binary64
    kFloat32,   ///< `bits` of a binary32
    kVariable,  ///< `index` of Function::variables: declared in the function, or a parameter
    kSymbol,    ///< `name`: a variable or function of the module, a label, a target list, a prototype
    kSpecial,   ///< `name` with its component: "%tid.x"
    kAddress,   ///< [parts[0] + bits]
    kVector,    ///< {parts…}
    kTuple,     ///< (parts…): arguments of a call
    kSink,      ///< "_"
  };
  Kind kind = Kind::kNone;
  bool negated = false;  ///< "!%p1"
  std::uint32_t index = 0;
  std::uint64_t bits = 0;  ///< for kVariable, kSymbol: what is added ("a+4")
  std::string_view name{};
  std::vector<Operand> parts{};
  std::vector<Operand> second{};  ///< "%p1|%p2": the one after the bar
};

inline constexpr std::uint32_t kNoGuard = 0xffffffff;

struct Instruction {
  std::string_view opcode{};                  ///< whole: "ld.global.nc.v2.f64"
  std::string_view base{};                    ///< "ld"
  std::vector<std::string_view> modifiers{};  ///< ".global", ".nc" …
  std::uint32_t guard = kNoGuard;             ///< a register of type .pred
  bool guard_negated = false;
  int line = 0;
  std::vector<Operand> operands{};
  std::vector<std::uint32_t> targets{};  ///< of bra, brx: indices of instructions
};

struct Register {
  std::string_view name{};
  Type type = Type::kNone;
};

/// What an indirect call promises about its target.
struct Prototype {
  std::vector<Variable> returns{}, params{};
};

struct Function {
  std::string_view name{};
  bool entry = false, defined = false, no_return = false;
  Linkage linkage = Linkage::kInternal;
  int line = 0;
  std::uint32_t max_threads = 0;          ///< .maxntid's product; 0: not said
  std::uint32_t required[3] = {0, 0, 0};  ///< .reqntid
  std::uint32_t max_registers = 0, min_blocks = 0;
  /// Parameters and returned values: indices of `variables`, or of `registers` for .reg ones.
  struct Formal {
    bool in_register = false;
    std::uint32_t index = 0;
  };
  std::vector<Formal> params{}, returns{};
  std::vector<Register> registers{};
  std::vector<Variable> variables{};
  std::vector<Instruction> instructions{};
};

struct Module {
  int version = 0;             ///< 95 for 9.5
  std::string target{};        ///< "sm_80"
  int compute = 0;             ///< 80
  bool arch_specific = false;  ///< sm_90a: runs on that architecture alone
  std::vector<Variable> variables{};
  std::vector<Function> functions{};  ///< a definition stands in the place of its declaration

  const Function* FindFunction(std::string_view name) const;
  const Variable* FindVariable(std::string_view name) const;
};

}  // namespace gpuop::machine::ptx
