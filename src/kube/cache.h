#pragma once
// What the cluster holds, kept here: typed, compact, always as new as the last word heard.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/interned.h"
#include "base/mutex.h"
#include "kube/cache_feed.h"
#include "kube/types/meta.h"

namespace gpuop::kube {

/// What does not depend on the type.
class CacheBase {
 public:
  virtual ~CacheBase() = default;
  /// Whether the content was complete once. Thread-safe.
  virtual bool HasSynced() const = 0;
  /// When the server last said anything about it. Thread-safe.
  virtual TimePoint LastHeard() const = 0;
  /// `done` is called once, on the cache's strand, when it has synced; at once if it has.
  virtual void OnSynced(std::function<void()> done) = 0;
};

/// A change of one object. `old` is null when it appeared, `now` is null when it is gone.
template <class T>
struct Change {
  std::shared_ptr<const T> old, now;

  /// The object before or after, whichever there is (the newer one of two).
  const T& any() const { return now ? *now : *old; }
  std::string Key() const { return any().meta.Key(); }
};

/// All objects of type T that the options select, as the API server last told them, by list and watch.
///
/// The content never goes back to empty: when history is lost, the new list is compared with what was there, and
/// handlers hear real differences only. An object that cannot be read is reported, counted and passed over (its last
/// good state stays). Objects are immutable snapshots: hold them as long as you like. Reading is thread-safe.
///
/// Set up (OnChange, AddIndex), then Start. Handlers run one at a time on the executor, after the change can be seen
/// in the cache; they must be quick: usually one Controller::Add.
template <class T>
class Cache final : public CacheBase, private Feed::Sink {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Handler = std::function<void(const Change<T>&)>;
  /// Calls its argument with every value under which an object is to be found.
  using IndexBy = std::function<void(const T&, const std::function<void(std::string_view)>&)>;

  Cache(Executor& executor, Client client, CacheOptions options = {})
      : Cache(executor, std::move(client), ResourceOf<T>(), std::move(options)) {}
  /// For types that stand for any resource (AnyObject).
  Cache(Executor& executor, Client client, Resource resource, CacheOptions options)
      : feed_(executor, std::move(client), std::move(resource), std::move(options), *this) {}
  /// When it has returned no handler runs and none will.
  ~Cache() override = default;

  void OnChange(Handler handler) {
    GPUOP_CHECK(!started_);
    handlers_.push_back(std::move(handler));
  }
  void AddIndex(std::string name, IndexBy by) {
    GPUOP_CHECK(!started_);
    Lock l(mu_);
    indexes_[std::move(name)].by = std::move(by);
  }
  /// An index called `key` of the objects by that label's value.
  void AddLabelIndex(std::string key) {
    AddIndex(key, [key](const T& object, const std::function<void(std::string_view)>& emit) {
      if (const Interned* value = object.meta.labels.Find(key)) emit(*value);
    });
  }
  void Start() {
    started_ = true;
    feed_.Start();
  }

  bool HasSynced() const override {
    Lock l(mu_);
    return synced_;
  }
  TimePoint LastHeard() const override { return feed_.LastHeard(); }
  void OnSynced(std::function<void()> done) override {
    {
      Lock l(mu_);
      if (!synced_) return waiting_.push_back(std::move(done));
    }
    done();
  }
  Feed::Counts counts() const { return feed_.counts(); }

  /// The object of that key ("namespace/name" or "name"), or null.
  Ptr Get(std::string_view key) const {
    Lock l(mu_);
    const auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : it->second;
  }
  Ptr Get(std::string_view ns, std::string_view name) const { return Get(KeyOf(ns, name)); }
  std::size_t size() const {
    Lock l(mu_);
    return objects_.size();
  }
  /// All objects, by key.
  std::vector<Ptr> List() const {
    Lock l(mu_);
    std::vector<Ptr> out;
    out.reserve(objects_.size());
    for (const auto& [key, object] : objects_) out.push_back(object);
    return out;
  }
  /// The objects that index `name` files under `value`, by key.
  std::vector<Ptr> Find(std::string_view name, std::string_view value) const {
    Lock l(mu_);
    std::vector<Ptr> out;
    const auto index = indexes_.find(name);
    if (index == indexes_.end()) return out;
    const auto keys = index->second.keys.find(value);
    if (keys == index->second.keys.end()) return out;
    out.reserve(keys->second.size());
    for (const Entry* entry : keys->second) out.push_back(entry->second);
    return out;
  }

