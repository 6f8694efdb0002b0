#include "operator/lookout.h"

#include <algorithm>
#include <optional>

#include "operator/rollout_state.h"

namespace gpuop::op {

namespace {

using Kind = OperandReport::Kind;

/// How bad a state is, to say the worst of several.
int Rank(Kind kind) { return kind == Kind::kFailed ? 2 : kind == Kind::kWaiting ? 1 : 0; }

}  // namespace

void Worsen(OperandReport& report, Kind kind, std::string_view reason, std::string message) {
  if (Rank(kind) <= Rank(report.kind)) return;
  report.kind = kind;
  report.reason = reason;
  report.message = std::move(message);
}

/// What has become of one object.
void Lookout::Look(const operands::Object& object, OperandReport& report) {
  const std::string key = kube::KeyOf(object.ns(), object.name());
  const Keeper::State state = keeper_.StateOf(object.resource, key);
  if (!state.error.empty()) return Worsen(report, Kind::kFailed, "ApplyFailed", object.Title() + ": " + state.error);
  if (!state.settled) return Worsen(report, Kind::kWaiting, "Applying", object.Title() + " is being written");
  if (object.resource.kind != "DaemonSet") return;
  const auto* cache = world_.Objects(object.resource);
  const auto live = cache == nullptr ? nullptr : cache->Get(key);
  if (!live || !live->ours) return Worsen(report, Kind::kWaiting, "Applying", object.Title() + " is being written");
  report.desired += live->rollout.desired;
  report.available += live->rollout.available;
  const Placement placement = Placement::Of(object.body);
  std::optional<std::int64_t> expected;  // affinities are not judged here
  if (!placement.has_affinity) expected = fleet_.NodesFor(key, placement);
  // Affinities may keep Pods from some of these nodes; then it is not for long that one too many is taken as in order.
  const Rollout& rollout = live->rollout;
  const bool has_more = rollout.misscheduled > 0 || (expected && rollout.desired > *expected);
  const std::int64_t kept = has_more ? fleet_.NodesKeeping(placement) : 0;  // a walk over all nodes
  const std::string waits = WaitingFor(*live, expected, kept);
  if (!waits.empty()) Worsen(report, Kind::kWaiting, "NotReady", object.Title() + ": " + waits);
}

bool Lookout::Known(const std::vector<operands::Object>& objects) const {
  return std::ranges::all_of(objects, [this](const operands::Object& object) {
    return keeper_.StateOf(object.resource, kube::KeyOf(object.ns(), object.name())).known;
  });
}

}  // namespace gpuop::op
