#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "kube/work_queue.h"
#include "operator/world.h"

namespace gpuop::op {

/// Tells when this process needs a restart: a loop has work and makes no progress, or a watch has heard nothing for
/// longer than any server is silent. Looks only when asked.
class Health {
 public:
  Health(const Clock& clock, const World& world) : clock_(clock), world_(world), born_(clock.Now()) {}

  /// `queue` and `turns` outlive it.
  void Watch(const kube::WorkQueue& queue, std::function<std::uint64_t()> turns);

  /// One sentence for each ailment.
  std::vector<std::string> Ailments();

  /// One request may take 30 s and is repeated.
  static constexpr std::chrono::minutes kWedged{5};
  /// Bookmarks come about every minute, and a silent watch is opened anew after 150 s.
  static constexpr std::chrono::minutes kDeaf{7};

 private:
  struct Watched {
    const kube::WorkQueue* queue;
    std::function<std::uint64_t()> turns;
    std::uint64_t seen = 0;
    TimePoint since{};
  };

  const Clock& clock_;
  const World& world_;
  const TimePoint born_;
  Mutex mu_;
  std::vector<Watched> watched_ GUARDED_BY(mu_);
};

}  // namespace gpuop::op