 private:
  using Entry = std::pair<const std::string, Ptr>;  // of objects_, where it stays
  struct ByKey {
    bool operator()(const Entry* a, const Entry* b) const { return a->first < b->first; }
  };
  struct Index {
    IndexBy by;
    std::map<Interned, std::set<const Entry*, ByKey>, std::less<>> keys;
  };

  void OnListBegin() override {
    seen_.clear();
    in_list_ = true;
  }
  Result<> OnObject(const boost::json::object& in) override {
    auto object = Decode<T>(in);
    if (!object) {
      // Its place is kept: what cannot be read has not gone.
      if (in_list_) seen_.insert(KeyIn(in));
      return std::unexpected(std::move(object).error());
    }
    std::string key = object->meta.Key();
    if (in_list_) seen_.insert(key);
    Put(std::move(key), std::make_shared<const T>(*std::move(object)));
    return {};
  }
  void OnDeleted(const boost::json::object& in) override { Remove(KeyIn(in)); }
  void OnListEnd() override {
    in_list_ = false;
    std::vector<std::string> gone;
    std::vector<std::function<void()>> waiting;
    {
      Lock l(mu_);
      for (const auto& [key, object] : objects_)
        if (!seen_.contains(key)) gone.push_back(key);
      synced_ = true;
      waiting.swap(waiting_);
    }
    seen_.clear();
    for (const std::string& key : gone) Remove(key);
    for (const auto& done : waiting) done();
  }

  void Put(std::string key, Ptr now) {
    Change<T> change;
    change.now = now;
    {
      Lock l(mu_);
      Entry& entry = *objects_.try_emplace(key).first;
      Ptr& slot = entry.second;
      change.old = slot;
      // A list repeats what is known; only news are told.
      if (slot && slot->meta.uid == now->meta.uid && slot->meta.resource_version == now->meta.resource_version) return;
      if (!change.old || change.old->meta.uid == now->meta.uid) {
        Reindex(entry, slot.get(), now.get());
        slot = std::move(now);
      }
    }
    if (change.old && change.old->meta.uid != change.now->meta.uid) {
      // Deleted and made again while nobody listened: two changes.
      Remove(key);
      return Put(std::move(key), std::move(now));
    }
    Tell(change);
  }
  void Remove(const std::string& key) {
    Change<T> change;
    {
      Lock l(mu_);
      const auto it = objects_.find(key);
      if (it == objects_.end()) return;
      Reindex(*it, it->second.get(), nullptr);
      change.old = std::move(it->second);
      objects_.erase(it);
    }
    Tell(change);
  }
  void Reindex(const Entry& entry, const T* old, const T* now) REQUIRES(mu_) {
    for (auto& [name, index] : indexes_) {
      auto& keys = index.keys;
      if (old != nullptr) {
        index.by(*old, [&](std::string_view value) {
          const auto it = keys.find(value);
          if (it == keys.end()) return;
          it->second.erase(&entry);
          if (it->second.empty()) keys.erase(it);
        });
      }
      if (now != nullptr) index.by(*now, [&](std::string_view value) { keys[Interned(value)].insert(&entry); });
    }
  }
  void Tell(const Change<T>& change) {
    for (const Handler& handler : handlers_) handler(change);
  }

  bool started_ = false;           // by the thread that sets up
  std::vector<Handler> handlers_;  // fixed before Start
  // Touched on the feed's strand only.
  std::set<std::string> seen_;
  bool in_list_ = false;

  mutable Mutex mu_;
  std::map<std::string, Ptr, std::less<>> objects_ GUARDED_BY(mu_);
  std::map<std::string, Index, std::less<>> indexes_ GUARDED_BY(mu_);
  std::vector<std::function<void()>> waiting_ GUARDED_BY(mu_);
  bool synced_ GUARDED_BY(mu_) = false;
  Feed feed_;  // last: when it is gone nothing calls in here
};

}  // namespace gpuop::kube
