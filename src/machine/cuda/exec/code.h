#pragma once
// A kernel and the functions it can reach, decoded once: what the interpreter runs.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/ptx/types.h"

namespace gpuop::machine::exec {

/// One bit for each of a warp's 32 lanes.
using Mask = std::uint32_t;
inline constexpr int kLanes = 32;

class Warp;
struct Inst;
/// Carries out one instruction for the lanes of the mask, which is never empty.
using Handler = void (*)(Warp&, const Inst&, Mask);

/// How an instruction leaves the straight line.
enum class Flow : std::uint8_t {
  kNone,
  kBranch,  ///< to Inst::target, for the lanes of the guard
  kTable,   ///< brx.idx: the target is in Routine::lists at Inst::imm + value of Inst::a, Inst::target of them
  kCall,    ///< Inst::b is an index of Routine::calls; Inst::target the function, or the address is in Inst::a
  kReturn,
  kExit,
  kWarp,     ///< all lanes that the mask in Inst::c names meet here; then Inst::run does it for all of them at once
  kBarrier,  ///< of the block; Inst::a is the barrier, Inst::b the number of threads (kNoSlot: all), flags a
             ///< BarrierKind
};
enum BarrierKind : std::uint16_t { kBarrierSync, kBarrierArrive, kBarrierPopc, kBarrierAnd, kBarrierOr };

/// Where an operand's 32 values lie: an index of the frame's registers, or (negative, ~index) of the code's constants.
/// Predicates are one Mask each; as a source 2 * index, plus 1 when negated.
using Slot = std::int32_t;
inline constexpr Slot kNoSlot = INT32_MIN;

struct Inst {
  Handler run = nullptr;
  Slot d = 0, e = 0;                ///< written
  Slot a = 0, b = 0, c = 0, x = 0;  ///< read
  std::int64_t imm = 0;
  std::int32_t guard = -1;  ///< a source predicate; -1: none
  std::uint32_t target = 0;
  std::uint16_t flags = 0;  ///< what the handler makes of it
  std::uint8_t count = 0;
  Flow flow = Flow::kNone;
  std::int32_t line = 0;
};

/// Parameters travel by copying bytes between frames' parameter areas, or values of registers.
struct CallInfo {
  struct Value {
    bool in_register = false;
    Slot slot = 0;             ///< of the register or constant
    std::uint32_t offset = 0;  ///< in the caller's parameter area
    std::uint32_t size = 0;
  };
  std::vector<Value> args, results;
};

/// Registers that hold the same thing all along, filled when a frame is made.
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLane,
  kWarp,
  kWarps,
  kSm,
  kSms,
  kGrid,
  kLaneEq,
  kLaneLe,
  kLaneLt,
  kLaneGe,
  kLaneGt,
  kDynamicShared,
  kTotalShared,
  kZero,
  kOne,
  kLocalBase,
  kWorkspaceHigh,
  kWorkspaceLow,
};

/// Functions of the device's run-time library that need no code.
enum class Builtin : std::uint8_t { kNone, kPrintf, kAssertFail, kMalloc, kFree };

struct Routine {
  struct Formal {
    bool in_register = false;
    Slot slot = 0;
    std::uint32_t offset = 0, size = 0;
  };
  std::string name;
  Builtin builtin = Builtin::kNone;
  std::vector<Inst> insts;               ///< ends with an exit or return
  std::vector<std::uint64_t> constants;  ///< each 32 times over
  std::vector<std::int32_t> lists;       ///< vectors' registers, branch tables
  std::vector<CallInfo> calls;
  std::vector<std::pair<Slot, Special>> specials;
  std::vector<Formal> params, results;  ///< in the frame's parameter area
  std::uint32_t registers = 0, predicates = 0;
  std::uint32_t param_bytes = 0;  ///< of the frame's parameter area, per lane
  std::uint32_t local_bytes = 0;
};

/// An entry and everything it may call. functions[0] is the entry.
struct Program {
  std::string name;
  std::vector<std::unique_ptr<Routine>> functions;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> addresses;  ///< what a function's address means, sorted
  struct Param {
    std::uint32_t offset = 0, size = 0;
  };
  std::vector<Param> params;
  std::uint32_t param_bytes = 0;
  std::uint32_t shared_bytes = 0;    ///< static
  std::uint32_t dynamic_offset = 0;  ///< where dynamic shared memory begins
  std::uint32_t const_bytes = 0;
  std::uint32_t max_threads = 1024;
  std::uint32_t required[3] = {0, 0, 0};
  int version = 0, compute = 0;  ///< of the PTX
};

/// Where the windows of generic addresses begin: shared, local (of each thread) and kernel parameters. Addresses below
/// are global memory, as the host knows them.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 48;
inline constexpr std::uint64_t kParamWindow = std::uint64_t{3} << 48;
/// Functions' addresses: kCodeWindow + 16 * index in the module.
inline constexpr std::uint64_t kCodeWindow = std::uint64_t{4} << 48;

}  // namespace gpuop::machine::exec
