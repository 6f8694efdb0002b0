#include <algorithm>
#include <string>

#include "sim/peek.h"
#include "sim/table/human.h"
#include "sim/table/kind_table.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

/// What the containers' statuses add up to.
struct Summary {
  std::int64_t restarts = 0;
  std::string_view last_restart;  // RFC 3339 in UTC, so that texts compare as times
  std::int64_t ready = 0, total = 0;
  std::string reason;

  void CountRestarts(const json::value& status) {
    restarts += PeekInt(status, {"restartCount"});
    last_restart = std::max(last_restart, PeekString(status, {"lastState", "terminated", "finishedAt"}));
  }
};

bool HasCondition(const json::object& pod, std::string_view type) {
  return std::ranges::any_of(PeekArray(pod, {"status", "conditions"}), [&](const json::value& c) {
    return PeekString(c, {"type"}) == type && PeekString(c, {"status"}) == "True";
  });
}

bool IsSidecar(const json::value& container) { return PeekString(container, {"restartPolicy"}) == "Always"; }

/// "Signal:9", "ExitCode:1", or the reason that was given.
std::string TerminatedReason(const json::value& terminated) {
  if (const auto reason = PeekString(terminated, {"reason"}); !reason.empty()) return std::string(reason);
  if (const auto signal = PeekInt(terminated, {"signal"}); signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(PeekInt(terminated, {"exitCode"}));
}

/// Whether an init container is still under way (then `sum.reason` says so). `sidecars` counts their restarts alone.
bool Initializing(const json::object& pod, Summary& sum, Summary& sidecars) {
  const json::array& specs = PeekArray(pod, {"spec", "initContainers"});
  std::int64_t index = -1;
  for (const json::value& status : PeekArray(pod, {"status", "initContainerStatuses"})) {
    ++index;
    sum.CountRestarts(status);
    const auto spec =
        std::ranges::find(specs, PeekString(status, {"name"}), [](auto& c) { return PeekString(c, {"name"}); });
    const bool sidecar = spec != specs.end() && IsSidecar(*spec);
    if (sidecar) sidecars.CountRestarts(status);
    const json::value* terminated = Peek(status, {"state", "terminated"});
    if (terminated != nullptr && PeekInt(*terminated, {"exitCode"}) == 0) continue;
    if (sidecar && PeekBool(status, {"started"})) {
      if (PeekBool(status, {"ready"})) ++sum.ready;
      continue;
    }
    const auto waiting = PeekString(status, {"state", "waiting", "reason"});
    if (terminated != nullptr)
      sum.reason = "Init:" + TerminatedReason(*terminated);
    else if (!waiting.empty() && waiting != "PodInitializing")
      sum.reason = "Init:" + std::string(waiting);
    else
      sum.reason = "Init:" + std::to_string(index) + "/" + std::to_string(specs.size());
    return true;
  }
  return false;
}

void CountContainers(const json::object& pod, Summary& sum) {
  const json::array& statuses = PeekArray(pod, {"status", "containerStatuses"});
  bool running = false;
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const json::value& status = statuses[i];
    sum.CountRestarts(status);
    const auto waiting = PeekString(status, {"state", "waiting", "reason"});
    const json::value* terminated = Peek(status, {"state", "terminated"});
    if (!waiting.empty())
      sum.reason = waiting;
    else if (terminated != nullptr)
      sum.reason = TerminatedReason(*terminated);
    else if (PeekBool(status, {"ready"}) && Peek(status, {"state", "running"}) != nullptr) {
      running = true;
      ++sum.ready;
    }
  }
  if (sum.reason == "Completed" && running) sum.reason = HasCondition(pod, "Ready") ? "Running" : "NotReady";
}

Summary Summarize(const json::object& pod) {
  const std::string phase(PeekString(pod, {"status", "phase"}));
  Summary sum;
  sum.reason = PeekString(pod, {"status", "reason"});
  if (sum.reason.empty()) sum.reason = phase;
  for (const json::value& c : PeekArray(pod, {"status", "conditions"}))
    if (PeekString(c, {"type"}) == "PodScheduled" && PeekString(c, {"reason"}) == "SchedulingGated")
      sum.reason = "SchedulingGated";
  sum.total = static_cast<std::int64_t>(PeekArray(pod, {"spec", "containers"}).size()) +
              std::ranges::count_if(PeekArray(pod, {"spec", "initContainers"}), IsSidecar);
  Summary sidecars;
  if (!Initializing(pod, sum, sidecars) || HasCondition(pod, "Initialized")) {
    sum.restarts = sidecars.restarts;
    sum.last_restart = sidecars.last_restart;
    CountContainers(pod, sum);
  }
  if (Peek(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    if (PeekString(pod, {"status", "reason"}) == "NodeLost")
      sum.reason = "Unknown";
    else if (phase != "Failed" && phase != "Succeeded")
      sum.reason = "Terminating";
  }
  return sum;
}

std::string OrNone(std::string_view text) { return text.empty() ? "<none>" : std::string(text); }

std::string ReadinessGates(const json::object& pod) {
  const json::array& gates = PeekArray(pod, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  const auto met = std::ranges::count_if(
      gates, [&](const json::value& g) { return HasCondition(pod, PeekString(g, {"conditionType"})); });
  return std::to_string(met) + "/" + std::to_string(gates.size());
}

}  // namespace

void PodCells(const json::object& pod, WallTime now, json::array& cells) {
  const Summary sum = Summarize(pod);
  std::string restarts = std::to_string(sum.restarts);
  if (sum.restarts != 0 && !sum.last_restart.empty()) restarts += " (" + Since(sum.last_restart, now) + " ago)";
  const json::array& ips = PeekArray(pod, {"status", "podIPs"});
  cells.emplace_back(PeekString(pod, {"metadata", "name"}));
  cells.emplace_back(std::to_string(sum.ready) + "/" + std::to_string(sum.total));
  cells.emplace_back(sum.reason);
  cells.emplace_back(std::move(restarts));
  cells.emplace_back(Age(pod, now));
  cells.emplace_back(ips.empty() ? OrNone(PeekString(pod, {"status", "podIP"})) : OrNone(PeekString(ips[0], {"ip"})));
  cells.emplace_back(OrNone(PeekString(pod, {"spec", "nodeName"})));
  cells.emplace_back(OrNone(PeekString(pod, {"status", "nominatedNodeName"})));
  cells.emplace_back(ReadinessGates(pod));
}

}  // namespace gpuop::sim
