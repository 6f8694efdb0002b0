#include "sim/policy/budget.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/text.h"
#include "sim/crd/crd_names.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

/// "50%" of `total`, rounded up, or the number itself.
std::int64_t Scaled(const json::value& v, std::int64_t total) {
  if (!v.is_string()) return AsInt(&v);
  std::string_view text = AsString(v);
  if (text.ends_with('%')) text.remove_suffix(1);
  return (ParseInt(text).value_or(0) * total + 99) / 100;
}

/// What the controllers of the pods want together; each controller counts once.
std::int64_t ExpectedScale(const BudgetInput& in) {
  std::set<std::string> seen;
  std::int64_t total = 0;
  for (const json::object& pod : in.pods)
    for (const json::value& owner : PeekArray(pod, {"metadata", "ownerReferences"})) {
      if (!PeekBool(owner, {"controller"})) continue;
      const auto scale = in.scale_of(AsObject(owner));
      if (scale && seen.insert(scale->uid).second) total += scale->replicas;
    }
  return total;
}

/// Evicted pods that are still to go.
json::object StillDisrupted(const BudgetInput& in) {
  json::object out;
  for (const auto& [name, time] : PeekObject(in.budget, {"status", "disruptedPods"})) {
    const auto pod = std::ranges::find(in.pods, std::string_view(name),
                                       [](const json::object& p) { return PeekString(p, {"metadata", "name"}); });
    const auto since = ParseTime(AsString(&time));
    if (pod != in.pods.end() && Peek(*pod, {"metadata", "deletionTimestamp"}) == nullptr && since &&
        in.now - *since < kDisruptedFor)
      out[name] = time;
  }
  return out;
}

}  // namespace

bool IsPodReady(const json::object& pod) { return HasCondition(pod, "Ready"); }

json::object BudgetStatus(const BudgetInput& in) {
  const json::value* least = Peek(in.budget, {"spec", "minAvailable"});
  const json::value* most = Peek(in.budget, {"spec", "maxUnavailable"});
  std::int64_t expected = 0, desired = 0;
  if (most != nullptr) {
    expected = ExpectedScale(in);
    desired = std::max<std::int64_t>(expected - Scaled(*most, expected), 0);
  } else if (least != nullptr && least->is_string()) {
    expected = ExpectedScale(in);
    desired = Scaled(*least, expected);
  } else if (least != nullptr) {
    expected = static_cast<std::int64_t>(in.pods.size());
    desired = AsInt(least);
  }
  json::object disrupted = StillDisrupted(in);
  const std::int64_t healthy = std::ranges::count_if(in.pods, [&](const json::object& pod) {
    return IsPodReady(pod) && Peek(pod, {"metadata", "deletionTimestamp"}) == nullptr &&
           !disrupted.contains(PeekString(pod, {"metadata", "name"}));
  });
  const std::int64_t allowed = expected <= 0 ? 0 : std::max<std::int64_t>(healthy - desired, 0);
  const std::int64_t generation = PeekInt(in.budget, {"metadata", "generation"});

  json::object holder;
  json::object& status = Ensure(holder, {"status"});
  status = PeekObject(in.budget, {"status"});
  status["observedGeneration"] = generation;
  if (disrupted.empty())
    status.erase("disruptedPods");
  else
    status["disruptedPods"] = std::move(disrupted);
  status["disruptionsAllowed"] = allowed;
  status["currentHealthy"] = healthy;
  status["desiredHealthy"] = desired;
  status["expectedPods"] = expected;
  SetCondition(holder, "DisruptionAllowed", allowed > 0, allowed > 0 ? "SufficientPods" : "InsufficientPods", "",
               in.now);
  for (json::value& c : holder["status"].as_object()["conditions"].as_array())
    if (PeekString(c, {"type"}) == "DisruptionAllowed") c.as_object()["observedGeneration"] = generation;
  return holder["status"].as_object();
}

}  // namespace gpuop::sim
