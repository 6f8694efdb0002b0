#pragma once
// The verbs of the Kubernetes API over a Door.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/decode.h"
#include "kube/door.h"
#include "kube/list_text.h"
#include "kube/resource.h"
#include "kube/status.h"

namespace gpuop::kube {

/// Which objects, and from which moment. Empty texts are not sent.
struct ListOptions {
  std::string ns = {};  ///< empty: all namespaces
  std::string label_selector = {}, field_selector = {};
  std::string resource_version = {}, resource_version_match = {};
  int limit = 500;  ///< objects per page; 0 asks for all at once
  std::string continue_token = {};
};

/// One page as text, with what was found in it. `text`'s views point into `body`, wherever the page is moved.
struct ListPage {
  std::unique_ptr<const std::string> body;
  ListText text;
};

struct WatchOptions {
  std::string ns = {};
  std::string label_selector = {}, field_selector = {};
  std::string resource_version = {};
  bool bookmarks = true;
  Duration timeout{};  ///< how long the server keeps the watch open; 0: as it likes
};

enum class FieldValidation { kServerDefault, kIgnore, kWarn, kStrict };

/// What all writes have in common.
struct WriteOptions {
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kServerDefault;
  /// Empty: the client's own.
  std::string field_manager = {};
  /// The answer needs no more than the object's metadata: the rest of it does not travel.
  bool only_metadata = false;
};

enum class PatchType { kJson, kMerge, kStrategic };
enum class Propagation { kServerDefault, kOrphan, kBackground, kForeground };

struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds = {};
  Propagation propagation = Propagation::kServerDefault;
  /// Preconditions: the object is deleted only if it is this one, else kConflict.
  std::string uid = {}, resource_version = {};
  bool dry_run = false;
};

struct LogOptions {
  std::string container = {};
  bool previous = false, timestamps = false;
  std::optional<std::int64_t> tail_lines = {}, since_seconds = {}, limit_bytes = {};
};

/// Waits for `span`; false when `stop` was asked for meanwhile.
using Wait = std::function<bool(Duration span, const std::stop_token& stop)>;
/// A Wait that blocks the calling thread.
bool BlockingWait(Duration span, const std::stop_token& stop);

/// Speaks to one API server. A light value: copy it freely; the door must outlive it. As thread-safe as the door.
/// Calls block (never on the I/O thread). Objects are untyped JSON, or any type of kube/types.
///
/// Refusals become Errors with the server's words: kNotFound, kAlreadyExists, kConflict (read again), kInvalid,
/// kForbidden, … An answer of 429 or 5xx that names a Retry-After was not executed and is asked again, any verb, as
/// long as the wait is not longer than `longest_wait`; a read is also repeated when no answer came. Everything else
/// is the caller's (the work queue's back-off) to repeat.
class Client {
 public:
  struct Options {
    std::string field_manager = "gpu-operator";
    Duration limit = std::chrono::seconds(30);  ///< per request
    int attempts = 4;                           ///< per call, the first included
    Duration longest_wait = std::chrono::seconds(10);
    /// How to wait between attempts. Null: never wait, hand the refusal to the caller at once (right wherever the
    /// caller must not block, as on a VirtualExecutor).
    Wait wait = nullptr;
    std::stop_token stop = {};
  };

  explicit Client(Door& door) : Client(door, Options()) {}
  Client(Door& door, Options options) : door_(&door), options_(std::move(options)) {}

  /// The same client whose calls end when `stop` is asked for.
  Client With(std::stop_token stop) const;
  Door& door() const { return *door_; }
  const std::string& field_manager() const { return options_.field_manager; }

  /// Sends any request, with the retries described above; an answer of 400 or above becomes an Error.
  /// `retry_after`, if given, is set when the refusal says when to come back.
  Result<ApiResponse> Send(const ApiRequest& request, std::optional<Duration>* retry_after = nullptr) const;

  Result<boost::json::object> Get(const ObjectRef& ref) const;
  /// `object` names itself by metadata.namespace and metadata.name (or generateName).
  Result<boost::json::object> Create(const Resource& resource, const boost::json::object& object,
                                     const WriteOptions& options = {}) const;
  /// Posts `object` to a subresource ("binding", "eviction", "token").
  Result<boost::json::object> Post(const ObjectRef& ref, const boost::json::object& object,
                                   const WriteOptions& options = {}) const;
  /// Replaces the object (or its `subresource`); kConflict when its resourceVersion is not the newest.
  Result<boost::json::object> Update(const ObjectRef& ref, const boost::json::object& object,
                                     const WriteOptions& options = {}) const;
  Result<boost::json::object> Patch(const ObjectRef& ref, PatchType type, const boost::json::value& patch,
                                    const WriteOptions& options = {}) const;
  /// Server-side apply. With `force` fields owned by other managers are taken over; without, they are a kConflict.
  Result<boost::json::object> Apply(const ObjectRef& ref, const boost::json::object& object, bool force = true,
                                    const WriteOptions& options = {}) const;
  /// kNotFound when it was not there. The answer is the object in its last state or a Status of success.
  Result<boost::json::object> Delete(const ObjectRef& ref, const DeleteOptions& options = {}) const;
  Result<> DeleteCollection(const Resource& resource, const ListOptions& which,
                            const DeleteOptions& options = {}) const;
  /// Asks to evict a Pod; kTooManyRequests while a disruption budget forbids it (never repeated here).
  Result<> Evict(std::string_view ns, std::string_view pod, const DeleteOptions& options = {}) const;
  Result<std::int64_t> GetScale(ObjectRef ref) const;
  Result<> SetScale(ObjectRef ref, std::int64_t replicas) const;
  /// What a container has written so far.
  Result<std::string> Logs(std::string_view ns, std::string_view pod, const LogOptions& options = {}) const;

  /// One page; `text.continue_token` is not empty while more follow. kGone: the token is too old, begin again.
  /// `retry_after` as with Send.
  Result<ListPage> Page(const Resource& resource, const ListOptions& options,
                        std::optional<Duration>* retry_after = nullptr) const;
  /// Calls `each` with every object, page by page. The first error (the server's, or from `each`) ends it.
  Result<> List(const Resource& resource, ListOptions options,
                const std::function<Result<>(boost::json::object)>& each) const;
  std::unique_ptr<Stream> Watch(const Resource& resource, const WatchOptions& options,
                                std::shared_ptr<StreamSink> sink) const;

  template <class T>
  Result<T> Get(std::string ns, std::string name) const {
    ASSIGN(const boost::json::object object, Get(Ref<T>(std::move(ns), std::move(name))));
    return Decode<T>(object);
  }
  template <class T>
  Result<T> Get(std::string name) const {
    return Get<T>(std::string(), std::move(name));
  }
  /// All objects of a type, in the server's order.
  template <class T>
  Result<std::vector<T>> List(ListOptions options = {}) const {
    std::vector<T> out;
    TRY(List(ResourceOf<T>(), std::move(options), [&out](const boost::json::object& object) -> Result<> {
      ASSIGN(out.emplace_back(), Decode<T>(object));
      return {};
    }));
    return out;
  }

 private:
  Result<boost::json::object> SendForObject(const ApiRequest& request) const;
  ApiRequest Write(std::string method, const ObjectRef& ref, const WriteOptions& options) const;

  Door* door_;
  Options options_;
};

}  // namespace gpuop::kube
