#pragma once
// The one way in which an engine's configuration is changed: plan, show, journal, write, make the engine read it if its
// meaning changed, verify, commit; else everything is put back and the engine reads that.

#include <string>
#include <vector>

#include "base/result.h"
#include "container/engine/config.h"
#include "container/engine/plan.h"
#include "container/engine/record.h"
#include "os/journal.h"

namespace gpuop::container {

/// The running engine. Calls block, within limits of the implementation's own.
class EngineControl {
 public:
  virtual ~EngineControl() = default;
  /// Makes it read its configuration again. Must bear being called twice.
  virtual Result<> Reload() = 0;
  /// Whether it answers and does what `expected` says: every handler still starts a sandbox, ours are known. The error
  /// carries the engine's own words.
  virtual Result<> Verify(const EngineConfig& expected) = 0;
};

/// Which engine, and where things are.
struct EngineTarget {
  EngineKind kind = EngineKind::kContainerd;
  EngineFiles files;
  ImportRule rule = ImportRule::kReplacePlugins;
  /// Where the record of what was there before is kept; on storage that survives a reboot.
  std::string record;
};

/// A change that has not been made: what to show to a person, and whether the engine will be reloaded.
struct EngineChange {
  os::Plan files;
  EngineConfig before, after;
  bool reload = false;

  bool empty() const { return files.empty(); }
};

/// Not thread-safe. Borrows everything.
class EngineTransaction {
 public:
  EngineTransaction(os::Fs& fs, os::Journal& journal, EngineControl& control, EngineTarget target)
      : fs_(fs), journal_(journal), control_(control), target_(std::move(target)) {}

  /// To be called first at every start: ends what a killed process began, and makes the engine follow.
  Result<os::Recovery> Recover();

  /// Reads and compares; writes nothing. An empty change: all is as wished.
  Result<EngineChange> PlanSetUp(const EngineWish& wish) const;
  /// Gives back what was there before: byte for byte where nobody else changed it since, otherwise all but our entries.
  /// Where no record is left, our runtimes are known by `names` and by lying below `folder`.
  Result<EngineChange> PlanCleanUp(const std::vector<std::string>& names, const std::string& folder) const;

  /// Docker reads its file again without a restart, and keeps what the file says no more. What comes before its
  /// clean-up therefore says outright which runtimes and which default it shall have afterwards. Empty where the
  /// cleaned file says so itself, or where nothing is to be cleaned.
  Result<EngineChange> PlanForget(const std::vector<std::string>& names, const std::string& folder) const;

  /// Makes a change. On an error everything is as before, unless the text says what is not.
  Result<> Apply(const EngineChange& change);

 private:
  Result<EngineRecord> LoadRecord(bool& found) const;
  Result<EngineChange> Finish(std::string name, const EnginePlan& plan, std::vector<os::Change> changes) const;
  /// The same with the record of what was there before brought up to it.
  Result<EngineChange> FinishWithRecord(const EnginePlan& plan, const EngineWish& wish) const;
  os::FileState OriginalOf(const os::Plan::Item& item, const EngineRecord& old, const EngineWish& wish) const;
  Result<std::vector<os::Change>> ToChanges(const EnginePlan& plan) const;

  os::Fs& fs_;
  os::Journal& journal_;
  EngineControl& control_;
  const EngineTarget target_;
};

}  // namespace gpuop::container
