#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "base/strand.h"
#include "kube/back_off.h"
#include "kube/client.h"
#include "kube/resource.h"

namespace gpuop::kube {

/// What a cache holds and how it follows it.
struct CacheOptions {
  std::string ns = {};  ///< empty: all namespaces
  std::string label_selector = {}, field_selector = {};
  int page = 500;  ///< objects per list request
  BackOff back_off = {};
  /// The server is asked to end a watch after this time, and half as long again at most (drawn by `seed`).
  Duration watch_timeout = std::chrono::minutes(5);
  /// A watch from which nothing came for this long, not even a bookmark (one a minute is usual), counts as dead.
  Duration silence = std::chrono::seconds(150);
  std::uint64_t seed = 1;
  Log* log = nullptr;
  MetricRegistry* metrics = nullptr;
};

/// Follows one resource by list and watch and tells its sink what there is. Passive: runs on a strand of the executor
/// (whose tasks may block). Kept apart from Cache<T> because none of this depends on T.
class Feed {
 public:
  /// Called on the strand, one call at a time.
  class Sink {
   public:
    virtual ~Sink() = default;
    /// A list begins: what is not told until OnListEnd no longer exists.
    virtual void OnListBegin() = 0;
    /// An object as it is now, from the list or the watch. An Error means that it cannot be used; it is reported here.
    virtual Result<> OnObject(const boost::json::object& object) = 0;
    virtual void OnDeleted(const boost::json::object& object) = 0;
    virtual void OnListEnd() = 0;
  };

  Feed(Executor& executor, Client client, Resource resource, CacheOptions options, Sink& sink);
  ~Feed();

  void Start();
  /// When the server last said anything; the time of construction if never.
  TimePoint LastHeard() const;
  /// Lists begun, watches opened and objects passed over as bad, so far.
  struct Counts {
    std::uint64_t lists = 0, watches = 0, bad_objects = 0;
  };
  Counts counts() const;

 private:
  class Listener;
  friend class Listener;

  void ListPage(const std::string& continue_token);
  void ListAgain(const Error& why, std::optional<Duration> retry_after);
  void ReadItem(std::string_view text);
  void OpenWatch();
  void Queue(std::uint64_t watch, std::string text);
  bool WantsMore();
  void Drain();
  void OnEvent(std::uint64_t watch, std::string_view text);
  Result<> ReadEvent(std::string_view text);
  void AfterEvents(std::uint64_t watch, const Result<>& why, std::optional<Duration> retry_after);
  void OnWatchEnd(std::uint64_t watch, const Result<>& why, std::optional<Duration> retry_after);
  void SetWatchdog(std::uint64_t watch);
  void Heard();
  void ReportBad(std::string_view what, const Error& error);

  std::stop_source stop_;
  const Client client_;
  const Resource resource_;
  const CacheOptions options_;
  Sink& sink_;
  Counter* bad_metric_ = nullptr;
  Counter* list_metric_ = nullptr;
  Counter* watch_metric_ = nullptr;

  // Touched on the strand only.
  Rng rng_;
  int failures_ = 0;
  bool in_one_ = false;      ///< the next list is asked for without pages
  TimePoint opened_{};       ///< when the current watch was opened
  std::string version_;      ///< what to resume from
  std::uint64_t watch_ = 0;  ///< number of the current watch; pieces of others are late
  /// Memory in which one object's tree is built; not touched before it is needed.
  std::unique_ptr<unsigned char[]> scratch_;

  mutable Mutex mu_;
  TimePoint heard_ GUARDED_BY(mu_);
  Counts counts_ GUARDED_BY(mu_);
  /// Events as they came, each with the number of its watch.
  std::deque<std::pair<std::uint64_t, std::string>> events_ GUARDED_BY(mu_);
  std::size_t event_bytes_ GUARDED_BY(mu_) = 0;
  bool draining_ GUARDED_BY(mu_) = false;  ///< a task that works events_ off is posted
  bool paused_ GUARDED_BY(mu_) = false;    ///< the stream was told to wait

  std::unique_ptr<Stream> stream_;  ///< touched on the strand only
  Strand strand_;
};

}  // namespace gpuop::kube
