#include "operands/device_plugin/roster.h"

#include <algorithm>

#include "gpu/nvml/types.h"
#include "gpu/xid.h"

namespace gpuop::operands::device_plugin {
namespace {

using gpu::Device;
using Recovery = XidRule::Recovery;

/// Advice that leaves a GPU unfit until it was followed. To drain it first is advice for its users.
bool AdvisesReset(const Device& device) {
  using enum gpu::nvml::DeviceGpuRecoveryAction;
  const auto action = static_cast<gpu::nvml::DeviceGpuRecoveryAction>(device.recovery_action.value_or(0));
  return action == kGpuReset || action == kNodeReboot || action == kBusReset || action == kSystemReboot;
}

bool AdvisesNothing(const Device& device) { return device.recovery_action.value_or(0) == 0; }

/// What an inventory says of a GPU that it could not read, or does not have.
std::string WhyMissing(const gpu::Inventory& inventory, const Device& device) {
  for (const Device& other : inventory.devices)
    if (!other.unreadable.empty() && (other.uuid == device.uuid || other.pci == device.pci)) return other.unreadable;
  for (const Device& other : inventory.devices)
    if (!other.unreadable.empty() && other.uuid.empty() && other.index == device.index) return other.unreadable;
  return "the driver does not list it";
}

/// A GPU that was lost, or that the driver had no handle of, comes back as new; one of which something could not be
/// read does not.
bool WasGone(const std::string& why) {
  return why.contains("GPU_IS_LOST") || why.contains("RESET_REQUIRED") || why.contains("DeviceGetHandle") ||
         why.contains("does not list");
}

bool HasInstance(const Device& device, unsigned gpu_instance, std::optional<unsigned> compute_instance) {
  for (const gpu::GpuInstance& instance : device.mig.instances) {
    if (instance.id != gpu_instance) continue;
    return !compute_instance || std::ranges::find(instance.compute_instances, *compute_instance,
                                                  &gpu::ComputeInstance::id) != instance.compute_instances.end();
  }
  return false;
}

}  // namespace

void Roster::See(const gpu::Inventory& inventory, const MigMinors& minors, TimePoint now) {
  gpu::Inventory merged = inventory;
  unread_ = std::erase_if(merged.devices, [](const Device& d) { return !d.unreadable.empty(); }) > 0;
  affinity_ = Affinity(inventory);
  std::map<std::string, std::string> missing;
  for (const Device& old : known_.devices) {
    if (merged.FindDevice(old.uuid) != nullptr) continue;
    missing[old.uuid] = WhyMissing(inventory, old);
    merged.devices.push_back(old);
  }
  std::ranges::sort(merged.devices, {}, [](const Device& d) { return std::pair(d.index, std::string_view(d.uuid)); });
  merged.closeness.clear();
  for (const Device& device : merged.devices) {
    if (missing.contains(device.uuid)) continue;
    const auto before = missing_.find(device.uuid);
    Recover(device, driver_was_gone_ || (before != missing_.end() && WasGone(before->second)), now);
  }
  known_ = std::move(merged);
  minors_ = minors;
  missing_ = std::move(missing);
  blind_.clear();
  driver_was_gone_ = false;
  seen_ = true;
}

void Roster::Recover(const Device& device, bool was_gone, TimePoint now) {
  std::erase_if(ailments_, [&](Ailment& ailment) {
    if (ailment.gpu != device.uuid || ailment.recovery == Recovery::kNever) return false;
    return was_gone || IsOver(ailment, &device, now);
  });
  for (Ailment& ailment : ailments_)
    if (ailment.gpu == device.uuid && !AdvisesNothing(device)) ailment.advised = true;
}

bool Roster::IsOver(const Ailment& ailment, const Device* device, TimePoint now) const {
  if (ailment.recovery == Recovery::kNever || device == nullptr) return false;
  if (ailment.gpu_instance && !HasInstance(*device, *ailment.gpu_instance, ailment.compute_instance)) return true;
  if (!AdvisesNothing(*device)) return false;
  if (ailment.advised) return true;
  const bool trusted = ailment.recovery == Recovery::kQuiet || device->recovery_action.has_value();
  return trusted && now - ailment.since >= settings_.xids.quiet();
}

void Roster::Miss(const Error& why) {
  blind_ = why.text;
  if (why.code == Code::kUnavailable || why.code == Code::kNotFound) driver_was_gone_ = true;
}

void Roster::Hear(const gpu::DeviceEvent& event, TimePoint now) {
  if (event.kind != gpu::DeviceEvent::Kind::kXid) return;
  const auto xid = static_cast<unsigned>(event.data);
  const XidRule rule = settings_.xids.RuleOf(xid);
  if (rule.ignore) return;
  const auto same = [&](const Ailment& a) {
    return a.gpu == event.uuid && a.gpu_instance == event.gpu_instance &&
           a.compute_instance == event.compute_instance && a.xid == xid;
  };
  const auto known = std::ranges::find_if(ailments_, same);
  if (known != ailments_.end()) {
    known->since = now;
    return;
  }
  ailments_.push_back({event.uuid, event.gpu_instance, event.compute_instance, xid, rule.recovery, now});
}

bool Roster::Pass(TimePoint now) {
  if (!blind_.empty()) return false;
  return std::erase_if(ailments_, [&](const Ailment& ailment) {
           return !missing_.contains(ailment.gpu) && IsOver(ailment, known_.FindDevice(ailment.gpu), now);
         }) > 0;
}

gpu::Inventory Roster::Seen() const {
  gpu::Inventory out = known_;
  for (Device& device : out.devices)
    if (const auto missing = missing_.find(device.uuid); missing != missing_.end()) device.unreadable = missing->second;
  return out;
}

Plan Roster::MakePlan() const { return PlanResources(known_, minors_, settings_); }

std::vector<ResourceState> Roster::StatesOf(std::vector<Resource> resources) const {
  std::vector<ResourceState> out;
  for (Resource& resource : resources) {
    ResourceState& state = out.emplace_back();
    for (const Unit& unit : resource.units) state.troubles.push_back(TroubleOf(unit));
    state.resource = std::move(resource);
  }
  return out;
}

std::size_t Roster::present() const { return blind_.empty() ? known_.devices.size() - missing_.size() : 0; }

bool Roster::ailing() const {
  return !blind_.empty() || unread_ || !missing_.empty() || !ailments_.empty() ||
         std::ranges::any_of(known_.devices, AdvisesReset);
}

std::string Roster::TroubleOf(const std::string& gpu) const {
  if (!blind_.empty()) return "the driver cannot be asked: " + blind_;
  if (const auto missing = missing_.find(gpu); missing != missing_.end()) return "GPU is missing: " + missing->second;
  for (const Ailment& ailment : ailments_)
    if (ailment.gpu == gpu && !ailment.gpu_instance)
      return "Xid " + std::to_string(ailment.xid) + " (" + std::string(gpu::FindXid(ailment.xid).meaning) + ")";
  const Device* const device = known_.FindDevice(gpu);
  if (!settings_.xids.off() && device != nullptr && AdvisesReset(*device)) return "the driver advises to reset it";
  return {};
}

std::string Roster::TroubleOf(const Unit& unit) const {
  if (std::string whole = TroubleOf(unit.gpu); !whole.empty()) return whole;
  for (const Ailment& ailment : ailments_) {
    if (ailment.gpu != unit.gpu || (unit.is_mig() && ailment.gpu_instance != unit.gpu_instance)) continue;
    if (unit.is_mig() && ailment.compute_instance && ailment.compute_instance != unit.compute_instance) continue;
    return "Xid " + std::to_string(ailment.xid) + " (" + std::string(gpu::FindXid(ailment.xid).meaning) + ")";
  }
  return {};
}

}  // namespace gpuop::operands::device_plugin
