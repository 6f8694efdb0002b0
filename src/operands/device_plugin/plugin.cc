#include "operands/device_plugin/plugin.h"

#include <algorithm>

namespace gpuop::operands::device_plugin {
namespace {

/// Whether what was made ready for GPUs serves for what there is now. A GPU that is missing now is no reason to touch
/// anything.
bool ServesFor(const gpu::Inventory& ready, const gpu::Inventory& now) {
  return ready.driver_version == now.driver_version &&
         std::ranges::equal(ready.devices, now.devices, [](const gpu::Device& x, const gpu::Device& y) {
           return (x.unreadable.empty() || !y.unreadable.empty()) && x.uuid == y.uuid && x.index == y.index &&
                  x.minor == y.minor && x.pci == y.pci && x.mig == y.mig && x.addressing == y.addressing;
         });
}

}  // namespace

Plugin::Plugin(Parts parts, std::shared_ptr<const Settings> settings)
    : parts_(std::move(parts)), settings_(std::move(settings)), roster_(*settings_), strand_(parts_.executor) {}

Plugin::~Plugin() { strand_.Close(); }

void Plugin::Start() {
  strand_.Post([this] {
    changed_at_ = parts_.executor.Now();
    Ask(true);
    KeepTicking();
  });
}

void Plugin::Use(std::shared_ptr<const Settings> settings, bool anew) {
  strand_.Post([this, settings = std::move(settings), anew] {
    settings_ = settings;
    roster_.Use(*settings_);
    Apply();
    if (!anew) return;
    for (auto& [name, offered] : offered_) offered.outlet->Register();
  });
}

void Plugin::OnEvent(const gpu::DeviceEvent& event) {
  strand_.Post([this, event] {
    roster_.Hear(event, parts_.executor.Now());
    changed_at_ = parts_.executor.Now();
    Apply();
    Ask(true);
    KeepTicking();
  });
}

void Plugin::OnStir() {
  strand_.Post([this] {
    Ask(true);
    KeepTicking();
  });
}

void Plugin::OnHang() {
  strand_.Post([this] {
    Ask(false);
    KeepTicking();
    strand_.PostAfter(kConfirm, [this, asked = asked_at_] {
      Collect();
      if (asking_ && !asking_whole_ && asked_at_ == asked) OnSilence({Code::kTimeout, "it does not answer"});
    });
  });
}

void Plugin::OnKubelet() {
  strand_.Post([this] {
    for (auto& [name, offered] : offered_) offered.outlet->Register();
  });
}

void Plugin::OnSockets() {
  strand_.Post([this] {
    for (auto& [name, offered] : offered_) offered.outlet->Check();
  });
}

void Plugin::OnDaemons(MissingDaemons missing) {
  strand_.Post([this, missing = std::move(missing)]() mutable {
    if (missing == missing_daemons_) return;
    missing_daemons_ = std::move(missing);
    prepare_again_ = parts_.executor.Now();  // what waited for one need not wait longer
    Apply();
  });
}

void Plugin::OnWatched() {
  strand_.Post([this] { TellReport(); });
}

bool Plugin::calm() const {
  return parts_.driver.watching() && roster_.seen() && !silent_ && !roster_.ailing() && !ask_whole_ && is_ready_;
}

void Plugin::KeepTicking() {
  if (std::exchange(ticking_, true)) return;
  strand_.PostAfter(kPace, [this] {
    ticking_ = false;
    Tick();
  });
}

void Plugin::Tick() {
  const TimePoint now = parts_.executor.Now();
  Collect();
  if (asking_ && now - asked_at_ >= Patience()) OnSilence({Code::kTimeout, "it does not answer"});
  // A quick look first in any case: what hangs, hangs there, and is noticed sooner.
  const bool lately = now - changed_at_ < std::chrono::minutes(1);
  const bool look_closer = (!roster_.seen() || roster_.ailing()) && (lately || now - last_whole_ >= kSlowPace);
  if (!calm()) Ask(look_closer);
  if (roster_.Pass(now) || (!is_ready_ && !preparing_)) Apply();
  if (!calm() || asking_) KeepTicking();
}

Duration Plugin::Patience() const {
  if (!roster_.seen()) return kFirstPatience;
  return asking_whole_ ? kWholePatience : kPatience;
}

void Plugin::Collect() {
  if (!asking_ || !parts_.driver.FoundNothing()) return;
  asking_ = false;
  if (silent_) ask_whole_ = true;
}

void Plugin::Ask(bool whole) {
  Collect();
  ask_whole_ |= whole;
  if (asking_) return;
  asking_ = true;
  asking_whole_ = !roster_.seen() || (asked_ && std::exchange(ask_whole_, false));
  asked_ = !asking_whole_;
  asked_at_ = parts_.executor.Now();
  if (asking_whole_) last_whole_ = asked_at_;
  const auto quick = ask_whole_ ? Driver::Depth::kCheck : Driver::Depth::kGlance;
  parts_.driver.Ask(asking_whole_ ? Driver::Depth::kWhole : quick, [this](Result<Driver::Answer> answer) {
    strand_.Post([this, answer = std::move(answer)]() mutable { OnAnswer(std::move(answer)); });
  });
}

void Plugin::OnAnswer(Result<Driver::Answer> answer) {
  asking_ = false;
  if (!answer) {
    if (FailStart(answer.error())) return;
    OnSilence(answer.error());
  } else if (answer->inventory) {
    if (std::exchange(silent_, false)) {
      parts_.log.Info("the driver can be asked again");
      told_silence_.clear();
    }
    roster_.See(*answer->inventory, answer->minors, parts_.executor.Now());
    Apply();
  } else if (silent_) {
    ask_whole_ = true;  // nothing had changed when it hung: look whether that is so
  }
  if (ask_whole_) Ask(true);
}

bool Plugin::FailStart(const Error& error) {
  if (started_ || !settings_->fail_on_init_error || !parts_.fatal) return false;
  parts_.fatal(error);
  return true;
}

void Plugin::OnSilence(const Error& why) {
  silent_ = true;
  roster_.Miss(why);
  if (std::exchange(told_silence_, why.text) == why.text) return;  // nothing else is offered than a moment ago
  parts_.log.Error("the driver cannot be asked", {{"reason", why.text}});
  Apply();
}

void Plugin::Apply() {
  if (!roster_.seen()) return TellReport();
  Plan plan = roster_.MakePlan();
  if (plan.misfit && FailStart(*plan.misfit)) return;
  TellPlan(plan);
  started_ = true;
  std::vector<ResourceState> states = roster_.StatesOf(std::move(plan.resources));
  MissDaemons(states);
  gpu::Inventory seen = roster_.Seen();
  const bool ready = is_ready_ && prepared_for_ == settings_ && ServesFor(*prepared_, seen);
  if (!ready && !preparing_ && parts_.executor.Now() >= prepare_again_ && roster_.present() > 0) {
    preparing_ = true;
    is_ready_ = false;
    prepared_ = std::make_shared<const gpu::Inventory>(std::move(seen));
    prepared_for_ = settings_;
    parts_.prepare(prepared_, settings_, [this](Result<Extras> extras) {
      strand_.Post([this, extras = std::move(extras)]() mutable { Ready(std::move(extras)); });
    });
  }
  OfferAll(ready ? states : Remaining(states));
  TellReport();
  if (!calm()) KeepTicking();
}

void Plugin::Ready(Result<Extras> extras) {
  preparing_ = false;
  is_ready_ = extras.has_value();
  if (extras) {
    extras_ = *std::move(extras);
    told_prepare_.clear();
  } else {
    prepare_again_ = parts_.executor.Now() + kSlowPace;
    if (std::exchange(told_prepare_, extras.error().text) != extras.error().text)
      parts_.log.Error("the node is not ready for containers; what was offered stays",
                       {{"reason", extras.error().text}});
  }
  Apply();
}

std::vector<ResourceState> Plugin::Remaining(const std::vector<ResourceState>& states) const {
  std::map<std::string, std::string> troubles;  // of what there is now
  for (const ResourceState& state : states)
    for (std::size_t i = 0; i < state.resource.units.size(); ++i)
      troubles[state.resource.name + " " + state.resource.units[i].uuid] = state.troubles[i];
  std::vector<ResourceState> out;
  for (const auto& [name, offered] : offered_) {
    ResourceState& state = out.emplace_back(offered.offer->state);
    for (std::size_t i = 0; i < state.resource.units.size(); ++i) {
      const auto now = troubles.find(name + " " + state.resource.units[i].uuid);
      state.troubles[i] = now == troubles.end() ? "it is there no more" : now->second;
    }
  }
  return out;
}

void Plugin::MissDaemons(std::vector<ResourceState>& states) const {
  for (ResourceState& state : states) {
    const auto missing = missing_daemons_.find(state.resource.name);
    if (missing == missing_daemons_.end()) continue;
    for (std::size_t i = 0; i < state.troubles.size(); ++i)
      if (state.resource.units[i].shared && state.troubles[i].empty()) state.troubles[i] = missing->second;
  }
}

void Plugin::OfferAll(const std::vector<ResourceState>& states) {
  TellDevices(states);
  std::map<std::string, Offered> gone = std::move(offered_);
  offered_.clear();
  for (const ResourceState& state : states) {
    const std::string& name = state.resource.name;
    const auto old = gone.find(name);
    if (old != gone.end()) {
      Offered& offered = offered_[name] = std::move(old->second);
      gone.erase(old);
      const Offer& now = *offered.offer;
      if (now.state == state && now.settings == settings_ && now.extras == extras_ &&
          offered.affinity == roster_.affinity())
        continue;
    }
    Offered& offered = offered_[name];
    offered.affinity = roster_.affinity();
    offered.offer = std::make_shared<const Offer>(state, offered.affinity, settings_, extras_);
    if (offered.outlet) {
      offered.outlet->Set(offered.offer);
    } else {
      offered.outlet = parts_.make_outlet(offered.offer);
      offered.outlet->Register();
    }
  }
  for (auto& [name, offered] : gone) {
    // The kubelet hears that there is nothing left before the resource goes.
    ResourceState empty;
    empty.resource.name = name;
    offered.outlet->Set(std::make_shared<const Offer>(std::move(empty), Affinity(), settings_, extras_));
    parts_.log.Info("no longer offered", {{"resource", name}});
  }
}

void Plugin::TellPlan(const Plan& plan) {
  std::vector<std::string> news = plan.warnings;
  if (plan.misfit) news.push_back(plan.misfit->text);
  for (const std::string& text : news)
    if (std::ranges::find(told_plan_, text) == told_plan_.end()) parts_.log.Warn("not all is offered", {{"why", text}});
  if (plan.resources.empty() && news.empty()) news.emplace_back();
  if (plan.resources.empty() && told_plan_ != news) parts_.log.Info("no devices to offer");
  told_plan_ = std::move(news);
}

void Plugin::TellDevices(const std::vector<ResourceState>& states) {
  std::map<std::string, std::string> now;
  for (const ResourceState& state : states)
    for (std::size_t i = 0; i < state.troubles.size(); ++i)
      if (!state.troubles[i].empty()) now[state.resource.units[i].uuid] = state.troubles[i];
  for (const auto& [uuid, trouble] : now)
    if (const auto before = told_.find(uuid); before == told_.end() || before->second != trouble)
      parts_.log.Warn("device is not fit", {{"device", uuid}, {"reason", trouble}});
  for (const auto& [uuid, trouble] : told_)
    if (!now.contains(uuid)) parts_.log.Info("device is fit again, or gone", {{"device", uuid}});
  told_ = std::move(now);
}

void Plugin::TellReport() {
  if (!parts_.report || (!roster_.seen() && !silent_)) return;
  Report report;
  report.known = roster_.known().devices.size();
  for (const gpu::Device& device : roster_.known().devices) {
    std::string trouble = roster_.TroubleOf(device.uuid);
    if (trouble.empty())
      ++report.fit;
    else
      report.troubles[device.uuid] = std::move(trouble);
  }
  for (const auto& [name, offered] : offered_) {
    Report::Line& line = report.resources[name];
    for (std::size_t i = 0; i < offered.offer->state.troubles.size(); ++i) {
      const std::size_t count = offered.offer->state.resource.units[i].count();
      (offered.offer->state.troubles[i].empty() ? line.healthy : line.unhealthy) += count;
    }
    line.live = offered.outlet->live();
  }
  if (report == last_report_) return;
  last_report_ = report;
  parts_.report(report);
}

}  // namespace gpuop::operands::device_plugin
