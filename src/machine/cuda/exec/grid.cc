#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "machine/cuda/exec/block.h"

namespace gpuop::machine::exec {
namespace {

/// Branches that a warp takes before the next one gets its turn.
constexpr int kSlice = 4000;

/// A grid that runs: its threads take blocks from it.
class Grid {
 public:
  Grid(const Launch& launch, unsigned threads) : launch_(launch), threads_(threads) {
    blocks_ = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  }

  Fault Run() {
    {
      std::vector<std::jthread> helpers;
      for (unsigned i = 1; i < threads_; ++i) helpers.emplace_back([this, i] { Work(i); });
      Work(0);
    }
    Lock lock(mu_);
    return std::move(fault_);
  }

 private:
  void Work(unsigned worker) {
    if (launch_.cooperative) return WorkTogether(worker);
    Block block(launch_);
    for (std::uint64_t i = next_++; i < blocks_ && !over_; i = next_++) {
      block.Start(i);
      while (Turn(block)) {
      }
    }
  }

  /// All blocks of this worker side by side: each gets short turns.
  void WorkTogether(unsigned worker) {
    std::deque<Block> mine;
    for (std::uint64_t i = worker; i < blocks_; i += threads_) mine.emplace_back(launch_).Start(i);
    std::vector<Block*> running;
    for (Block& block : mine) running.push_back(&block);
    while (!running.empty() && !over_) std::erase_if(running, [this](Block* block) { return !Turn(*block); });
  }

  /// Whether the block has more to do.
  bool Turn(Block& block) {
    const Block::State state = block.Run(kSlice);
    if (state == Block::State::kFault) End(block.fault());
    if (launch_.stopped && launch_.stopped()) End({Trap::kStopped, "kernel " + launch_.program->name + " was stopped"});
    return state == Block::State::kReady && !over_;
  }

  void End(const Fault& fault) {
    Lock lock(mu_);
    if (fault_.trap == Trap::kNone) fault_ = fault;
    over_ = true;
  }

  const Launch& launch_;
  const unsigned threads_;
  std::uint64_t blocks_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> over_ = false;
  Mutex mu_;
  Fault fault_ GUARDED_BY(mu_);
};

}  // namespace

Fault Run(const Launch& launch, unsigned threads) {
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  return Grid(launch, static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, std::max(threads, 1U)))).Run();
}

}  // namespace gpuop::machine::exec
