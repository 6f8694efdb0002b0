#pragma once
// Faults on demand: what can go wrong between a client and the API server, switched on by tests and by the control
// endpoint, decided by a seed.

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/rng.h"
#include "kube/door.h"
#include "sim/status.h"

namespace gpuop::sim {

/// One kind of trouble, for the requests it fits. Empty members fit everything.
struct FaultRule {
  std::string verb;      ///< get, list, watch, create, update, patch, delete, deletecollection
  std::string group;     ///< only counts with a resource
  std::string resource;  ///< "nodes"; the plural
  std::string name;
  /// The answer instead of the real one; 0: none, the request goes on (perhaps late).
  int code = 0;
  /// Of the Status; empty: what goes with the code (409 "Conflict", 429 "TooManyRequests", …).
  std::string reason, message;
  int retry_after_seconds = 0;
  Duration delay{};
  /// How many more requests it strikes; nullopt: any number.
  std::optional<std::int64_t> times;
  /// Of those it fits, how many it strikes: 1 all, 0.5 about every second one.
  double probability = 1;
};

/// What happens to one request.
struct Verdict {
  Duration delay{};
  std::optional<Status> failure;
};

/// The faults that are switched on. Doors ask it about each request. Not thread-safe: it lives with the core.
class Faults {
 public:
  explicit Faults(Rng& rng) : rng_(rng) {}

  /// Adds a rule; its id is for Remove.
  std::uint64_t Add(FaultRule rule);
  /// Every update, patch and delete that fits fails with the conflict of a stale resourceVersion.
  std::uint64_t AddConflictStorm(std::string_view group, std::string_view resource, double probability,
                                 std::optional<std::int64_t> times);
  bool Remove(std::uint64_t id);
  void Clear();

  /// Decides about a request and counts it against the rules that strike. The first failure counts; delays add up.
  Verdict Judge(const kube::ApiRequest& request);
  /// How many requests were struck so far.
  std::uint64_t struck() const { return struck_; }
  /// Bytes that an HTTP client may take a second; 0: as it can. For watches that must look slow.
  std::uint64_t bytes_per_second = 0;

  /// A rule as the control endpoint has it: {"verb","group","resource","name","code","reason","message",
  /// "retryAfterSeconds","delayMs","times","probability"}; kInvalid names what is wrong.
  static Result<FaultRule> Parse(const boost::json::value& json);
  /// All rules with their ids, as Parse reads them.
  boost::json::value ToJson() const;

 private:
  struct Numbered {
    std::uint64_t id;
    FaultRule rule;
  };

  Rng& rng_;
  std::vector<Numbered> rules_;
  std::uint64_t next_id_ = 1, struck_ = 0;
};

}  // namespace gpuop::sim
