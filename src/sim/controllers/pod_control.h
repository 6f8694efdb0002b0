#pragma once
// How workload controllers touch Pods: create, delete, adopt and release, and remember what the cache does not show
// yet.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/controllers/event_writer.h"
#include "sim/controllers/shared_caches.h"
#include "sim/controllers/workload.h"

namespace gpuop::sim {

/// Not thread-safe.
class PodControl {
 public:
  /// Registers with the cache of pods: make it before the cache starts.
  PodControl(ControllerParts parts, SharedCaches& caches, EventWriter& events);

  /// Creates `pod`; the event SuccessfulCreate or FailedCreate goes to `owner`.
  template <class T>
  Result<> Create(const T& owner, const boost::json::object& pod) {
    return CreateFor(ReferenceTo(owner), pod);
  }
  /// Deletes this very pod; one that is gone already counts as deleted.
  template <class T>
  Result<> Delete(const T& owner, const kube::Pod& pod) {
    return DeleteFor(ReferenceTo(owner), pod);
  }

  /// Whether the cache shows every creation and deletion that was done for this owner: else counting pods would do the
  /// same work twice. What is not seen within five minutes is given up.
  bool Settled(const std::string& owner_uid);

  /// The owner's pods, after adopting those that match and belong to nobody and releasing those that no longer match.
  template <class T>
  Result<std::vector<PodPtr>> Claim(const T& owner, const kube::LabelSelector& selector) {
    return ClaimFor(T::kResource, owner.meta, selector);
  }

 private:
  struct Pending {
    std::map<std::string, TimePoint> created, deleted;  ///< by pod UID
  };

  Result<> CreateFor(const kube::ObjectReference& owner, const boost::json::object& pod);
  Result<> DeleteFor(const kube::ObjectReference& owner, const kube::Pod& pod);
  Result<std::vector<PodPtr>> ClaimFor(const kube::Resource& kind, const kube::ObjectMeta& owner,
                                       const kube::LabelSelector& selector);
  Result<> SetOwners(const kube::Pod& pod, boost::json::array owners);
  void See(const kube::Change<kube::Pod>& change);

  ControllerParts parts_;
  SharedCaches& caches_;
  EventWriter& events_;
  std::map<std::string, Pending> pending_;       ///< by owner UID
  std::map<std::string, std::string> owner_of_;  ///< pod UID to owner UID, for what is pending
};

/// Whether `owner` with this UID is there and stays, asked of the server: caches lag behind, and what is adopted by an
/// owner that goes would go with it.
Result<bool> MayAdopt(const kube::Client& client, const kube::ObjectRef& owner, std::string_view uid);
/// Merges `patch` into the object; with `resource_version` only if nobody has changed it meanwhile (kConflict).
Result<> MergePatch(const kube::Client& client, kube::ObjectRef ref, boost::json::object patch,
                    std::string_view resource_version = {});
/// A number, or null where the API leaves out zero.
boost::json::value OrNull(std::int64_t number);

}  // namespace gpuop::sim
