#pragma once
// What DaemonSets, ReplicaSets and Jobs have in common: making Pods from templates and judging them.

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/types/apps.h"
#include "kube/types/pod.h"

namespace gpuop::sim {

using PodPtr = std::shared_ptr<const kube::Pod>;

/// An ownerReference that makes `owner` the controller, as the built-in controllers write it.
boost::json::object ControllerReference(const kube::Resource& kind, const kube::ObjectMeta& owner);

/// The owners of `meta` but for the one whose UID is `without`.
boost::json::array OwnersJson(const kube::ObjectMeta& meta, std::string_view without);

/// A Pod from `whole` (a PodTemplateSpec) in the owner's namespace, with generateName "<owner>-"; the template's
/// labels, annotations and finalizers, and the reference to the owner. kInvalid when the template is no object.
Result<boost::json::object> PodFromTemplate(const kube::RawJson& whole, const kube::Resource& kind,
                                            const kube::ObjectMeta& owner);

/// Ready, and for at least `min_ready_seconds`.
bool IsAvailable(const kube::Pod& pod, std::int32_t min_ready_seconds, WallTime now);
/// When a ready pod becomes available; nullopt when it is not ready or is available already.
std::optional<WallTime> AvailableAt(const kube::Pod& pod, std::int32_t min_ready_seconds, WallTime now);

/// A short name for a text, of letters and digits that spell no words: the value of pod-template-hash and
/// controller-revision-hash. `collisions` changes it when another object has the same.
std::string TemplateHash(std::string_view text, std::int32_t collisions);

/// An absolute number or a share of `total`, rounded up or down; nullopt for a text that is no percentage.
std::optional<std::int32_t> Scaled(const kube::IntOrString& value, std::int32_t total, bool round_up);

/// The condition as JSON with what is empty left out.
boost::json::object ConditionJson(const kube::Condition& c);

}  // namespace gpuop::sim
