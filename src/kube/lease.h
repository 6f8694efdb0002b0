#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "base/strand.h"
#include "kube/client.h"

namespace gpuop::kube {

/// Leader election on a coordination.k8s.io/v1 Lease, compatible with client-go's: both may compete for one Lease.
///
/// No two hold the lead at once as long as their clocks run at the same rate (what they show does not matter): a
/// holder counts from before it asked and gives up after `renew_deadline`; the others count from when they saw a
/// renewal, and wait for `duration`, which is longer. Leads() turns false by itself when that time has passed, even
/// while a request hangs.
///
/// `on_lead` and `on_lose` are called in turn, one at a time, on the executor; `on_lose` when the lead is lost, given
/// up, or stopped. Two of the executor's threads may be in use at once.
class LeaderLease {
 public:
  struct Options {
    std::string ns = {}, name = {};
    /// Must differ between all candidates that ever live at the same time: Pod name and a random part.
    std::string identity = {};
    Duration duration = std::chrono::seconds(15);
    Duration renew_deadline = std::chrono::seconds(10);
    Duration retry = std::chrono::seconds(2);
    std::uint64_t seed = 1;
    Log* log = nullptr;
  };

  LeaderLease(Executor& executor, const Client& client, Options options, std::function<void()> on_lead,
              std::function<void()> on_lose);
  /// Stops without giving the lease back (the next leader waits for `duration`). No callback runs afterwards, hence
  /// also no last `on_lose`.
  ~LeaderLease();

  void Start();
  /// Steps down (on_lose), gives the lease back so that another can lead at once, then calls `done`. Final.
  void Stop(std::function<void()> done);

  /// Thread-safe.
  bool Leads() const;

 private:
  enum class Turn { kHeld, kOther, kFailed };

  void Try();
  Result<Turn> AcquireOrRenew();
  Result<Turn> Read();
  Result<Turn> Write(boost::json::object lease, bool create);
  void Observe(boost::json::object lease);
  void GiveBack();
  void Tell();
  void Hold(TimePoint until);
  void LetGo();

  const Options options_;
  std::stop_source stop_;
  const Client client_;
  const std::function<void()> on_lead_, on_lose_;

  // Touched on `calls_` only.
  Rng rng_;
  std::optional<boost::json::object> seen_;  ///< the Lease as last seen; dropped when it may be stale
  std::string seen_spec_;                    ///< its spec as text: a change is a sign of life
  TimePoint seen_at_{};                      ///< when that text was first seen

  mutable Mutex mu_;
  bool holding_ GUARDED_BY(mu_) = false;
  bool stopping_ GUARDED_BY(mu_) = false;
  TimePoint until_ GUARDED_BY(mu_){};

  bool told_ = false;  ///< what the callbacks were told last; touched on `tells_` only
  Executor& executor_;
  Strand tells_;  ///< callbacks and deadlines, never blocked by a request
  Strand calls_;  ///< requests
};

}  // namespace gpuop::kube
