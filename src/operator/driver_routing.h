#pragma once
// Which NVIDIADriver serves which node. Pure.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/nvidia_driver.h"
#include "kube/string_map.h"

namespace gpuop::op {

/// What all NVIDIADrivers together say about nodes, made once for each change of one of them. Objects that are being
/// deleted do not count. One that is broken (cannot be read, a selector with a reserved key, a default with a
/// selector) gets no new nodes, but keeps those it has: it never decides about another's.
class DriverRouting {
 public:
  explicit DriverRouting(std::span<const std::shared_ptr<const api::NvidiaDriver>> drivers);

  struct Answer {
    /// The driver's name; nullopt: no driver.
    std::optional<std::string> owner;
    /// The drivers that claim the node at the same time, sorted; then `owner` is who has it already, if anybody.
    std::vector<std::string> rivals;
    /// The present owner was kept only because what its selector asks for is not said at the moment: discovery's labels
    /// come and go.
    bool held = false;
  };
  Answer OwnerOf(const kube::StringMap& labels) const;

  /// Whether the driver of that name replaces running drivers by itself; false when there is none.
  bool AutoUpgrade(std::string_view name) const;
  bool empty() const { return drivers_.empty(); }
  /// Names of the defaults, sorted; more than one is a conflict.
  const std::vector<std::string>& defaults() const { return defaults_; }

 private:
  struct Entry {
    std::map<std::string, std::string> selector;
    bool is_default = false, broken = false, auto_upgrade = true;
  };
  bool Selects(const Entry& entry, const kube::StringMap& labels) const;
  bool Held(const std::string& owner, const kube::StringMap& labels) const;

  std::map<std::string, Entry, std::less<>> drivers_;
  std::vector<std::string> defaults_;
};

/// What is wrong with a driver's selector, whatever the nodes: "" when nothing is.
std::string SelectorProblem(const api::NvidiaDriverSpec& spec);

}  // namespace gpuop::op
