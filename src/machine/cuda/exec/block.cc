#include "machine/cuda/exec/block.h"

#include <utility>

namespace gpuop::machine::exec {

void Block::Start(std::uint64_t index) {
  const auto& grid = launch_.grid;
  position_ = {static_cast<std::uint32_t>(index % grid[0]), static_cast<std::uint32_t>(index / grid[0] % grid[1]),
               static_cast<std::uint32_t>(index / grid[0] / grid[1])};
  threads_ = living_ = launch_.block[0] * launch_.block[1] * launch_.block[2];
  count_ = (threads_ + kLanes - 1) / kLanes;
  shared_.assign(launch_.program->dynamic_offset + std::size_t{launch_.dynamic_shared}, std::byte{0});
  barriers_ = {};
  moved_ = false;
  while (warps_.size() < count_) warps_.emplace_back();
  states_.assign(count_, Warp::State::kReady);
  for (std::uint32_t i = 0; i < count_; ++i) warps_[i].Start(*this, i, threads_ - i * kLanes);
}

Block::State Block::Run(int branches) {
  bool running = false, moving = false;
  moved_ = false;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (states_[i] == Warp::State::kDone) continue;
    states_[i] = warps_[i].Run(branches);
    if (fault_.trap != Trap::kNone) return State::kFault;
    running |= states_[i] != Warp::State::kDone;
    moving |= states_[i] != Warp::State::kBlocked;
  }
  if (!running) return State::kDone;
  for (std::uint32_t i = 0; i < count_ && !moving && !moved_; ++i)
    moved_ = states_[i] != Warp::State::kDone && warps_[i].Force();
  if (!moving && !moved_) {
    Raise({Trap::kDeadlock, "kernel " + launch_.program->name + ": every thread of a block waits at a barrier that " +
                                "others never reach"});
    return State::kFault;
  }
  return State::kReady;
}

void Block::Raise(Fault fault) {
  if (fault_.trap == Trap::kNone) fault_ = std::move(fault);
}

void Block::Arrive(std::uint32_t id, std::uint32_t threads, std::uint32_t expected, std::uint32_t votes) {
  Barrier& barrier = barriers_[id];
  barrier.arrived += threads;
  barrier.votes += votes;
  barrier.expected = expected;
  Check(id);
}

void Block::Check(std::uint32_t id) {
  Barrier& barrier = barriers_[id];
  if (barrier.arrived == 0 || barrier.arrived < (barrier.expected != 0 ? barrier.expected : living_)) return;
  const Barrier open = std::exchange(barrier, {});
  moved_ = true;
  for (std::uint32_t i = 0; i < count_; ++i) warps_[i].Release(id, open.votes, open.arrived);
}

void Block::Ended(std::uint32_t threads) {
  living_ -= threads;
  for (std::uint32_t id = 0; id < barriers_.size(); ++id)
    if (barriers_[id].expected == 0) Check(id);
}

}  // namespace gpuop::machine::exec
