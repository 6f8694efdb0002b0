#pragma once
// A small API server in memory behind a Door, for tests of what stands on a Door. It keeps what it is given, without
// knowing any type; everything that can go wrong on the way to a real one goes wrong here on request.

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "kube/door.h"
#include "kube/resource.h"
#include "kube/status.h"

namespace gpuop::kube {

/// Serves get, list (paged), watch (resume, bookmarks, 410), create, update, patch (all kinds; apply merges without
/// ownership, strategic patches have no merge keys), delete (preconditions, finalizers), deletecollection, "status"
/// (only .status is written through it) and "eviction" of any resource. Selectors: labels by "a", "!a", "a=b",
/// "a!=b"; fields by dotted path. Thread-safe. Answers of Call come at once, on the caller's thread; what watches say
/// comes as tasks on the executor.
class FakeDoor final : public Door {
 public:
  explicit FakeDoor(Executor& executor, std::uint64_t seed = 1);
  ~FakeDoor() override;

  Result<ApiResponse> Call(const ApiRequest& request, Duration limit, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::shared_ptr<StreamSink> sink) override;

  // What somebody else does meanwhile. These are not counted and never fail.

  /// Creates or replaces the object; its metadata names it. The answer is what was stored.
  boost::json::object Put(const Resource& resource, boost::json::object object);
  /// Removes it at once, finalizers or not.
  void Remove(const ObjectRef& ref);
  std::optional<boost::json::object> Peek(const ObjectRef& ref) const;
  std::vector<boost::json::object> PeekAll(const Resource& resource) const;

  // What goes wrong.

  /// Asked first for every Call and every Open (whose answer, if any, ends the stream: only its error or its status
  /// counts). Called without a lock: it may use the door, or let virtual time pass, which is how answers become slow.
  using Interceptor = std::function<std::optional<Result<ApiResponse>>(const ApiRequest&)>;
  void Intercept(Interceptor interceptor);
  /// Called after a Call took effect; what it gives replaces the answer: how answers get lost.
  using Spoiler = std::function<std::optional<Result<ApiResponse>>(const ApiRequest&, const ApiResponse&)>;
  void Spoil(Spoiler spoiler);
  /// Ends all streams.
  void BreakWatches(const Result<>& why);
  /// Forgets history: older versions, continue tokens included, are gone (410).
  void Compact();
  /// While muted, open streams stay open and say nothing more, ever: a peer that died without a word.
  void Mute(bool muted);
  void SendBookmarks();
  /// Sends `event` as it stands to all open watches of the resource.
  void SendRaw(const Resource& resource, const std::string& event);

  /// All Calls and Opens so far.
  std::vector<ApiRequest> Requests() const;
  std::size_t OpenStreams() const;
  /// The version of the last change.
  std::uint64_t version() const;

 private:
  using Json = boost::json::value;
  using JsonObject = boost::json::object;
  /// "group/plural" and the object's key.
  using Place = std::pair<std::string, std::string>;
  struct Event {
    std::uint64_t version;
    Place place;
    std::shared_ptr<const JsonObject> old, now;
  };
  struct Watch;
  class FakeStream;

  ApiResponse Answer(const ApiRequest& request, const RequestPath& path) REQUIRES(mu_);
  ApiResponse List(const ApiRequest& request, const RequestPath& path) REQUIRES(mu_);
  ApiResponse Create(const ApiRequest& request, const RequestPath& path) REQUIRES(mu_);
  ApiResponse Update(const ApiRequest& request, const RequestPath& path) REQUIRES(mu_);
  ApiResponse Patch(const ApiRequest& request, const RequestPath& path) REQUIRES(mu_);
  ApiResponse Delete(const ApiRequest& request, const RequestPath& path) REQUIRES(mu_);
  /// Stores `now` over what is there, as a write through `subresource` does.
  ApiResponse Store(const RequestPath& path, JsonObject now, bool dry_run) REQUIRES(mu_);
  void Commit(const Place& place, std::shared_ptr<const JsonObject> now) REQUIRES(mu_);
  void Stamp(JsonObject& object) REQUIRES(mu_);
  void Tell(Watch& watch, const Event& event);
  const JsonObject* Find(const RequestPath& path) const REQUIRES(mu_);

  Executor& executor_;
  mutable Mutex mu_;
  Rng rng_ GUARDED_BY(mu_);
  std::map<Place, std::shared_ptr<const JsonObject>> objects_ GUARDED_BY(mu_);
  std::vector<Event> history_ GUARDED_BY(mu_);
  std::uint64_t version_ GUARDED_BY(mu_) = 10;
  std::uint64_t compacted_ GUARDED_BY(mu_) = 0;
  bool muted_ GUARDED_BY(mu_) = false;
  Interceptor interceptor_ GUARDED_BY(mu_);
  Spoiler spoiler_ GUARDED_BY(mu_);
  std::vector<std::weak_ptr<Watch>> watches_ GUARDED_BY(mu_);
  std::vector<ApiRequest> requests_ GUARDED_BY(mu_);
};

}  // namespace gpuop::kube
