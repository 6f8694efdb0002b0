#pragma once
// Which devices there are and which of them are fit for work: what was seen, put together with what was heard.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/device_events.h"
#include "operands/device_plugin/preferred.h"
#include "operands/device_plugin/resources.h"

namespace gpuop::operands::device_plugin {

/// One resource with the health of its units: `troubles[i]` says what is wrong with `units[i]`; empty for a fit one.
struct ResourceState {
  Resource resource;
  std::vector<std::string> troubles;
  bool operator==(const ResourceState&) const = default;
};

/// Remembers every GPU that was ever read, so that a lost one stays in the list, unfit, and takes nothing else with it.
///
/// A device is fit when the driver can be asked, its GPU can be read, the driver does not advise to reset it, and no
/// error counts against it. An error (Xid) that the policy does not pass over counts against the device it names, or
/// the whole GPU, until
///   - its GPU was gone (lost, without driver, reset) and is back,
///   - its MIG device was destroyed,
///   - the driver advised a reset and does so no more,
///   - or `quiet` has passed since, in which the driver advised nothing: for errors whose recovery is "quiet", and for
///     the others as well where the driver gives advice;
/// an error whose recovery is "never" counts until the plugin starts anew.
///
/// Pure: no clock of its own, no threads.
class Roster {
 public:
  explicit Roster(const Settings& settings) : settings_(settings) {}

  /// Other settings: what was seen and heard stays.
  void Use(const Settings& settings) { settings_ = settings; }
  /// What the driver says of the machine now.
  void See(const gpu::Inventory& inventory, const MigMinors& minors, TimePoint now);
  /// The driver cannot be asked. kUnavailable means that it is not there at all.
  void Miss(const Error& why);
  void Hear(const gpu::DeviceEvent& event, TimePoint now);
  /// Time has passed. Whether that changed anything.
  bool Pass(TimePoint now);

  /// By name. Empty before the first See.
  std::vector<ResourceState> Resources() const { return StatesOf(MakePlan().resources); }
  /// Of a plan of this roster's: with the health of what is in it.
  std::vector<ResourceState> StatesOf(std::vector<Resource> resources) const;
  /// Why the node does not fit the settings, and what is left out; of the last Resources().
  Plan MakePlan() const;
  const Affinity& affinity() const { return affinity_; }

  bool seen() const { return seen_; }
  /// All GPUs that were ever read, those that are there now with what they are now.
  const gpu::Inventory& known() const { return known_; }
  /// The same, where those that are missing are unreadable.
  gpu::Inventory Seen() const;
  /// How many of them can be read now.
  std::size_t present() const;
  /// Errors count against something, or something is missing: it is worth to look again soon.
  bool ailing() const;
  /// Of a GPU: empty when it is there and nothing counts against the whole of it.
  std::string TroubleOf(const std::string& gpu) const;

 private:
  struct Ailment {
    std::string gpu;
    std::optional<unsigned> gpu_instance, compute_instance;
    unsigned xid = 0;
    XidRule::Recovery recovery = XidRule::Recovery::kReset;
    TimePoint since = {};
    /// The driver has advised something since.
    bool advised = false;
  };

  void Recover(const gpu::Device& device, bool was_gone, TimePoint now);
  bool IsOver(const Ailment& ailment, const gpu::Device* device, TimePoint now) const;
  std::string TroubleOf(const Unit& unit) const;

  Settings settings_;
  gpu::Inventory known_;
  MigMinors minors_;
  Affinity affinity_;
  /// Why GPUs of known_ cannot be read, by UUID.
  std::map<std::string, std::string> missing_;
  std::vector<Ailment> ailments_;
  /// Why the driver cannot be asked; empty when it can.
  std::string blind_;
  bool driver_was_gone_ = false, seen_ = false;
  /// A GPU could not be read at the last look, be it one that never could.
  bool unread_ = false;
};

}  // namespace gpuop::operands::device_plugin
