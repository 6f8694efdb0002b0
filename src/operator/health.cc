#include "operator/health.h"

namespace gpuop::op {

void Health::Watch(const kube::WorkQueue& queue, std::function<std::uint64_t()> turns) {
  Lock l(mu_);
  watched_.push_back({&queue, std::move(turns), 0, clock_.Now()});
}

std::vector<std::string> Health::Ailments() {
  std::vector<std::string> out;
  const TimePoint now = clock_.Now();
  if (now > std::max(world_.LastHeard(), born_) + kDeaf)
    out.emplace_back("a watch has heard nothing from the API server for " + std::to_string(kDeaf.count()) + " minutes");
  Lock l(mu_);
  for (Watched& w : watched_) {
    const std::uint64_t turns = w.turns();
    // Nothing in hand, or another turn since: it goes on.
    if (w.queue->Active() == 0 || turns != w.seen) {
      w.seen = turns;
      w.since = now;
    } else if (now > w.since + kWedged) {
      out.push_back("a turn has taken more than " + std::to_string(kWedged.count()) + " minutes");
    }
  }
  return out;
}

}  // namespace gpuop::op
