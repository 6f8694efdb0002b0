#include "operands/nfd/worker/worker.h"

#include <algorithm>

#include "kube/back_off.h"
#include "os/heap.h"

namespace gpuop::operands::nfd {
namespace {

/// Drawn, so that the workers of a cluster do not all come back at once.
constexpr kube::BackOff kRetry{std::chrono::seconds(1), std::chrono::seconds(60), 0.5};
/// Changes that come together are one: a module brings several events, a file several writes.
constexpr Duration kSettle = std::chrono::milliseconds(100);

}  // namespace

Worker::Worker(NodeDiscovery& discovery, FactsOutput& output, WakeUps& wake_ups, const Clock& clock, Log& log,
               MetricRegistry& metrics, std::uint64_t seed)
    : discovery_(discovery),
      output_(output),
      wake_ups_(wake_ups),
      clock_(clock),
      log_(log),
      rng_(seed),
      passes_(metrics.counter("nfd_worker_passes_total", "Looks at the node.")),
      failures_(metrics.counter("nfd_worker_publish_failures_total", "Findings that could not be published.")) {}

void WakeUps::Wake() {
  Lock l(mu_);
  work_.any = true;
  more_.notify_all();
}

void WakeUps::WakeAll() {
  Lock l(mu_);
  work_.any = work_.all = true;
  more_.notify_all();
}

void WakeUps::Use(WorkerSettings settings) {
  Lock l(mu_);
  work_.any = work_.all = true;
  work_.settings = std::move(settings);
  more_.notify_all();
}

Result<> Worker::Pass(const WorkerSettings& settings, bool all) {
  passes_.Add();
  const NodeFacts facts = discovery_.Look(settings, all);
  if (!settings.publish) return {};
  return output_.Put(facts, settings);
}

std::optional<Duration> Worker::NextLook(const WorkerSettings& settings) const {
  std::optional<Duration> out = settings.interval;
  if (const auto until = discovery_.until()) {
    const Duration rest = std::max<Duration>(*until - clock_.Wall(), {}) + std::chrono::milliseconds(1);
    out = out ? std::min(*out, rest) : rest;
  }
  return out;
}

std::optional<WakeUps::Work> WakeUps::Wait(const std::stop_token& stop, std::optional<Duration> limit) {
  Lock l(mu_);
  const auto ready = [this]() REQUIRES(mu_) { return work_.any; };
  if (limit)
    more_.wait_for(mu_, stop, *limit, ready);
  else
    more_.wait(mu_, stop, ready);
  if (work_.any) more_.wait_for(mu_, stop, kSettle, []() { return false; });
  if (stop.stop_requested()) return std::nullopt;
  return std::exchange(work_, {});
}

void Worker::Run(WorkerSettings settings, const std::stop_token& stop) {
  bool all = true;
  int failed = 0;
  for (;;) {
    if (const auto done = Pass(settings, all); done) {
      failed = 0;
    } else {
      if (stop.stop_requested()) return;
      failures_.Add();
      ++failed;
      log_.Error("what was found could not be published", {{"reason", done.error().text}});
    }
    std::optional<WakeUps::Work> work;
    os::SettleDown();
    do {
      work = wake_ups_.Wait(stop, failed > 0 ? kRetry.After(failed, rng_) : NextLook(settings));
      if (!work) return;
    } while (!work->any && failed == 0 && !discovery_.HasNews(settings));
    all = work->all;
    if (work->settings) settings = *std::move(work->settings);
  }
}

}  // namespace gpuop::operands::nfd
