#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/exec/block.h"
#include "machine/cuda/exec/builtins.h"
#include "machine/cuda/exec/warp.h"

namespace gpuop::machine::exec {
namespace {

/// Backward branches that a group takes before the others of its warp get a turn: lanes may wait for each other.
constexpr int kSpins = 1000;
constexpr std::uint32_t kMostDepth = 20000;
constexpr std::uint32_t kMostLocal = 512 << 10;  // per thread, as every architecture has it

}  // namespace

void Warp::Step(const Inst& inst, Mask lanes) {
  switch (inst.flow) {
    case Flow::kNone: break;
    case Flow::kBranch: return Branch(inst.target, lanes);
    case Flow::kTable: return Table(inst, lanes);
    case Flow::kCall: return Call(inst, lanes);
    case Flow::kReturn: return Return(lanes);
    case Flow::kExit: return Exit(lanes);
    case Flow::kWarp: return Meet(inst, lanes);
    case Flow::kBarrier: return ArriveAtBarrier(inst, lanes);
  }
}

void Warp::Branch(std::uint32_t target, Mask lanes) {
  --budget_;
  if (lanes == 0) {
    ++pc_;
  } else if (lanes == mask_) {
    const bool back = target <= pc_;
    pc_ = target;
    if (!back || groups_.empty() || ++spins_ < kSpins) return;
    Park(pc_, std::exchange(mask_, 0));
    Schedule(true);
  } else {
    Park(target, lanes);
    Park(pc_ + 1, mask_ & ~lanes);
    mask_ = 0;
  }
}

void Warp::Table(const Inst& inst, Mask lanes) {
  --budget_;
  const std::uint64_t* index = Src(inst.a);
  Park(pc_ + 1, mask_ & ~lanes);
  mask_ = 0;
  while (lanes != 0) {
    const auto chosen = static_cast<std::uint32_t>(index[std::countr_zero(lanes)]);
    Mask same = 0;
    ForLanes(lanes, [&](int lane) { same |= Mask{static_cast<std::uint32_t>(index[lane]) == chosen} << lane; });
    // An index beyond the table is undefined (PTX ISA, brx.idx): the last entry is as good as any.
    const std::uint32_t entry = std::min<std::uint32_t>(chosen, inst.target - 1);
    Park(static_cast<std::uint32_t>(frame_->code->lists[static_cast<std::size_t>(inst.imm) + entry]), same);
    lanes &= ~same;
  }
}

void Warp::Call(const Inst& inst, Mask lanes) {
  --budget_;
  if (lanes == 0) {
    ++pc_;
    return;
  }
  if (inst.a == kNoSlot) return CallFunction(inst, inst.target, lanes);
  const std::uint64_t* address = Src(inst.a);
  const std::uint64_t chosen = address[std::countr_zero(lanes)];
  Mask same = 0;
  ForLanes(lanes, [&](int lane) { same |= Mask{address[lane] == chosen} << lane; });
  const auto it =
      std::ranges::lower_bound(program_->addresses, chosen, {}, &std::pair<std::uint64_t, std::uint32_t>::first);
  if (it == program_->addresses.end() || it->first != chosen)
    return Raise(Trap::kInvalidPc, "call of an address that is no function");
  Park(pc_, lanes & ~same);  // the others come back to this instruction
  Park(pc_ + 1, mask_ & ~lanes);
  mask_ = same;
  CallFunction(inst, it->second, same);
}

void Warp::CallFunction(const Inst& inst, std::uint32_t function, Mask lanes) {
  const Routine& code = *program_->functions[function];
  if (code.builtin != Builtin::kNone) {
    CallBuiltin(inst, code, lanes);
    ++pc_;
    return;
  }
  const CallInfo& call = frame_->code->calls[static_cast<std::size_t>(inst.b)];
  if (call.args.size() != code.params.size())
    return Raise(Trap::kInvalidPc, "call of " + code.name + " with a wrong number of arguments");
  if (frame_->depth >= kMostDepth) return Raise(Trap::kStackOverflow, "calls are nested too deeply");
  Frame* callee = NewFrame(code, frame_, lanes);
  if (callee == nullptr) return;
  callee->call = &call;
  callee->return_pc = pc_ + 1;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const CallInfo::Value& from = call.args[i];
    const Routine::Formal& to = code.params[i];
    ForLanes(lanes, [&](int lane) {
      const auto at = static_cast<std::size_t>(lane);
      std::uint64_t value = from.in_register ? Src(from.slot)[lane] : 0;
      const void* source = &value;
      if (!from.in_register) source = frame_->param.data() + at * frame_->code->param_bytes + from.offset;
      const std::size_t size = std::min<std::size_t>(from.size, to.size);
      if (to.in_register) {
        value = 0;
        std::memmove(&value, source, std::min<std::size_t>(size, 8));
        callee->regs[static_cast<std::size_t>(to.slot * kLanes + lane)] = value;
      } else {
        std::memcpy(callee->param.data() + at * code.param_bytes + to.offset, source,
                    from.in_register ? std::min<std::size_t>(size, 8) : size);
      }
    });
  }
  Park(pc_ + 1, mask_ & ~lanes);
  mask_ = 0;
  groups_.push_back({callee, 0, lanes, Wait::kNone, 0, ++turn_});
}

