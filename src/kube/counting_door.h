#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/door.h"

namespace gpuop::kube {

/// What a request asks, in the words of RBAC and of the API server's own metrics.
struct RequestKind {
  std::string verb;      ///< get, list, watch, create, update, patch, apply, delete, deletecollection
  std::string resource;  ///< "nodes", "daemonsets.apps", "pods/eviction"; the path for what is no resource

  bool read() const { return verb == "get" || verb == "list" || verb == "watch"; }
  auto operator<=>(const RequestKind&) const = default;
};
RequestKind KindOf(const ApiRequest& request);

/// Counts what passes through a door: by verb, resource and code. Thread-safe.
class CountingDoor final : public Door {
 public:
  /// With `metrics`, also as the counter kube_requests_total.
  explicit CountingDoor(Door& door, MetricRegistry* metrics = nullptr) : door_(door), metrics_(metrics) {}

  Result<ApiResponse> Call(const ApiRequest& request, Duration limit, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::shared_ptr<StreamSink> sink) override;

  /// Requests sent, answered or not.
  std::map<RequestKind, std::uint64_t> Sent() const;
  /// Requests answered with `code`: "200", or our Code's name ("Timeout") where no answer came. A stream counts with
  /// its first word, or its end.
  std::uint64_t Answered(const RequestKind& kind, const std::string& code) const;

 private:
  friend class CountedSink;
  void CountSent(const RequestKind& kind);
  void CountAnswer(const RequestKind& kind, const std::string& code);

  Door& door_;
  MetricRegistry* metrics_;
  mutable Mutex mu_;
  std::map<RequestKind, std::uint64_t> sent_ GUARDED_BY(mu_);
  std::map<std::pair<RequestKind, std::string>, std::uint64_t> answered_ GUARDED_BY(mu_);
};

/// What was sent since the scope began, for tests: `EXPECT_EQ(calls.ToString(), "")` is "0 writes, 0 reads".
class CallScope {
 public:
  explicit CallScope(const CountingDoor& door) : door_(door), before_(door.Sent()) {}

  std::uint64_t Reads() const;
  std::uint64_t Writes() const;
  /// "3 patch nodes, 1 watch pods": what was sent, by name; empty when nothing was.
  std::string ToString() const;

 private:
  std::map<RequestKind, std::uint64_t> Since() const;

  const CountingDoor& door_;
  const std::map<RequestKind, std::uint64_t> before_;
};

}  // namespace gpuop::kube
