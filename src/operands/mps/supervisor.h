#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "base/metrics.h"
#include "base/mutex.h"
#include "gpu/inventory.h"
#include "operands/mps/daemon.h"
#include "operands/plugin_settings.h"

namespace gpuop::operands::mps {

/// Keeps the MPS daemons that settings and GPUs call for. Passive: Turn does all that is to be done; whoever sees that
/// settings changed or a daemon ended asks for another one.
class Supervisor {
 public:
  struct Parts {
    Daemon::Parts daemon;
    std::function<Result<PluginSettings>()> settings;
    std::function<Result<gpu::Inventory>()> inventory;
    std::string root = "/mps";
    MetricRegistry* metrics = nullptr;
  };

  Supervisor(Parts parts, std::string mig_strategy);

  /// Starts what is missing, stops what is not wanted, and starts anew what has ended or is wanted otherwise; what is
  /// as it should be runs on. ROOT/.ready is there while all that is wanted runs. A daemon that still has clients is
  /// not followed by another before they have ended (kUnavailable). An error that only other settings can mend
  /// (kInvalid) leaves no daemon when there were none, and otherwise those that run; other errors are worth another
  /// try.
  Result<> Turn(const std::stop_token& stop);
  /// Stops all.
  void StopAll();

 private:
  Result<> Adjust(const std::vector<DaemonPlan>& plans, const std::stop_token& stop);
  void Count(std::size_t wanted);

  Parts parts_;
  const std::string mig_strategy_;
  std::map<std::string, std::unique_ptr<Daemon>> running_;
  Gauge *wanted_ = nullptr, *runs_ = nullptr;

  Mutex mu_;
  std::set<std::string> ended_ GUARDED_BY(mu_);
};

}  // namespace gpuop::operands::mps
