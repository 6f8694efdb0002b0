#pragma once
// 32 threads in lock step. Lanes that take different ways run as groups, the one that is furthest behind first, and
// join again where their ways meet; instructions that name the lanes they need wait for them.

#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "machine/cuda/exec/code.h"
#include "machine/cuda/exec/launch.h"

namespace gpuop::machine::exec {

class Block;

/// One activation of a function for the lanes that called it together.
struct Frame {
  const Routine* code = nullptr;
  Frame* caller = nullptr;
  const CallInfo* call = nullptr;
  std::uint32_t return_pc = 0;
  std::uint32_t depth = 0;
  Mask live = 0;   ///< lanes that have not returned
  Mask carry = 0;  ///< CC.CF
  std::uint32_t local_base = 0;
  std::uint64_t serial = 0;
  std::vector<std::uint64_t> regs;  ///< [slot][lane]
  std::vector<Mask> preds;
  std::vector<std::byte> param;  ///< [lane][Routine::param_bytes]
};

class Warp {
 public:
  enum class State : std::uint8_t { kReady, kBlocked, kDone };

  /// The warp of `lanes` threads from thread `first` of the block on, at the start of the entry.
  void Start(Block& block, std::uint32_t index, std::uint32_t lanes);
  /// Runs until every lane is done or waits for the block's barrier, about `branches` branches were taken, or a fault.
  State Run(int branches);
  /// Nothing moves: lanes that wait for others of their warp which cannot come go on without them. False: there are
  /// none.
  bool Force();

  // What handlers use.
  std::uint64_t* Dst(Slot slot) { return regs_ + slot * kLanes; }
  const std::uint64_t* Src(Slot slot) const { return slot >= 0 ? regs_ + slot * kLanes : consts_ + ~slot * kLanes; }
  Mask& Pred(Slot slot) { return preds_[slot]; }
  Mask PredSrc(Slot source) const { return (source & 1) != 0 ? ~preds_[source >> 1] : preds_[source >> 1]; }
  void SetPred(Slot slot, Mask mask, Mask value) { preds_[slot] = (preds_[slot] & ~mask) | (value & mask); }
  Frame& frame() { return *frame_; }
  Block& block() { return *block_; }
  std::uint32_t index() const { return index_; }

  /// The host's bytes of a generic address; nullptr after a fault. `size` is a power of two: the address must be a
  /// multiple of it.
  std::byte* Generic(std::uint64_t address, std::uint32_t size, int lane) {
    if (address >= kSharedWindow) [[unlikely]]
      return Window(address, size, lane);
    return Global(address, size);
  }
  std::byte* Global(std::uint64_t address, std::uint32_t size) {
    if ((address & (size - 1)) == 0 && last_ != nullptr && address - last_->base <= last_->size - size)
      return last_->host + (address - last_->base);
    return SlowGlobal(address, size);
  }
  std::byte* Shared(std::uint64_t offset, std::uint32_t size);
  std::byte* Local(std::uint64_t offset, std::uint32_t size, int lane);
  const std::byte* KernelParam(std::uint64_t offset, std::uint32_t size);
  std::byte* FrameParam(std::uint64_t offset, std::uint32_t size, int lane);

  /// Ends the kernel. The first fault counts.
  void Raise(Trap trap, std::string text);
  void RaiseAddress(Trap trap, std::string_view space, std::uint64_t address, std::uint32_t size);

  // For instructions of Flow::kWarp: their lanes may be in different activations of the same function.
  std::uint64_t LaneValue(Slot slot, int lane) const {
    return slot >= 0 ? lane_frames_[lane]->regs[static_cast<std::size_t>(slot * kLanes + lane)]
                     : lane_frames_[lane]->code->constants[static_cast<std::size_t>(~slot * kLanes + lane)];
  }
  void SetLaneValue(Slot slot, int lane, std::uint64_t value) {
    lane_frames_[lane]->regs[static_cast<std::size_t>(slot * kLanes + lane)] = value;
  }
  bool LanePred(Slot source, int lane) const {
    return (((lane_frames_[lane]->preds[static_cast<std::size_t>(source >> 1)] >> lane) ^ static_cast<Mask>(source)) &
            1U) != 0;
  }
  void SetLanePred(Slot slot, int lane, bool value) {
    Mask& pred = lane_frames_[lane]->preds[static_cast<std::size_t>(slot)];
    pred = (pred & ~(Mask{1} << lane)) | (Mask{value} << lane);
  }
  Mask alive() const { return alive_; }
  Mask active() const { return mask_; }

  /// The block's barrier `id` is complete: its waiters go on. `votes` of `arrived` had a true predicate.
  void Release(std::uint32_t id, std::uint32_t votes, std::uint32_t arrived);

 private:
  enum class Wait : std::uint8_t { kNone, kWarp, kBarrier };
  struct Group {
    Frame* frame = nullptr;
    std::uint32_t pc = 0;
    Mask mask = 0;
    Wait wait = Wait::kNone;
    std::uint32_t barrier = 0;
    std::uint64_t since = 0;
  };

  Frame* NewFrame(const Routine& code, Frame* caller, Mask lanes);
  void FillSpecials(Frame& frame);
  void FreeFrame(Frame* frame);
  void Enter(const Group& group);
  void Park(std::uint32_t pc, Mask lanes, Wait wait = Wait::kNone, std::uint32_t barrier = 0);
  /// Chooses the group to run; false: none can.
  bool Schedule(bool fair);
  void Merge();
  void Step(const Inst& inst, Mask lanes);
  void Branch(std::uint32_t target, Mask lanes);
  void Table(const Inst& inst, Mask lanes);
  void Call(const Inst& inst, Mask lanes);
  void CallFunction(const Inst& inst, std::uint32_t function, Mask lanes);
  void CallBuiltin(const Inst& inst, const Routine& code, Mask lanes);
  void Return(Mask lanes);
  void Exit(Mask lanes);
  void Drop(Frame* frame, Mask lanes);
  void Meet(const Inst& inst, Mask lanes);
  bool RunMeetings(bool force);
  void ArriveAtBarrier(const Inst& inst, Mask lanes);
  std::byte* SlowGlobal(std::uint64_t address, std::uint32_t size);
  std::byte* Window(std::uint64_t address, std::uint32_t size, int lane);
  bool GrowLocal(std::uint64_t bytes);

  Block* block_ = nullptr;
  const Program* program_ = nullptr;
  std::uint32_t index_ = 0;
  Mask alive_ = 0;

  // The group that runs.
  std::uint64_t* regs_ = nullptr;
  const std::uint64_t* consts_ = nullptr;
  Mask* preds_ = nullptr;
  Frame* frame_ = nullptr;
  std::uint32_t pc_ = 0;
  std::uint32_t limit_ = 0;  ///< the next group's place: stop there
  Mask mask_ = 0;
  int budget_ = 0, spins_ = 0;
  bool faulted_ = false;
  std::uint64_t turn_ = 0, serials_ = 0;

  std::vector<Group> groups_;  ///< the others
  std::vector<std::unique_ptr<Frame>> frames_, free_;
  Frame* lane_frames_[kLanes] = {};
  const MemoryMap::Range* last_ = nullptr;
  std::vector<std::byte> local_;
  std::uint64_t local_stride_ = 0;
};

/// Calls `f(lane)` for each lane of the mask; a full mask is a plain loop, which the compiler can vectorise.
template <class F>
inline void ForLanes(Mask mask, F f) {
  if (mask == ~Mask{0}) {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

}  // namespace gpuop::machine::exec
