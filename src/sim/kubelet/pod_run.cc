#include "sim/kubelet/pod_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "sim/kubelet/pod_status.h"

namespace gpuop::sim {

namespace {

using State = ContainerRun::State;

ContainerRun Fresh(const kube::Container& c, std::string_view waiting) {
  ContainerRun run;
  run.name = c.name.view();
  run.image = c.image.view();
  run.restartable = c.restart_policy == "Always";
  run.waiting_reason = waiting;
  return run;
}

std::optional<WallTime> Sooner(std::optional<WallTime> a, std::optional<WallTime> b) {
  return !a ? b : !b ? a : std::min(a, b);
}

ContainerView::End EndView(const ContainerRun::End& e, const std::string& id) {
  const char* reason = e.exit_code == 0 ? "Completed" : e.exit_code == 255 ? "Unknown" : "Error";
  return {e.exit_code, reason, {}, id, e.started, e.finished};
}

ContainerView View(const std::string& uid, const ContainerRun& c) {
  const std::string id =
      fmt::format("hollow://{:016x}{:016x}", Hash64(c.name, Hash64(uid)), static_cast<std::uint64_t>(c.restarts));
  const bool never_ran = c.state == State::kWaiting && !c.last;
  ContainerView out;
  out.name = c.name, out.image = c.image, out.restarts = c.restarts, out.ready = c.ready;
  out.restartable = c.restartable, out.started = c.started;
  if (!never_ran) out.id = id, out.image_id = fmt::format("{}@sha256:{:064x}", c.image, Hash64(c.image));
  out.state = static_cast<ContainerView::State>(c.state);
  out.waiting_reason = c.waiting_reason;
  if (c.waiting_reason == "CrashLoopBackOff")
    out.waiting_message =
        fmt::format("back-off {}s restarting failed container={}",
                    std::chrono::duration_cast<std::chrono::seconds>(RestartBackOff(c.restarts)).count(), c.name);
  out.end = EndView(c.end, id);
  if (c.last) out.last = EndView(*c.last, id);
  return out;
}

void Start(ContainerRun& c, WallTime at) {
  c.state = State::kRunning;
  c.started = at;
  c.ready = false;
}

}  // namespace

Duration RestartBackOff(int restarts) {
  return std::min<Duration>(std::chrono::seconds(10LL << std::min(std::max(restarts - 1, 0), 5)),
                            std::chrono::minutes(5));
}

PodRun::PodRun(const kube::Pod& pod, Timeline timeline, std::string ip, std::string host_ip, WallTime now)
    : timeline_(std::move(timeline)),
      restart_policy_(pod.spec.restart_policy.empty() ? "Always" : pod.spec.restart_policy.view()),
      ip_(std::move(ip)),
      host_ip_(std::move(host_ip)),
      began_(now) {
  const bool has_init = !pod.spec.init_containers.empty();
  for (const kube::Container& c : pod.spec.init_containers) init_.push_back(Fresh(c, "PodInitializing"));
  for (const kube::Container& c : pod.spec.containers)
    main_.push_back(Fresh(c, has_init ? "PodInitializing" : "ContainerCreating"));
}

void PodRun::Reject(std::string reason, std::string message) {
  rejected_ = true;
  phase_ = "Failed";
  reason_ = std::move(reason);
  message_ = std::move(message);
}

void PodRun::Stop(WallTime now, WallTime deadline) {
  if (stop_at_) {
    stop_at_ = std::min(*stop_at_, std::max(now, deadline));
    return;
  }
  const WallTime wanted = now + timeline_.stop_after;
  stop_at_ = std::min(wanted, std::max(now, deadline));
  stop_code_ = wanted <= deadline ? 0 : 137;  // killed when the grace period was over
}

void PodRun::Reboot(WallTime now) {
  for (auto* group : {&init_, &main_})
    for (ContainerRun& c : *group)
      if (c.state == State::kRunning) End(c, 255, now);
  began_ = now;
}

void PodRun::End(ContainerRun& c, int exit_code, WallTime at) {
  c.end = {exit_code, c.started, at};
  c.state = State::kTerminated;
  c.ready = false;
  // Ten good minutes make up for what was before.
  c.back_off_until = at - c.started >= std::chrono::minutes(10) ? at : at + RestartBackOff(c.restarts);
}

bool PodRun::Initialized() const {
  return std::ranges::all_of(init_, [](const ContainerRun& c) {
    return c.restartable ? c.state == State::kRunning : c.state == State::kTerminated && c.end.exit_code == 0;
  });
}

bool PodRun::ContainersReady() const {
  return std::ranges::all_of(main_, &ContainerRun::ready) &&
         std::ranges::all_of(init_, [](const ContainerRun& c) { return !c.restartable || c.ready; });
}

boost::json::object PodRun::Status(const kube::Pod& pod, WallTime now) const {
  PodView view{.phase = phase_,
               .reason = reason_,
               .message = message_,
               .ip = ip_,
               .host_ip = host_ip_,
               .began = began_,
               .init = {},
               .main = {},
               .rejected = rejected_};
  for (const ContainerRun& c : init_) view.init.push_back(View(pod.meta.uid, c));
  for (const ContainerRun& c : main_) view.main.push_back(View(pod.meta.uid, c));
  view.sandbox = std::ranges::any_of(main_, [](const ContainerRun& c) { return c.state == State::kRunning; }) ||
                 std::ranges::any_of(init_, [](const ContainerRun& c) { return c.state != State::kWaiting || c.last; });
  return PodStatusObject(pod, view, now);
}

bool PodRun::Stopped() const {
  if (!stop_at_) return false;
  const auto idle = [](const ContainerRun& c) { return c.state != State::kRunning; };
  return std::ranges::all_of(main_, idle) && std::ranges::all_of(init_, idle);
}

std::optional<WallTime> PodRun::Advance(WallTime now) {
  if (rejected_ || Finished()) return std::nullopt;
  if (stop_at_) return StepStop(now);
  if (!timeline_.waiting.empty()) {
    for (ContainerRun& c : init_.empty() ? main_ : init_) c.waiting_reason = timeline_.waiting;
    return std::nullopt;
  }
  const WallTime start = began_ + timeline_.start_after;
  if (now < start) return start;
  std::optional<WallTime> next;
  // One transition may make the next one due at once.
  for (bool changed = true; changed;) {
    const auto before = std::pair(init_, main_);
    next = Initialized() ? StepMain(now) : StepInit(now);
    changed = before != std::pair(init_, main_);
  }
  SetPhase();
  return Finished() ? std::nullopt : next;
}

std::optional<WallTime> PodRun::StepInit(WallTime now) {
  for (ContainerRun& c : init_) {
    if (c.restartable && c.state == State::kRunning) {
      c.ready = true;
      continue;
    }
    if (c.state == State::kTerminated && c.end.exit_code == 0) continue;
    if (c.state == State::kRunning) {
      const WallTime end = c.started + timeline_.init_for;
      if (now < end) return end;
      End(c, timeline_.init_exit_code, end);
      return std::nullopt;
    }
    if (c.state == State::kTerminated && restart_policy_ == "Never") return std::nullopt;
    return StepContainer(c, now);
  }
  return std::nullopt;
}

std::optional<WallTime> PodRun::StepMain(WallTime now) {
  std::optional<WallTime> next;
  for (ContainerRun& c : main_) next = Sooner(next, StepContainer(c, now));
  return next;
}

/// Starts, restarts, ends or readies one container.
std::optional<WallTime> PodRun::StepContainer(ContainerRun& c, WallTime now) {
  if (c.state == State::kRunning) {
    const WallTime ready = c.started + timeline_.ready_after.value_or(Duration{});
    if (timeline_.ready_after && now >= ready) c.ready = true;
    std::optional<WallTime> next;
    if (timeline_.ready_after && !c.ready) next = ready;
    if (!timeline_.run_for) return next;
    const WallTime end = c.started + *timeline_.run_for;
    if (now < end) return Sooner(next, end);
    End(c, timeline_.exit_code, end);
    return std::nullopt;
  }
  if (c.state == State::kWaiting && !c.last) {
    Start(c, now);
    return std::nullopt;
  }
  if (c.state == State::kTerminated) {
    const bool again = restart_policy_ == "Always" || (restart_policy_ == "OnFailure" && c.end.exit_code != 0);
    if (!again) return std::nullopt;
    c.last = c.end;
    c.state = State::kWaiting;
    c.waiting_reason = "CrashLoopBackOff";
  }
  // The first restart comes at once, the others after their back-off.
  if (c.restarts > 0 && now < c.back_off_until) return c.back_off_until;
  ++c.restarts;
  Start(c, now);
  return std::nullopt;
}

std::optional<WallTime> PodRun::StepStop(WallTime now) {
  if (now < *stop_at_) return stop_at_;
  for (auto* group : {&init_, &main_})
    for (ContainerRun& c : *group) {
      if (c.state == State::kRunning) End(c, stop_code_, now);
    }
  const auto failed = [](const ContainerRun& c) { return c.state != State::kTerminated || c.end.exit_code != 0; };
  if (phase_ == "Running" || phase_ == "Pending") phase_ = std::ranges::any_of(main_, failed) ? "Failed" : "Succeeded";
  return std::nullopt;
}

void PodRun::SetPhase() {
  const bool never = restart_policy_ == "Never";
  const auto dead = [](const ContainerRun& c) { return c.state == State::kTerminated; };
  if (never && std::ranges::any_of(init_, [&](const ContainerRun& c) { return dead(c) && c.end.exit_code != 0; })) {
    phase_ = "Failed";
  } else if (std::ranges::all_of(main_, dead) && restart_policy_ != "Always") {
    const bool failed = std::ranges::any_of(main_, [](const ContainerRun& c) { return c.end.exit_code != 0; });
    if (!failed) phase_ = "Succeeded";
    if (failed && never) phase_ = "Failed";
  } else if (Initialized() && std::ranges::any_of(main_, [](const ContainerRun& c) {
               return c.state == State::kRunning || c.last || c.state == State::kTerminated;
             })) {
    phase_ = "Running";
  }
  if (!Finished()) return;
  for (auto* group : {&init_, &main_})  // sidecars do not outlive the containers that they serve
    for (ContainerRun& c : *group)
      if (c.state == State::kRunning) End(c, 0, c.started);
}

}  // namespace gpuop::sim
