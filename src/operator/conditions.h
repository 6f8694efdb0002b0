#pragma once
// How a status is put together. Pure.

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/status.h"
#include "base/clock.h"

namespace gpuop::op {

/// Gathers the conditions of one object's next status. One that says the same as before keeps its time.
class Conditions {
 public:
  Conditions(const std::vector<api::Condition>& before, std::int64_t generation, WallTime now)
      : before_(before), generation_(generation), now_(now) {}

  void Set(std::string_view type, bool holds, std::string_view reason, std::string message);
  /// NVIDIA's pair: Ready=True(reason, message) and Error=False.
  void SetReady(std::string_view reason, std::string message);
  /// Ready=False and Error=True(reason, message).
  void SetError(std::string_view reason, std::string message);

  const std::vector<api::Condition>& list() const { return list_; }

 private:
  const std::vector<api::Condition>& before_;
  const std::int64_t generation_;
  const WallTime now_;
  std::vector<api::Condition> list_;
};

/// {"status": {state, namespace, conditions}}, for a merge patch.
boost::json::object StatusPatch(std::string_view state, std::string_view ns, const std::vector<api::Condition>& list);

/// The condition of that type, or null.
const api::Condition* FindCondition(const std::vector<api::Condition>& list, std::string_view type);

/// "a, b, c and 4 more": names for a message, at most `most` of them.
std::string NamesText(const std::vector<std::string>& names, std::size_t most = 5);

}  // namespace gpuop::op
