#include "sim/kubelet/pod_status.h"

#include <algorithm>

namespace gpuop::sim {

namespace json = boost::json;

namespace {

using State = ContainerView::State;

json::object EndJson(const ContainerView::End& e) {
  json::object end{{"containerID", e.id},
                   {"exitCode", e.exit_code},
                   {"finishedAt", FormatTime(e.finished)},
                   {"reason", e.reason},
                   {"startedAt", FormatTime(e.started)}};
  if (!e.message.empty()) end["message"] = e.message;
  return {{"terminated", std::move(end)}};
}

json::object ContainerJson(const ContainerView& c) {
  json::object state;
  if (c.state == State::kRunning) state = {{"running", {{"startedAt", FormatTime(c.started)}}}};
  if (c.state == State::kTerminated) state = EndJson(c.end);
  if (c.state == State::kWaiting) {
    json::object waiting{{"reason", c.waiting_reason}};
    if (!c.waiting_message.empty()) waiting["message"] = c.waiting_message;
    state = {{"waiting", std::move(waiting)}};
  }
  json::object out{{"image", c.image},
                   {"imageID", c.image_id},
                   {"lastState", c.last ? EndJson(*c.last) : json::object()},
                   {"name", c.name},
                   {"ready", c.ready},
                   {"restartCount", c.restarts},
                   {"started", c.state == State::kRunning && c.startup_done},
                   {"state", std::move(state)}};
  if (!c.id.empty()) out["containerID"] = c.id;
  return out;
}

/// A condition, with its old transition time if the status is the old one.
json::object Condition(const kube::Pod& pod, std::string_view type, bool holds, std::string_view reason,
                       const std::string& message, WallTime now) {
  const char* status = holds ? "True" : "False";
  const kube::Condition* have = kube::FindCondition(pod.status.conditions, type);
  const bool stays = have != nullptr && have->status == status;
  json::object c{{"type", type},
                 {"status", status},
                 {"lastProbeTime", nullptr},
                 {"lastTransitionTime", FormatTime(stays ? have->last_transition : now)}};
  if (pod.meta.generation != 0) c["observedGeneration"] = pod.meta.generation;
  if (!reason.empty()) c["reason"] = reason;
  if (!message.empty()) c["message"] = message;
  return c;
}

bool IsOurs(std::string_view type) {
  static constexpr std::string_view kOurs[] = {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"};
  return std::ranges::find(kOurs, type) != std::end(kOurs);
}

json::object Kept(const kube::Condition& c) {
  json::object out{{"type", c.type.view()},
                   {"status", c.status.view()},
                   {"lastProbeTime", nullptr},
                   {"lastTransitionTime", FormatTime(c.last_transition)}};
  if (c.observed_generation != 0) out["observedGeneration"] = c.observed_generation;
  if (!c.reason.empty()) out["reason"] = c.reason.view();
  if (!c.message.empty()) out["message"] = c.message.view();
  return out;
}

}  // namespace

bool Initialized(const PodView& view) {
  return std::ranges::all_of(view.init, [](const ContainerView& c) {
    return c.restartable ? c.state == State::kRunning && c.startup_done
                         : c.state == State::kTerminated && c.end.exit_code == 0;
  });
}

bool ContainersReady(const PodView& view) {
  return std::ranges::all_of(view.main, &ContainerView::ready) &&
         std::ranges::all_of(view.init, [](const ContainerView& c) { return !c.restartable || c.ready; });
}

namespace {

std::string Unready(const PodView& view) {
  std::string out;
  for (const ContainerView& c : view.main)
    if (!c.ready) out += (out.empty() ? "" : " ") + c.name;
  return out;
}

std::string Incomplete(const PodView& view) {
  std::string out;
  for (const ContainerView& c : view.init)
    if (c.state != State::kTerminated || c.end.exit_code != 0) out += (out.empty() ? "" : " ") + c.name;
  return out;
}

json::array Conditions(const kube::Pod& pod, const PodView& view, bool finished, WallTime now) {
  const bool ready = ContainersReady(view), done = view.phase == "Succeeded";
  const std::string_view why = ready                    ? ""
                               : done                   ? "PodCompleted"
                               : view.phase == "Failed" ? "PodFailed"
                                                        : "ContainersNotReady";
  const std::string text =
      why == "ContainersNotReady" ? "containers with unready status: [" + Unready(view) + "]" : std::string();
  json::array out;
  out.push_back(Condition(pod, "PodReadyToStartContainers", view.sandbox && !finished, {}, {}, now));
  out.push_back(Initialized(view) ? Condition(pod, "Initialized", true, done ? "PodCompleted" : "", {}, now)
                                  : Condition(pod, "Initialized", false, "ContainersNotInitialized",
                                              "containers with incomplete status: [" + Incomplete(view) + "]", now));
  out.push_back(Condition(pod, "Ready", ready && !finished, why, text, now));
  out.push_back(Condition(pod, "ContainersReady", ready && !finished, why, text, now));
  for (const kube::Condition& c : pod.status.conditions)
    if (!IsOurs(c.type)) out.push_back(Kept(c));
  return out;
}

}  // namespace

json::object PodStatusObject(const kube::Pod& pod, const PodView& view, WallTime now) {
  json::object s{{"phase", view.phase}, {"startTime", FormatTime(pod.status.started.value_or(view.began))}};
  if (pod.meta.generation != 0) s["observedGeneration"] = pod.meta.generation;
  if (!view.reason.empty()) s["reason"] = view.reason;
  if (!view.message.empty()) s["message"] = view.message;
  if (view.rejected) return s;
  const bool finished = view.phase == "Succeeded" || view.phase == "Failed";
  s["conditions"] = Conditions(pod, view, finished, now);
  s["hostIP"] = view.host_ip;
  s["hostIPs"] = json::array{{{"ip", view.host_ip}}};
  if (view.sandbox || finished || view.phase == "Running") {
    s["podIP"] = view.ip;
    s["podIPs"] = json::array{{{"ip", view.ip}}};
  }
  json::array main, init;
  for (const ContainerView& c : view.main) main.push_back(ContainerJson(c));
  for (const ContainerView& c : view.init) init.push_back(ContainerJson(c));
  s["containerStatuses"] = std::move(main);
  if (!init.empty()) s["initContainerStatuses"] = std::move(init);
  return s;
}

}  // namespace gpuop::sim
