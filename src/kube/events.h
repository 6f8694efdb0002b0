#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strand.h"
#include "kube/client.h"
#include "kube/types/meta.h"

namespace gpuop::kube {

enum class EventType { kNormal, kWarning };

/// Tells people what happened to an object, as core/v1 Events (what `kubectl describe` shows). Costs the caller
/// nothing: Emit neither blocks nor fails. The same news again raises the count of the Event that is there; more than
/// `similar` different messages with one reason in `window` are combined into one Event; beyond `burst` and one per
/// `refill` for each object, news are dropped, as they are when the server cannot be reached for long. The numbers
/// are client-go's.
class EventRecorder {
 public:
  struct Options {
    std::string component = {};  ///< who tells: "gpu-operator"
    std::string instance = {};   ///< which one of them: the Pod's name
    double burst = 25;
    Duration refill = std::chrono::minutes(5);
    int similar = 10;
    Duration window = std::chrono::minutes(10);
    std::size_t remembered = 4096;  ///< Events and objects each that are kept in mind
    std::size_t waiting = 1000;     ///< news that may wait for the server
    Log* log = nullptr;
  };

  EventRecorder(Executor& executor, const Client& client, Options options);
  /// News not yet written are dropped.
  ~EventRecorder();

  /// `reason` is one word in CamelCase, `message` a sentence. Thread-safe.
  void Emit(const ObjectReference& about, EventType type, std::string_view reason, std::string_view message);

  /// News that were not written: rate-limited, over the queue's length, or refused.
  std::uint64_t dropped() const;

 private:
  struct News {
    ObjectReference about;
    EventType type;
    std::string reason, message;
    WallTime at;
    int attempts = 0;
  };
  /// What is known of the Event that carries some news.
  struct Written {
    std::string ns, name;
    std::int64_t count = 0;
  };
  struct Bucket {
    double tokens;
    TimePoint filled;
  };
  struct Similar {
    TimePoint last{};
    std::set<std::uint64_t> messages = {};
  };
  /// A map that forgets what was used longest ago.
  template <class V>
  class Recent {
   public:
    V& Get(const std::string& key, std::size_t limit, const V& fresh) {
      if (const auto it = index_.find(key); it != index_.end()) {
        order_.splice(order_.begin(), order_, it->second);
        return order_.front().second;
      }
      order_.emplace_front(key, fresh);
      index_[key] = order_.begin();
      if (order_.size() > limit) {
        index_.erase(order_.back().first);
        order_.pop_back();
      }
      return order_.front().second;
    }

   private:
    std::list<std::pair<std::string, V>> order_;
    std::map<std::string, typename std::list<std::pair<std::string, V>>::iterator> index_;
  };

  void Handle(News news);
  bool Allowed(const News& news);
  void Combine(News& news);
  Result<> Write(const News& news, Written& written);
  Result<> Create(const News& news, Written& written);
  void Drop(std::string_view why, const News& news);

  const Options options_;
  std::stop_source stop_;
  const Client client_;
  Executor& executor_;

  // Touched on the strand only.
  Recent<Bucket> buckets_;
  Recent<Similar> similar_;
  Recent<Written> written_;

  mutable Mutex mu_;
  std::size_t waiting_ GUARDED_BY(mu_) = 0;
  std::uint64_t dropped_ GUARDED_BY(mu_) = 0;

  Strand strand_;
};

/// How to name an object in an Event.
template <class T>
ObjectReference ReferenceTo(const T& object) {
  const Resource& r = ResourceOf<T>();
  ObjectReference ref;
  ref.api_version = r.ApiVersion();
  ref.kind = r.kind;
  ref.ns = object.meta.ns;
  ref.name = object.meta.name;
  ref.uid = object.meta.uid;
  ref.resource_version = object.meta.resource_version;
  return ref;
}

}  // namespace gpuop::kube
