#pragma once
// Who owns whom: the state of the garbage collector. Pure.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/resource.h"
#include "kube/types/meta.h"

namespace gpuop::sim {

inline constexpr std::string_view kForegroundDeletion = "foregroundDeletion";
inline constexpr std::string_view kOrphan = "orphan";

/// Who owns an object, as its metadata names it.
struct GarbageOwner {
  Interned api_version, kind, name, uid;
  bool block_owner_deletion = false;
  bool operator==(const GarbageOwner&) const = default;
};

/// An object as the garbage collector sees it. Texts that others repeat, its own UID among them, are kept once.
struct GarbageNode {
  std::shared_ptr<const kube::Resource> resource;
  Interned ns, uid;
  std::string name;
  std::vector<GarbageOwner> owners;
  bool deleting = false;
  bool waits_for_dependents = false;  ///< finalizer foregroundDeletion
  bool orphans_dependents = false;    ///< finalizer orphan

  /// Whether its deletion waits until those that it owns are gone.
  bool IsWaiting() const { return deleting && waits_for_dependents; }
  bool operator==(const GarbageNode&) const = default;
};

class GarbageGraph {
 public:
  /// Enters an object as it is now. The answer: UIDs to look at again, itself included.
  std::vector<Interned> Put(GarbageNode node);
  /// Forgets an object that is gone. The answer: UIDs to look at again.
  std::vector<Interned> Remove(const Interned& uid);

  const GarbageNode* Find(const Interned& uid) const;
  std::vector<const GarbageNode*> Dependents(const Interned& uid) const;
  std::size_t size() const { return nodes_.size(); }

 private:
  std::vector<Interned> WaitingOwners(const GarbageNode& node) const;

  std::map<Interned, GarbageNode> nodes_;
  std::map<Interned, std::set<Interned>> dependents_;  ///< by owner UID, also of owners not known (yet)
};

/// What to do about one object.
struct GarbageAction {
  enum class Kind {
    kNothing,
    kOrphanDependents,  ///< take `uids` = {its own} out of its dependents' owners, then drop the finalizer orphan
    kDropForeground,    ///< nobody blocks any more: drop the finalizer foregroundDeletion
    kLookAtDependents,  ///< `uids` block its deletion
    kDropOwners,        ///< take `uids` out of its owners: some owner lives
    kDeleteBackground,
    kDeleteForeground,
    kDeleteOrphaning,
  };
  Kind kind = Kind::kNothing;
  std::vector<Interned> uids;
  /// kDeleteForeground: dependents that wait for this very object must not block it (a circle of owners).
  std::vector<Interned> unblock;
};

/// Whether an owner that the graph does not know exists (asked of the API server).
using OwnerExists = std::function<Result<bool>(const GarbageNode& item, const GarbageOwner& owner)>;

Result<GarbageAction> PlanGarbage(const GarbageGraph& graph, const Interned& uid, const OwnerExists& exists);

}  // namespace gpuop::sim
