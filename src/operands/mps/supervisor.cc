#include "operands/mps/supervisor.h"

#include <algorithm>

namespace gpuop::operands::mps {

Supervisor::Supervisor(Parts parts, std::string mig_strategy)
    : parts_(std::move(parts)), mig_strategy_(std::move(mig_strategy)) {
  if (parts_.metrics == nullptr) return;
  wanted_ = &parts_.metrics->gauge("gpu_operator_mps_daemons_wanted", "MPS daemons that the settings ask for.");
  runs_ = &parts_.metrics->gauge("gpu_operator_mps_daemons_running", "MPS daemons that run.");
}

void Supervisor::Count(std::size_t wanted) {
  if (wanted_ == nullptr) return;
  wanted_->Set(static_cast<double>(wanted));
  runs_->Set(static_cast<double>(running_.size()));
}

Result<> Supervisor::Turn(const std::stop_token& stop) {
  ASSIGN(const PluginSettings settings, parts_.settings());
  std::vector<DaemonPlan> plans;
  if (StrategyOf(settings.sharing) == SharingStrategy::kMps) {
    ASSIGN(const gpu::Inventory inventory, parts_.inventory());
    const std::string& strategy = mig_strategy_.empty() ? settings.flags.mig_strategy.value_or("") : mig_strategy_;
    ASSIGN(plans, PlanDaemons(inventory, settings, strategy, parts_.root));
  }
  auto adjusted = Adjust(plans, stop);
  Count(plans.size());
  return adjusted;
}

Result<> Supervisor::Adjust(const std::vector<DaemonPlan>& plans, const std::stop_token& stop) {
  std::set<std::string> ended;
  {
    Lock l(mu_);
    ended.swap(ended_);
  }
  const auto stays = [&](const Daemon& daemon) {
    return !ended.contains(daemon.plan().resource) && std::ranges::find(plans, daemon.plan()) != plans.end();
  };
  const bool all_stay = running_.size() == plans.size() &&
                        std::ranges::all_of(running_, [&](const auto& entry) { return stays(*entry.second); });
  const std::string ready = parts_.root + "/.ready";
  if (!all_stay || plans.empty()) TRY(os::RemoveIfThere(parts_.daemon.fs, ready));
  for (auto it = running_.begin(); it != running_.end();) {
    if (stays(*it->second)) {
      ++it;
      continue;
    }
    TRY(it->second->Stop());
    it = running_.erase(it);
  }
  for (const DaemonPlan& plan : plans) {
    if (running_.contains(plan.resource)) continue;
    Daemon::Parts parts = parts_.daemon;
    parts.ended = [this, tell = parts_.daemon.ended, resource = plan.resource] {
      {
        Lock l(mu_);
        ended_.insert(resource);
      }
      tell();
    };
    auto daemon = std::make_unique<Daemon>(std::move(parts), plan);
    TRY(daemon->Start(stop));
    running_[plan.resource] = std::move(daemon);
  }
  if (plans.empty() || (all_stay && os::Exists(parts_.daemon.fs, ready).value_or(false))) return {};
  return parts_.daemon.fs.WriteAtomic(ready, "");
}

void Supervisor::StopAll() {
  static_cast<void>(parts_.daemon.fs.Remove(parts_.root + "/.ready"));
  for (const auto& [resource, daemon] : running_) daemon->Abandon();
  running_.clear();
}

}  // namespace gpuop::operands::mps