void Warp::CallBuiltin(const Inst& inst, const Routine& code, Mask lanes) {
  const CallInfo& call = frame_->code->calls[static_cast<std::size_t>(inst.b)];
  ForLanes(lanes, [&](int lane) {
    if (faulted_) return;
    std::vector<std::uint64_t> args;
    for (const CallInfo::Value& arg : call.args) {
      std::uint64_t value = arg.in_register ? Src(arg.slot)[lane] : 0;
      if (!arg.in_register)
        std::memcpy(&value,
                    frame_->param.data() + static_cast<std::size_t>(lane) * frame_->code->param_bytes + arg.offset,
                    std::min<std::size_t>(arg.size, 8));
      args.push_back(value);
    }
    const std::uint64_t result = RunBuiltin(*this, code.builtin, args, lane);
    for (const CallInfo::Value& to : call.results) {
      if (to.in_register)
        Dst(to.slot)[lane] = result;
      else
        std::memcpy(frame_->param.data() + static_cast<std::size_t>(lane) * frame_->code->param_bytes + to.offset,
                    &result, std::min<std::size_t>(to.size, 8));
    }
  });
}

void Warp::Return(Mask lanes) {
  --budget_;
  if (lanes == 0) {
    ++pc_;
    return;
  }
  Frame* callee = frame_;
  if (callee->caller == nullptr) return Exit(lanes);
  Frame* caller = callee->caller;
  const Routine& code = *callee->code;
  const CallInfo& call = *callee->call;
  for (std::size_t i = 0; i < std::min(call.results.size(), code.results.size()); ++i) {
    const CallInfo::Value& to = call.results[i];
    const Routine::Formal& from = code.results[i];
    ForLanes(lanes, [&](int lane) {
      const auto at = static_cast<std::size_t>(lane);
      std::uint64_t value = 0;
      const std::size_t size = std::min<std::size_t>(to.size, from.size);
      const void* source = &value;
      if (from.in_register)
        value = callee->regs[static_cast<std::size_t>(from.slot * kLanes + lane)];
      else
        source = callee->param.data() + at * code.param_bytes + from.offset;
      if (to.in_register) {
        std::uint64_t word = 0;
        std::memcpy(&word, source, std::min<std::size_t>(size, 8));
        caller->regs[static_cast<std::size_t>(to.slot * kLanes + lane)] = word;
      } else {
        std::memcpy(caller->param.data() + at * caller->code->param_bytes + to.offset, source,
                    from.in_register ? std::min<std::size_t>(size, 8) : size);
      }
    });
  }
  Park(pc_ + 1, mask_ & ~lanes);
  mask_ = 0;
  groups_.push_back({caller, callee->return_pc, lanes, Wait::kNone, 0, ++turn_});
  callee->live &= ~lanes;
  if (callee->live == 0) FreeFrame(callee);
}

