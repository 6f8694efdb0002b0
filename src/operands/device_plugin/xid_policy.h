#pragma once
// Which errors of a GPU take its devices out of service, and what brings them back.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "data/json.h"

namespace gpuop::operands::device_plugin {

/// What ends the bad health that an Xid caused, besides a restart of the plugin.
struct XidRule {
  enum class Recovery {
    kReset,  ///< a reset: the driver withdrew the advice that it gave, or the device went away and came back
    kQuiet,  ///< the same, or `quiet` without another error while the driver advises nothing
    kNever,  ///< nothing else
  };
  bool ignore = false;
  Recovery recovery = Recovery::kReset;
};

/// Rules by Xid. What no one has a rule for follows NVIDIA's catalogue (gpu/xid.h): what a program did to itself and
/// mere information are passed over, what is fatal waits for a reset, the rest for quiet.
class XidPolicy {
 public:
  /// What NVIDIA's plugin passes over unless told otherwise. The catalogue passes over more.
  static const std::set<unsigned>& AlwaysIgnored();

  /// The health section of the settings file:
  ///
  ///   health:
  ///     quiet: 5m
  ///     xids:
  ///     - {xid: 94, effect: ignore}
  ///     - {xid: 74, effect: unhealthy, recovery: quiet}
  ///
  /// and DP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS, which weigh more: lists of Xids, or "all" ("xids" is the
  /// same). Words that are no Xid are passed over. kInvalid names the field.
  static Result<XidPolicy> Make(const data::Json& health, const std::string& disabled, const std::string& enabled);

  /// No error counts.
  bool off() const { return off_; }
  Duration quiet() const { return quiet_; }
  XidRule RuleOf(unsigned xid) const;

 private:
  bool off_ = false, nothing_ignored_ = false;
  Duration quiet_ = std::chrono::minutes(5);
  std::map<unsigned, XidRule> rules_;
  std::set<unsigned> disabled_, enabled_;
};

}  // namespace gpuop::operands::device_plugin
