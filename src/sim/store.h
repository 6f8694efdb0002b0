#pragma once
// Where objects live: ordered tables of immutable JSON texts, one counter of revisions, and the events since.

#include <boost/json/object.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/past.h"
#include "sim/resource.h"
#include "sim/status.h"

namespace gpuop::sim {

/// Sees every commit to a table, in order, from inside the commit: it must not write. Used to wake watches, by the CRD
/// registry and by traces.
using CommitObserver = std::function<void(std::string_view table, const Event&)>;

/// Where committed writes go before they are acknowledged (sim/state_file.h). The store calls it from inside a commit.
class CommitLog {
 public:
  virtual ~CommitLog() = default;
  /// One write: `json` empty for a deletion. When it fails the write does not happen.
  virtual Answer<> Append(std::uint64_t revision, std::string_view table, std::string_view key,
                          std::string_view json) = 0;
};

/// How much history is kept for watches and consistent paging. The oldest events go first, over all tables. The newest
/// are kept as they are; of older ones what differs from another version of the object (sim/past.h).
struct HistoryLimit {
  std::size_t events = 100'000;
  std::size_t bytes = 32U << 20U;
  std::size_t recent_bytes = 2U << 20U;
};

/// One page of a list. Keys are "namespace/name" (or "name"), in byte order, as etcd orders them.
struct Page {
  std::vector<StoredPtr> items;
  /// The first key not in `items`; empty when the list is complete.
  std::string next;
  /// How many objects follow (only counted for a list without a filter).
  std::optional<std::size_t> remaining;
};

/// Not thread-safe: one thread owns it and everything on top.
class Store {
 public:
  explicit Store(HistoryLimit limit = {});

  /// The revision of the newest write (1 when there was none).
  std::uint64_t revision() const { return revision_; }

  /// Names the fields that are extracted from a table's objects; those already there are re-read if it changes.
  void SetSelectable(std::string_view table, const std::vector<SelectableField>& fields);

  StoredPtr Get(std::string_view table, std::string_view ns, std::string_view name) const;

  struct Query {
    /// Only this namespace; nullopt: all, or a cluster-wide resource.
    std::optional<std::string> ns;
    /// Start at this key (inclusive).
    std::string from;
    /// 0: no limit.
    std::size_t limit = 0;
    /// Null: everything matches.
    std::function<bool(const Stored&)> matches;
  };
  /// The table as it is now.
  Page List(std::string_view table, const Query& query) const;
  /// The table as it was at `revision`; nullopt when the history since then is gone.
  std::optional<Page> ListAt(std::string_view table, const Query& query, std::uint64_t revision) const;

  /// Writes `object` (metadata.name and namespace set) with the next revision, which it puts into
  /// metadata.resourceVersion. The caller has checked what must be checked: nothing can come between.
  Answer<StoredPtr> Put(std::string_view table, boost::json::object& object);
  /// Removes an object; returns its last state with the deletion's revision. NotFound is the caller's to check.
  Answer<StoredPtr> Delete(std::string_view table, std::string_view ns, std::string_view name);
  /// Puts an object read from the state file: no event, no log, its own revision.
  void Restore(std::string_view table, std::uint64_t revision, std::string json);

  /// Every event of `table` after `after`, oldest first, for a reader that has seen all until then. nullopt: some are
  /// gone. `next` is called until it returns false; the answer is the revision up to which everything was seen.
  std::optional<std::uint64_t> Replay(std::string_view table, std::uint64_t after,
                                      const std::function<bool(const EventPtr&)>& next) const;
  /// Forgets all events up to `revision`.
  void Compact(std::uint64_t revision);
  /// The oldest revision that `table` can be watched from.
  std::uint64_t OldestRevision(std::string_view table) const;

  void Observe(CommitObserver observer) { observers_.push_back(std::move(observer)); }
  /// Null: nothing is logged. The log outlives the store or is taken away.
  void SetLog(CommitLog* log) { log_ = log; }

  /// Number of objects in a table.
  std::size_t Count(std::string_view table) const;
  /// Every object of every table, by table and key.
  void ForEach(const std::function<void(std::string_view table, const StoredPtr&)>& see) const;
  /// Raises the revision counter (a restart continues where the log ended); nothing before can be watched.
  void SetRevision(std::uint64_t revision);

 private:
  struct Table {
    std::vector<SelectableField> selectable;
    std::map<std::string, StoredPtr, std::less<>> objects;
    std::deque<PastEvent> events;
    std::uint64_t forgotten = 0;  // the newest event that is no longer in `events`
  };

  Table& Touch(std::string_view table);
  const Table* Find(std::string_view table) const;
  static StoredPtr Make(const Table& table, const boost::json::object& object, std::uint64_t revision);
  void Commit(std::string_view name, Table& table, EventPtr event);
  void TrimHistory();
  void ForgetOldest();
  void AgeRecent();
  void Age(Table& table, PastEvent& event);
  static PastEvent* EventAt(Table& table, std::uint64_t revision);

  HistoryLimit limit_;
  std::uint64_t revision_ = 1;
  std::map<std::string, Table, std::less<>> tables_;
  std::deque<Table*> order_;  // whose event is the oldest, second oldest, …
  struct Recent {
    Table* table = nullptr;
    std::uint64_t revision = 0;
    std::size_t bytes = 0;
  };
  std::deque<Recent> recent_;  // events that are kept as they are, oldest first
  std::size_t recent_bytes_ = 0;
  std::size_t history_bytes_ = 0;
  std::uint64_t lost_ = 0;  // no table can be watched from before this
  std::vector<CommitObserver> observers_;
  CommitLog* log_ = nullptr;
};

/// "namespace/name", or "name".
std::string StoreKey(std::string_view ns, std::string_view name);

}  // namespace gpuop::sim