void Warp::Exit(Mask lanes) {
  const std::uint32_t next = pc_ + 1;
  alive_ &= ~lanes;
  Park(next, mask_ & ~lanes);
  mask_ = 0;
  if (lanes == 0) return;
  for (Frame* frame = frame_; frame != nullptr;) {
    Frame* caller = frame->caller;
    frame->live &= ~lanes;
    if (frame->live == 0) FreeFrame(frame);
    frame = caller;
  }
  block_->Ended(static_cast<std::uint32_t>(std::popcount(lanes)));
}

void Warp::Meet(const Inst& inst, Mask lanes) {
  if (lanes == 0) {
    ++pc_;
    return;
  }
  const auto members = inst.c == kNoSlot ? lanes : static_cast<Mask>(Src(inst.c)[std::countr_zero(lanes)]);
  if (lanes == mask_ && (members & alive_ & ~lanes) == 0) {
    ForLanes(lanes, [&](int lane) { lane_frames_[lane] = frame_; });
    inst.run(*this, inst, lanes);
    ++pc_;
    return;
  }
  Park(pc_ + 1, mask_ & ~lanes);
  Park(pc_, lanes, Wait::kWarp);
  mask_ = 0;
}

void Warp::ArriveAtBarrier(const Inst& inst, Mask lanes) {
  --budget_;
  if (lanes == 0) {
    ++pc_;
    return;
  }
  const int first = std::countr_zero(lanes);
  const auto id = static_cast<std::uint32_t>(Src(inst.a)[first]);
  const auto expected = inst.b == kNoSlot ? 0 : static_cast<std::uint32_t>(Src(inst.b)[first]);
  if (id > 16) return Raise(Trap::kIllegalInstruction, "barrier " + std::to_string(id) + ": there are 16");
  // Given numbers of threads are multiples of 32: a block's last warp counts whole.
  const bool whole = expected != 0 && lanes == alive_;
  const auto threads = whole ? kLanes : static_cast<std::uint32_t>(std::popcount(lanes));
  const Mask votes = inst.flags >= kBarrierPopc ? PredSrc(inst.c) & lanes : 0;
  if (inst.flags == kBarrierArrive) {
    ++pc_;
  } else {
    Park(pc_ + 1, mask_ & ~lanes);
    Park(pc_, lanes, Wait::kBarrier, id);
    mask_ = 0;
  }
  block_->Arrive(id, threads, expected, static_cast<std::uint32_t>(std::popcount(votes)));
}

Frame* Warp::NewFrame(const Routine& code, Frame* caller, Mask lanes) {
  auto kept = std::ranges::find_if(free_, [&](const auto& frame) { return frame->code == &code; });
  if (kept == free_.end()) {
    free_.push_back(std::make_unique<Frame>());
    kept = free_.end() - 1;
    Frame& made = **kept;
    made.code = &code;
    made.regs.resize(std::size_t{code.registers} * kLanes);
    made.preds.resize(code.predicates);
    made.param.resize(std::size_t{code.param_bytes} * kLanes);
  }
  frames_.push_back(std::move(*kept));
  free_.erase(kept);
  Frame& frame = *frames_.back();
  frame.caller = caller;
  frame.call = nullptr;
  frame.depth = caller == nullptr ? 0 : caller->depth + 1;
  frame.live = lanes;
  frame.carry = 0;
  frame.serial = ++serials_;
  frame.local_base = caller == nullptr ? 0 : (caller->local_base + caller->code->local_bytes + 15) & ~15U;
  FillSpecials(frame);
  const std::uint32_t local = frame.local_base + code.local_bytes;
  if (local > kMostLocal || (local > local_stride_ && !GrowLocal(local))) {
    Raise(Trap::kStackOverflow, "local memory of a thread is used up");
    return nullptr;
  }
  return &frame;
}

void Warp::FreeFrame(Frame* frame) {
  const auto it = std::ranges::find_if(frames_, [&](const auto& known) { return known.get() == frame; });
  free_.push_back(std::move(*it));
  frames_.erase(it);
}

}  // namespace gpuop::machine::exec
