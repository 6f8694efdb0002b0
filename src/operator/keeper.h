#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/apply.h"
#include "kube/controller.h"
#include "operands/build/meta.h"
#include "operator/dry_run.h"
#include "operator/world.h"

namespace gpuop::op {

/// What one owner (a ClusterPolicy or an NVIDIADriver) wants to exist.
struct Wish {
  /// Each carries the state label and an owner reference.
  std::vector<operands::Object> objects;
  /// States that could not be decided: what exists of them stays as it is.
  std::set<std::string> held_states;
  /// States whose DaemonSets, when they are wanted no longer, leave their Pods running.
  std::set<std::string> orphaned_states;
  /// DaemonSets stay though they are not in `objects`: there is no node that could use them at the moment.
  bool hold_daemon_sets = false;
};

/// Makes what is wanted exist as it is wanted, object by object: each has its own turn, its own back-off, and several
/// are written at once. It repairs what others change, writes nothing where nothing differs, and deletes what belongs
/// to an owner that wants it no longer. Thread-safe.
class Keeper {
 public:
  struct Options {
    std::size_t concurrency = 8;
    std::uint64_t seed = 1;
    MetricRegistry* metrics = nullptr;
    /// Whether the change of a DaemonSet must wait for nodes' labels; it is asked again, for at most kLongestWait.
    std::function<bool(const boost::json::object& wanted, const OwnObject& live)> must_wait = nullptr;
  };
  /// A node that cannot be labelled holds up no DaemonSet for ever.
  static constexpr std::chrono::minutes kLongestWait{1};

  /// Registers with the world: make it before the world starts. `on_change` is called, on the executor, with an owner
  /// when something has become of one of its objects.
  Keeper(Executor& executor, World& world, const kube::Client& client, Log& log, Options options,
         std::function<void(const std::string& owner)> on_change);

  void Start() { controller_.Start(); }
  void Pause() { controller_.Pause(); }

  /// Replaces what `owner` (its uid) wants. Equal wishes cost nothing.
  void Want(const std::string& owner, Wish wish);
  /// The owner is gone: nothing is wanted by it, and nothing is deleted either (the API server collects it).
  void Forget(const std::string& owner);

  /// What would be written to make what is wanted exist, and what would be deleted.
  void Preview(DryRunText& out) const;

  /// How it stands with one object.
  struct State {
    bool known = false;      ///< it was looked at since it was wanted so
    bool settled = false;    ///< it was found, or made, as wanted
    std::string error = {};  ///< why it could not be made so; empty when it could
  };
  State StateOf(const kube::Resource& resource, std::string_view key) const;
  const kube::WorkQueue& queue() const { return controller_.queue(); }
  std::uint64_t turns() const { return controller_.turns(); }

 private:
  struct Wanted {
    operands::Object object;
    std::uint64_t hash = 0;
    std::set<std::string> owners;
  };
  struct Entry {
    std::shared_ptr<const Wanted> wanted;
    State state;
    /// The object was found as wanted in this version: no need to compare it again.
    std::string checked_version;
    std::uint64_t checked_hash = 0;
    /// Since when its change waits for labels.
    std::optional<TimePoint> waits_since;
  };

  static std::string NameOf(const kube::Resource& resource, std::string_view key);
  Result<kube::Next> Turn(const std::string& name);
  Result<kube::Next> Make(const std::string& name, const kube::Resource& resource,
                          const std::shared_ptr<const Wanted>& wanted, const OwnObject* live);
  Result<kube::Next> Remove(const kube::Resource& resource, const OwnObject& live);
  /// Whether a live object that nobody wants may be deleted; and if so, whether its Pods stay.
  enum class Fate { kStays, kGoes, kGoesWithoutItsPods };
  Fate FateOf(const kube::Resource& resource, const OwnObject& live) const;
  /// Objects that are there and wanted no longer.
  struct Unwanted {
    kube::Resource resource;
    std::string key;
    Fate fate = Fate::kGoes;
  };
  std::vector<Unwanted> AllUnwanted() const;
  /// Whether a binding's role is wanted too and is not, or not yet known to be, as it is wanted.
  bool WaitsForRole(const Wanted& wanted) const;
  bool MustWait(const std::string& name, const Wanted& wanted, const OwnObject& live);
  void Settle(const std::string& name, const Wanted& wanted, State state, const std::string& version);
  void Merge() REQUIRES(mu_);

  Executor& executor_;
  World& world_;
  const kube::Client client_;
  Log& log_;
  const Options options_;
  const std::function<void(const std::string&)> on_change_;
  kube::Applier applier_;
  std::map<std::string, kube::Resource> kinds_;  ///< by the first part of names

  mutable Mutex mu_;
  std::map<std::string, Wish> wishes_ GUARDED_BY(mu_);
  std::map<std::string, Entry> entries_ GUARDED_BY(mu_);

  kube::Controller controller_;
};

}  // namespace gpuop::op
