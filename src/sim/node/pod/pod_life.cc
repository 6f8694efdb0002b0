#include "sim/node/pod/pod_life.h"

#include <sys/wait.h>

#include <algorithm>

#include "sim/kubelet/pod_run.h"

namespace gpuop::sim::node {
namespace {

using State = ContainerView::State;
using std::chrono::seconds;

void Sooner(std::optional<WallTime>& wake, WallTime at) { wake = wake ? std::min(*wake, at) : at; }

bool IsImageTrouble(std::string_view reason) {
  return reason == "ErrImagePull" || reason == "ImagePullBackOff" || reason == "InvalidImageName" ||
         reason == "ErrImageNeverPull";
}

std::string Seconds(Duration d) {
  const auto all = std::chrono::duration_cast<seconds>(d).count();
  if (all < 60) return std::to_string(all) + "s";
  return std::to_string(all / 60) + "m" + std::to_string(all % 60) + "s";
}

}  // namespace

std::string_view ProbeName(ProbeKind kind) {
  return kind == ProbeKind::kStartup ? "Startup" : kind == ProbeKind::kLiveness ? "Liveness" : "Readiness";
}

Duration TryBackOff(int failures, bool image) {
  if (image) return RestartBackOff(failures);
  return std::min<Duration>(seconds(1LL << std::min(std::max(failures - 1, 0), 4)), seconds(10));
}

PodLife::Life PodLife::Fresh(const ContainerWish& wish, Kind kind, bool has_init) {
  Life c;
  c.wish = &wish;
  c.kind = kind;
  c.view.name = wish.name;
  c.view.image = wish.image;
  c.view.restartable = kind == Kind::kSidecar;
  c.view.waiting_reason = has_init ? "PodInitializing" : "ContainerCreating";
  return c;
}

PodLife::PodLife(const PodWish& wish, WallTime now)
    : restart_policy_(wish.RestartPolicy()),
      pod_name_(wish.meta.name + "_" + std::string(wish.meta.ns.view()) + "(" + wish.meta.uid + ")"),
      grace_(seconds(wish.spec.grace_seconds)),
      began_(now) {
  const bool has_init = !wish.spec.init_containers.empty();
  for (const ContainerWish& c : wish.spec.init_containers)
    lives_.push_back(Fresh(c, c.restart_policy == "Always" ? Kind::kSidecar : Kind::kInit, true));
  for (const ContainerWish& c : wish.spec.containers) lives_.push_back(Fresh(c, Kind::kMain, has_init));
}

PodLife::Life* PodLife::Find(std::string_view container) {
  const auto it = std::ranges::find(lives_, container, [](const Life& c) { return std::string_view(c.view.name); });
  return it == lives_.end() ? nullptr : &*it;
}
const PodLife::Life* PodLife::Find(std::string_view container) const {
  return const_cast<PodLife*>(this)->Find(container);
}

void PodLife::Reject(std::string reason, std::string message) {
  rejected_ = true;
  phase_ = "Failed";
  reason_ = std::move(reason);
  message_ = std::move(message);
}

void PodLife::Stop(WallTime now, Duration grace, std::string reason, std::string message) {
  const WallTime at = now + std::max(grace, Duration{});
  stop_at_ = stop_at_ ? std::min(*stop_at_, at) : at;
  for (Life& c : lives_) c.stop_ordered = false;  // a shorter time is a new order
  if (!reason.empty()) reason_ = std::move(reason), message_ = std::move(message);
}

void PodLife::Started(std::string_view container, std::string id, std::string image_id, WallTime now) {
  Life* c = Find(container);
  if (c == nullptr) return;
  c->starting = false;
  c->failures = 0;
  c->view.state = State::kRunning;
  c->view.started = now;
  c->view.id = std::move(id);
  c->view.image_id = std::move(image_id);
  c->startup_done = !c->wish->startup;
  c->readiness = !c->wish->readiness;
}

void PodLife::NotStarted(std::string_view container, std::string reason, std::string message, WallTime now) {
  Life* c = Find(container);
  if (c == nullptr) return;
  c->starting = false;
  ++c->failures;
  if (c->Dead() && !c->view.last) c->view.last = c->view.end;
  c->view.state = State::kWaiting;
  const bool image = IsImageTrouble(reason);
  c->view.waiting_reason = std::move(reason);
  c->view.waiting_message = std::move(message);
  c->back_off_until = now + TryBackOff(c->failures, image);
}

bool PodLife::Rename(std::string_view container, std::string_view from, std::string to, std::string message) {
  Life* c = Find(container);
  if (c == nullptr || c->view.state != State::kWaiting || c->starting || c->view.waiting_reason != from) return false;
  c->view.waiting_reason = std::move(to);
  c->view.waiting_message = std::move(message);
  return true;
}

void PodLife::StartError(std::string_view container, std::string id, std::string message, WallTime now) {
  Life* c = Find(container);
  if (c == nullptr) return;
  c->starting = false;
  c->view.id = std::move(id);
  c->view.started = WallTime{};
  End(*c, 128, "StartError", std::move(message), now);
}

void PodLife::Exited(std::string_view container, int status, std::string message, WallTime now) {
  Life* c = Find(container);
  if (c == nullptr || !c->Running()) return;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  End(*c, code, code == 0 ? "Completed" : "Error", std::move(message), now);
}

void PodLife::End(Life& c, int code, std::string reason, std::string message, WallTime now) {
  c.view.end = {code, std::move(reason), std::move(message), c.view.id, c.view.started, now};
  c.view.state = State::kTerminated;
  c.startup_done = c.readiness = c.stop_ordered = false;
  c.stop_why.clear();
  // Ten good minutes make up for what was before; the first restart comes at once.
  const bool good = c.view.started != WallTime{} && now - c.view.started >= std::chrono::minutes(10);
  if (good) c.crashes = 0;
  c.back_off_until = c.crashes == 0 ? now : now + RestartBackOff(c.crashes);
}

void PodLife::Probed(std::string_view container, ProbeKind kind, bool success) {
  Life* c = Find(container);
  if (c == nullptr || !c->Running()) return;
  if (kind == ProbeKind::kReadiness) c->readiness = success;
  if (kind == ProbeKind::kStartup && success) c->startup_done = true;
  if (kind == ProbeKind::kReadiness || success) return;
  const std::optional<Probe>& probe = kind == ProbeKind::kStartup ? c->wish->startup : c->wish->liveness;
  c->stop_why =
      "Container " + c->view.name + " failed " + (kind == ProbeKind::kStartup ? "startup" : "liveness") + " probe";
  c->stop_grace = probe && probe->grace ? std::optional<Duration>(seconds(*probe->grace)) : std::nullopt;
}

void PodLife::ForgetBackOff(WallTime now) {
  for (Life& c : lives_) {
    c.crashes = c.failures = 0;
    c.back_off_until = std::min(c.back_off_until, now);
  }
}

void PodLife::Reboot(WallTime now) {
  sandbox_ = false;
  ForgetBackOff(now);
  for (Life& c : lives_) {
    c.starting = false;
    if (c.Running()) End(c, 255, "Unknown", "", now);
    if (c.kind != Kind::kInit) continue;
    init_again_ = true;
    if (!c.Dead()) continue;
    c.view.last = c.view.end;
    c.view.state = State::kWaiting;
    c.view.waiting_reason = "PodInitializing";
    c.view.waiting_message.clear();
    ++c.view.restarts;
  }
}

bool PodLife::RestartsAfter(const Life& c) const {
  if (stop_at_) return false;
  if (c.kind == Kind::kSidecar) return true;
  if (c.kind == Kind::kInit) return c.view.end.exit_code != 0 && restart_policy_ != "Never";
  return restart_policy_ == "Always" || (restart_policy_ == "OnFailure" && c.view.end.exit_code != 0);
}

bool PodLife::InitDone(const Life& c) const {
  return c.kind == Kind::kSidecar ? c.Running() && c.startup_done : c.Dead() && c.view.end.exit_code == 0;
}

bool PodLife::Initialized() const {
  return std::ranges::all_of(lives_, [&](const Life& c) { return c.kind == Kind::kMain || InitDone(c); });
}

void PodLife::Start(Life& c, WallTime now, std::vector<Order>& orders, std::optional<WallTime>& wake) {
  if (c.starting || c.Running()) return;
  if (c.Dead()) {
    if (!RestartsAfter(c)) return;
    if (now < c.back_off_until) {
      c.view.last = c.view.end;
      c.view.state = State::kWaiting;
      c.view.waiting_reason = "CrashLoopBackOff";
      c.view.waiting_message = "back-off " + Seconds(RestartBackOff(c.crashes)) +
                               " restarting failed container=" + c.view.name + " pod=" + pod_name_;
      return Sooner(wake, c.back_off_until);
    }
    c.view.last = c.view.end;
    c.view.state = State::kWaiting;
    c.view.waiting_message.clear();
    c.view.waiting_reason = "ContainerCreating";
    ++c.view.restarts, ++c.crashes;
  } else if (now < c.back_off_until) {
    return Sooner(wake, c.back_off_until);
  } else if (c.view.last && c.view.waiting_reason == "CrashLoopBackOff") {
    ++c.view.restarts, ++c.crashes;
  }
  c.starting = true;
  orders.push_back({Order::Kind::kStart, c.view.name, c.view.restarts, {}, {}});
}

void PodLife::OrderStop(Life& c, Duration grace, std::string why, std::vector<Order>& orders) {
  if (c.stop_ordered || !c.Running()) return;
  c.stop_ordered = true;
  orders.push_back({Order::Kind::kStop, c.view.name, c.view.restarts, grace, std::move(why)});
}

void PodLife::NextInit(WallTime now, std::vector<Order>& orders, std::optional<WallTime>& wake) {
  for (Life& c : lives_) {
    if (c.kind == Kind::kMain) return;
    if (c.kind == Kind::kSidecar && !c.Running()) Start(c, now, orders, wake);
    if (InitDone(c)) continue;
    if (c.kind == Kind::kInit) Start(c, now, orders, wake);
    return;
  }
}

template <class F>
bool PodLife::AnyRuns(F which) const {
  return std::ranges::any_of(lives_, [&](const Life& c) { return which(c) && (c.Running() || c.starting); });
}

void PodLife::NextStopSidecars(WallTime now, std::vector<Order>& orders) {
  // One after the other, the last to start first.
  for (auto c = lives_.rbegin(); c != lives_.rend(); ++c) {
    if (c->kind != Kind::kSidecar || !(c->Running() || c->starting)) continue;
    const Duration left = stop_at_ ? std::max<Duration>(*stop_at_ - now, Duration{}) : grace_;
    return OrderStop(*c, left, "Stopping container " + c->view.name, orders);
  }
}

void PodLife::NextStop(WallTime now, std::vector<Order>& orders, std::optional<WallTime>& wake) {
  const Duration left = std::max<Duration>(*stop_at_ - now, Duration{});
  for (Life& c : lives_)
    if (c.kind != Kind::kSidecar) OrderStop(c, left, "Stopping container " + c.view.name, orders);
  if (!AnyRuns([](const Life& c) { return c.kind != Kind::kSidecar; })) NextStopSidecars(now, orders);
  if (AnyRuns([](const Life&) { return true; }) && left > Duration{}) Sooner(wake, *stop_at_);
}

std::vector<Order> PodLife::Next(WallTime now, std::optional<WallTime>& wake) {
  std::vector<Order> orders;
  if (rejected_) return orders;
  if (stop_at_) {
    NextStop(now, orders, wake);
    SetPhase();
    return orders;
  }
  SetPhase();
  if (Finished()) {
    NextStopSidecars(now, orders);
    return orders;
  }
  for (Life& c : lives_)
    if (!c.stop_why.empty())
      OrderStop(c, c.stop_grace.value_or(grace_),
                c.stop_why + (restart_policy_ == "Never" ? "" : ", will be restarted"), orders);
  const bool initialized = Initialized();
  if (initialized) init_again_ = false;
  NextInit(now, orders, wake);
  // Once the containers have begun, a sidecar that ended holds none of them up.
  const bool begun = std::ranges::any_of(
      lives_, [](const Life& c) { return c.kind == Kind::kMain && (c.view.last || c.Running() || c.Dead()); });
  if (initialized || (begun && !init_again_))
    for (Life& c : lives_)
      if (c.kind == Kind::kMain) Start(c, now, orders, wake);
  SetPhase();
  return orders;
}

void PodLife::SetPhase() {
  if (Finished()) return;
  const auto main = [](const Life& c) { return c.kind == Kind::kMain; };
  const auto all_main = [&](auto what) {
    return std::ranges::all_of(lives_, [&](const Life& c) { return !main(c) || what(c); });
  };
  const bool failed = std::ranges::any_of(lives_, [&](const Life& c) { return main(c) && c.Failed(); });
  const bool runs = AnyRuns([](const Life& c) { return c.kind != Kind::kSidecar; });
  const bool init_failed = std::ranges::any_of(
      lives_, [&](const Life& c) { return c.kind == Kind::kInit && c.Failed() && !RestartsAfter(c); });
  if (stop_at_) {
    const bool over = !AnyRuns([](const Life&) { return true; });
    if (over)
      phase_ = !reason_.empty() || failed || !all_main([](const Life& c) { return c.Dead(); }) ? "Failed" : "Succeeded";
    return;
  }
  if (init_failed && !runs) {
    phase_ = "Failed";
  } else if (all_main([&](const Life& c) { return c.Dead() && !RestartsAfter(c); })) {
    phase_ = failed ? "Failed" : "Succeeded";
  } else if (std::ranges::any_of(lives_,
                                 [&](const Life& c) { return main(c) && (c.Running() || c.view.last || c.Dead()); })) {
    phase_ = "Running";
  }
}

bool PodLife::Stopped() const {
  return stop_at_ && !AnyRuns([](const Life&) { return true; });
}

bool PodLife::started() const {
  return std::ranges::any_of(
      lives_, [](const Life& c) { return c.starting || c.view.state != State::kWaiting || c.view.last; });
}

bool PodLife::Runs(std::string_view container) const {
  const Life* c = Find(container);
  return c != nullptr && c->Running();
}

int PodLife::Attempt(std::string_view container) const {
  const Life* c = Find(container);
  return c == nullptr ? 0 : c->view.restarts;
}

bool PodLife::Ready() const { return !rejected_ && !Finished() && ContainersReady(View({}, {})); }

PodView PodLife::View(const std::string& ip, const std::string& host_ip) const {
  PodView out{.phase = phase_,
              .reason = reason_,
              .message = message_,
              .ip = ip,
              .host_ip = host_ip,
              .began = began_,
              .init = {},
              .main = {},
              .rejected = rejected_,
              .sandbox = sandbox_};
  for (const Life& c : lives_) {
    ContainerView view = c.view;
    view.startup_done = c.startup_done;
    view.ready =
        c.kind == Kind::kInit ? c.Dead() && c.view.end.exit_code == 0 : c.Running() && c.startup_done && c.readiness;
    if (c.kind == Kind::kMain)
      out.main.push_back(std::move(view));
    else
      out.init.push_back(std::move(view));
  }
  return out;
}

}  // namespace gpuop::sim::node
