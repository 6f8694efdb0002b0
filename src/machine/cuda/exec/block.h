#pragma once

#include <array>
#include <deque>
#include <vector>

#include "machine/cuda/exec/warp.h"

namespace gpuop::machine::exec {

/// One block of threads: its shared memory, barriers and warps. One host thread runs it. Warps and memory are kept
/// for the next block that this object is given.
class Block {
 public:
  enum class State : std::uint8_t { kReady, kDone, kFault };

  /// `fault`, `stopped`: where the grid looks.
  explicit Block(const Launch& launch) : launch_(launch) {}
  /// Makes it block `index` of the grid, at its start.
  void Start(std::uint64_t index);
  /// Lets every warp run for a while.
  State Run(int branches);

  const Launch& launch() const { return launch_; }
  std::span<std::byte> shared() { return shared_; }
  const std::array<std::uint32_t, 3>& position() const { return position_; }
  std::uint32_t warps() const { return count_; }
  std::uint32_t threads() const { return threads_; }
  const Fault& fault() const { return fault_; }
  void Raise(Fault fault);

  /// `threads` more wait at barrier `id` (or only arrive there); it opens when `expected` are there (0: all that live).
  void Arrive(std::uint32_t id, std::uint32_t threads, std::uint32_t expected, std::uint32_t votes);
  /// Threads have ended: barriers that wait for all may be complete.
  void Ended(std::uint32_t threads);

 private:
  struct Barrier {
    std::uint32_t arrived = 0, expected = 0, votes = 0;
  };
  void Check(std::uint32_t id);

  const Launch& launch_;
  std::array<std::uint32_t, 3> position_{};
  std::uint32_t threads_ = 0, living_ = 0, count_ = 0;
  std::vector<std::byte> shared_;
  std::deque<Warp> warps_;  ///< count_ of them are in use
  std::vector<Warp::State> states_;
  std::array<Barrier, 17> barriers_{};
  bool moved_ = false;  ///< a barrier opened
  Fault fault_;
};

}  // namespace gpuop::machine::exec
