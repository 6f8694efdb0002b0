#include "cli/gpu/pod_trouble.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuop::cli::kubectl_gpu {
namespace {

/// Reasons for which a container waits and time alone may help.
constexpr std::array<std::string_view, 2> kPatient = {"ContainerCreating", "PodInitializing"};

bool DoneInit(const kube::ContainerStatus& status, const kube::Container& spec) {
  if (spec.restart_policy == "Always") return status.started.value_or(false);
  return status.state.terminated && status.state.terminated->exit_code == 0;
}

const kube::ContainerStatus* StatusOf(const std::vector<kube::ContainerStatus>& all, const kube::Container& spec) {
  const auto it = std::ranges::find(all, spec.name, &kube::ContainerStatus::name);
  return it == all.end() ? nullptr : &*it;
}

void TakeEnd(const kube::ContainerStateTerminated& end, Trouble& out) {
  out.ended = true;
  out.end_reason = end.reason.view();
  out.exit_code = end.exit_code;
  if (out.message.empty()) out.message = end.message.view();
}

Trouble Describe(const kube::Container& spec, const kube::ContainerStatus* status, bool init) {
  Trouble out;
  out.container = spec.name.view();
  out.init = init;
  if (status == nullptr) return out;
  out.restarts = status->restart_count;
  if (const auto& waiting = status->state.waiting) {
    out.reason = waiting->reason.view();
    // "back-off 10s restarting failed container=…" says nothing that the reason does not.
    if (waiting->reason != "CrashLoopBackOff") out.message = waiting->message.view();
    out.failing = std::ranges::find(kPatient, waiting->reason.view()) == kPatient.end() && !waiting->reason.empty();
    if (status->last_state.terminated) TakeEnd(*status->last_state.terminated, out);
  } else if (const auto& ended = status->state.terminated) {
    out.reason = ended->reason.view();
    TakeEnd(*ended, out);
    out.failing = ended->exit_code != 0;
  } else {
    out.reason = status->state.running ? "Running" : "";
    if (status->last_state.terminated) TakeEnd(*status->last_state.terminated, out);
    out.failing = status->last_state.terminated && status->last_state.terminated->exit_code != 0;
  }
  return out;
}

std::string Times(std::int32_t n) { return n == 1 ? "once" : n == 2 ? "twice" : fmt::format("{} times", n); }

}  // namespace

std::string Trouble::Text() const {
  std::string out = container;
  if (!reason.empty()) out.append(": ").append(reason != "Running" ? reason : init ? "runs" : "runs and is not ready");
  if (!message.empty()) out.append(": ").append(message);
  if (ended) out += fmt::format("; ended {}, last with exit code {}", Times(restarts + 1), exit_code);
  // "Error" says no more than the code.
  if (ended && !end_reason.empty() && end_reason != "Error" && end_reason != "Completed" && end_reason != reason)
    out += fmt::format(" ({})", end_reason);
  return out;
}

Trouble FindTrouble(const kube::Pod& pod) {
  if (pod.ready() || pod.status.phase == "Succeeded") return {};
  for (const kube::Container& spec : pod.spec.init_containers) {
    const kube::ContainerStatus* status = StatusOf(pod.status.init_containers, spec);
    if (status == nullptr || !DoneInit(*status, spec)) return Describe(spec, status, true);
  }
  for (const kube::Container& spec : pod.spec.containers) {
    const kube::ContainerStatus* status = StatusOf(pod.status.containers, spec);
    if (status == nullptr || !status->ready) return Describe(spec, status, false);
  }
  return {};
}

}  // namespace gpuop::cli::kubectl_gpu
