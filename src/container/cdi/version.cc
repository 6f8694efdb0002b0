#include <algorithm>
#include <array>

#include "base/text.h"
#include "container/cdi/names.h"
#include "container/cdi/spec.h"

namespace gpuop::container {
namespace {

constexpr std::array<std::string_view, 10> kVersions = {"0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0",
                                                        "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
constexpr std::size_t kOldestRead = 2;

std::string_view WithoutV(std::string_view version) {
  if (version.starts_with('v')) version.remove_prefix(1);
  return version;
}

std::size_t Rank(std::string_view version) {
  return static_cast<std::size_t>(std::ranges::find(kVersions, WithoutV(version)) - kVersions.begin());
}

/// Keeps the highest version asked for, and who asked first.
class Needs {
 public:
  void Ask(std::string_view version, bool used, const std::string& field) {
    if (used && Rank(version) > Rank(most_.version)) most_ = {version, field};
  }
  void Edits(const CdiEdits& edits, const std::string& at) {
    for (std::size_t i = 0; i < edits.mounts.size(); ++i)
      Ask("0.4.0", !edits.mounts[i].type.empty(), at + "mounts[" + std::to_string(i) + "].type");
    for (std::size_t i = 0; i < edits.device_nodes.size(); ++i)
      Ask("0.5.0", !edits.device_nodes[i].host_path.empty(), at + "deviceNodes[" + std::to_string(i) + "].hostPath");
    Ask("0.7.0", edits.intel_rdt.has_value(), at + "intelRdt");
    Ask("0.7.0", !edits.additional_gids.empty(), at + "additionalGids");
    Ask("1.1.0", !edits.net_devices.empty(), at + "netDevices");
    if (!edits.intel_rdt) return;
    Ask("1.1.0", !edits.intel_rdt->schemata.empty(), at + "intelRdt.schemata");
    Ask("1.1.0", edits.intel_rdt->enable_monitoring, at + "intelRdt.enableMonitoring");
  }
  CdiVersionNeed Take() && { return std::move(most_); }

 private:
  CdiVersionNeed most_{kVersions[kOldestRead], ""};
};

}  // namespace

CdiVersionNeed MinimumCdiVersion(const CdiSpec& spec) {
  Needs needs;
  const auto kind = Cut(spec.kind, '/');
  needs.Ask("0.6.0", kind && kind->second.contains('.'), "kind (a dot in the class)");
  needs.Ask("0.6.0", !spec.annotations.empty(), "annotations");
  needs.Edits(spec.edits, "containerEdits.");
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const CdiDevice& device = spec.devices[i];
    const std::string at = "devices[" + std::to_string(i) + "]";
    const bool letter = !device.name.empty() && !(device.name[0] >= '0' && device.name[0] <= '9');
    needs.Ask("0.5.0", !letter, at + ".name (no letter first)");
    needs.Ask("0.6.0", !device.annotations.empty(), at + ".annotations");
    needs.Edits(device.edits, at + ".containerEdits.");
  }
  return std::move(needs).Take();
}

Result<> CheckCdiVersion(std::string_view version) {
  const std::size_t rank = Rank(version);
  if (rank == kVersions.size())
    return Fail(Code::kInvalid, "cdiVersion: " + Quote(version) + " is not known; the newest is 1.1.0");
  if (rank < kOldestRead)
    return Fail(Code::kInvalid, "cdiVersion: " + Quote(version) + " is too old; the oldest that is read is 0.3.0");
  return {};
}

bool CdiVersionBefore(std::string_view a, std::string_view b) { return Rank(a) < Rank(b); }

}  // namespace gpuop::container
