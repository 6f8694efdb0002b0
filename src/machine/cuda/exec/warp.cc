#include "machine/cuda/exec/warp.h"

#include <algorithm>
#include <string>

#include "machine/cuda/exec/block.h"

namespace gpuop::machine::exec {
namespace {

constexpr std::uint32_t kNoLimit = UINT32_MAX;

}  // namespace

void Warp::Start(Block& block, std::uint32_t index, std::uint32_t lanes) {
  block_ = &block;
  program_ = block.launch().program;
  index_ = index;
  while (!frames_.empty()) FreeFrame(frames_.back().get());
  groups_.clear();
  alive_ = lanes >= kLanes ? ~Mask{0} : (Mask{1} << lanes) - 1;
  faulted_ = false;
  last_ = nullptr;
  turn_ = 0;
  Enter({.frame = NewFrame(*program_->functions[0], nullptr, alive_), .pc = 0, .mask = alive_});
  limit_ = kNoLimit;
}

Warp::State Warp::Run(int branches) {
  budget_ = branches;
  while (!faulted_) {
    if (mask_ == 0 && !Schedule(false)) return alive_ != 0 ? State::kBlocked : State::kDone;
    if (budget_ <= 0) return State::kReady;
    const Inst* insts = frame_->code->insts.data();
    while (true) {
      const Inst& inst = insts[pc_];
      Mask lanes = mask_;
      if (inst.guard >= 0) lanes &= PredSrc(inst.guard);
      if (inst.flow == Flow::kNone) [[likely]] {
        if (lanes != 0) inst.run(*this, inst, lanes);
        ++pc_;
      } else {
        Step(inst, lanes);
        if (mask_ == 0 || budget_ <= 0 || frame_->code->insts.data() != insts) break;
      }
      if (pc_ >= limit_ || faulted_) break;
    }
    if (mask_ != 0 && pc_ >= limit_) {
      Park(pc_, mask_);
      mask_ = 0;
    }
  }
  return State::kDone;
}

void Warp::Enter(const Group& group) {
  frame_ = group.frame;
  pc_ = group.pc;
  mask_ = group.mask;
  regs_ = frame_->regs.data();
  consts_ = frame_->code->constants.data();
  preds_ = frame_->preds.data();
  spins_ = 0;
}

void Warp::Park(std::uint32_t pc, Mask lanes, Wait wait, std::uint32_t barrier) {
  if (lanes == 0) return;
  groups_.push_back({frame_, pc, lanes, wait, barrier, ++turn_});
}

void Warp::Merge() {
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (std::size_t j = groups_.size() - 1; j > i; --j) {
      Group& into = groups_[i];
      const Group& other = groups_[j];
      if (into.frame != other.frame || into.pc != other.pc || into.wait != other.wait || into.barrier != other.barrier)
        continue;
      into.mask |= other.mask;
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

bool Warp::Schedule(bool fair) {
  Merge();
  while (RunMeetings(false)) Merge();
  const auto before = [fair](const Group& a, const Group& b) {
    if (fair) return a.since < b.since;
    if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
    if (a.frame != b.frame) return a.frame->serial < b.frame->serial;
    return a.pc < b.pc;
  };
  const Group* best = nullptr;
  for (const Group& group : groups_)
    if (group.wait == Wait::kNone && (best == nullptr || before(group, *best))) best = &group;
  if (best == nullptr) return false;
  Enter(*best);
  groups_.erase(groups_.begin() + (best - groups_.data()));
  limit_ = kNoLimit;
  if (fair) return true;
  for (const Group& group : groups_)
    if (group.wait == Wait::kNone && group.frame == frame_ && group.pc > pc_) limit_ = std::min(limit_, group.pc);
  return true;
}

bool Warp::RunMeetings(bool force) {
  for (const Group& group : groups_) {
    if (group.wait != Wait::kWarp) continue;
    const Inst& inst = group.frame->code->insts[group.pc];
    Mask here = 0;
    for (const Group& other : groups_)
      if (other.wait == Wait::kWarp && other.pc == group.pc && other.frame->code == group.frame->code) {
        here |= other.mask;
        ForLanes(other.mask, [&](int lane) { lane_frames_[lane] = other.frame; });
      }
    const auto members = static_cast<Mask>(LaneValue(inst.c, std::countr_zero(group.mask)));
    if (!force && (members & alive_ & ~here) != 0) continue;
    const Routine* code = group.frame->code;
    const std::uint32_t pc = group.pc;
    for (Group& other : groups_) {
      if (other.wait != Wait::kWarp || other.pc != pc || other.frame->code != code) continue;
      other.wait = Wait::kNone;
      ++other.pc;
    }
    frame_ = group.frame;
    pc_ = pc;
    inst.run(*this, inst, here);
    return true;
  }
  return false;
}

bool Warp::Force() { return RunMeetings(true); }

void Warp::Release(std::uint32_t id, std::uint32_t votes, std::uint32_t arrived) {
  for (Group& group : groups_) {
    if (group.wait != Wait::kBarrier || group.barrier != id) continue;
    const Inst& inst = group.frame->code->insts[group.pc];
    const bool value = inst.flags == kBarrierAnd ? votes == arrived : votes != 0;
    if (inst.flags == kBarrierPopc)
      ForLanes(group.mask,
               [&](int lane) { group.frame->regs[static_cast<std::size_t>(inst.d * kLanes + lane)] = votes; });
    if (inst.flags == kBarrierAnd || inst.flags == kBarrierOr) {
      Mask& pred = group.frame->preds[static_cast<std::size_t>(inst.d)];
      pred = value ? pred | group.mask : pred & ~group.mask;
    }
    group.wait = Wait::kNone;
    ++group.pc;
  }
}

void Warp::Raise(Trap trap, std::string text) {
  if (faulted_) return;
  faulted_ = true;
  const Routine& code = *frame_->code;
  const std::uint32_t pc = std::min<std::uint32_t>(pc_, static_cast<std::uint32_t>(code.insts.size()) - 1);
  const auto& at = block_->position();
  block_->Raise({trap, "kernel " + program_->name + ", " + code.name + " line " + std::to_string(code.insts[pc].line) +
                           " of its PTX, block (" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," +
                           std::to_string(at[2]) + "), warp " + std::to_string(index_) + ": " + text});
}

}  // namespace gpuop::machine::exec
