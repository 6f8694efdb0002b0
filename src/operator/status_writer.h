#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "operator/policy_report.h"

namespace gpuop::op {

/// Writes the status of custom resources: state and conditions at once, only what differs, and what is only a count
/// that moved not more often than every few seconds. Thread-safe.
class StatusWriter {
 public:
  StatusWriter(const kube::Client& client, const Clock& clock, std::string ns)
      : client_(client), clock_(clock), ns_(std::move(ns)) {}

  /// How long a change of nothing but messages may wait.
  static constexpr std::chrono::seconds kPace{5};

  /// `state`, `ns` and `conditions` are what the cache holds of `ref` in `version`. The answer is when to come back to
  /// write what waits; nullopt when nothing does.
  Result<std::optional<Duration>> Write(const kube::ObjectRef& ref, const kube::ObjectMeta& meta,
                                        const std::string& state, const std::string& ns,
                                        const std::vector<api::Condition>& conditions, const StatusReport& wanted);

 private:
  struct Last {
    std::string version, text;
    TimePoint at{};
  };
  const kube::Client client_;
  const Clock& clock_;
  const std::string ns_;
  Mutex mu_;
  std::map<std::string, Last> last_ GUARDED_BY(mu_);
};

}  // namespace gpuop::op
