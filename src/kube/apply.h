#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "kube/differences.h"
#include "kube/types/any_object.h"

namespace gpuop::kube {

/// What became of one wanted object.
enum class Applied {
  kSame,     ///< it is as wanted; nothing was sent
  kWritten,  ///< it was not, and was applied
  kPending,  ///< it was applied a moment ago and the cache has not caught up: come back after Options::settle
};

/// Makes objects as wanted, at no cost where they are: compares each with its cached live state and writes, by
/// server-side apply, only on a difference. Hand edits of wanted fields are repaired so; fields that we wrote once and
/// want no longer are removed, those too that an earlier program of the client's field manager wrote by updates. What
/// the server makes of an object (normalised or dropped fields) is remembered, so that no write repeats. Thread-safe.
class Applier {
 public:
  struct Options {
    /// The shape of a resource's kind, or null when unknown (lists are then compared item by item).
    std::function<data::SchemaPtr(const Resource&)> schema = BuiltinSchema;
    Duration settle = std::chrono::seconds(10);
  };

  Applier(Client client, const Clock& clock, Log& log) : Applier(std::move(client), clock, log, Options()) {}
  Applier(Client client, const Clock& clock, Log& log, Options options)
      : client_(std::move(client)), clock_(clock), log_(log), options_(std::move(options)) {}

  /// `wanted` has apiVersion, kind and a name; `live` is its state in the cache, null when it has none.
  Result<Applied> Apply(const Resource& resource, const boost::json::object& wanted, const AnyObject* live);

  /// The object of that key ("namespace/name" or "name") was deleted: what is remembered of it goes.
  void Forget(const Resource& resource, std::string_view key);

  static data::SchemaPtr BuiltinSchema(const Resource& resource);

 private:
  /// What the last write of an object was, and what the server made of it.
  struct Memory {
    std::uint64_t wanted_hash = 0;
    std::string uid;
    std::string live_version;  ///< of the state that was found different; empty when there was none
    std::vector<Difference> accepted;
    TimePoint at{};
  };
  std::vector<Difference> Compare(const Resource& resource, const boost::json::object& wanted,
                                  const boost::json::object& live) const;
  Memory Recall(const std::string& key) const;
  Result<> TakeOver(const ObjectRef& ref, const AnyObject& live);
  Result<> Write(const Resource& resource, const boost::json::object& wanted, const AnyObject* live,
                 const std::string& key, std::uint64_t hash);

  const Client client_;
  const Clock& clock_;
  Log& log_;
  const Options options_;
  mutable Mutex mu_;
  std::map<std::string, Memory> memory_ GUARDED_BY(mu_);
};

}  // namespace gpuop::kube
