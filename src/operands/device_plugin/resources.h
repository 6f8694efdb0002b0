#pragma once
// What a node offers: a pure function of its GPUs and the settings.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/inventory.h"
#include "operands/device_plugin/settings.h"

namespace gpuop::operands::device_plugin {

/// A GPU or a MIG device: what a container gets, alone or shared.
struct Unit {
  /// "GPU-…" or "MIG-…".
  std::string uuid = {};
  /// "0", or "0:1" for MIG device 1 of GPU 0.
  std::string index = {};
  /// The GPU that it is, or is a part of.
  std::string gpu = {};
  std::optional<unsigned> gpu_instance = std::nullopt, compute_instance = std::nullopt;
  std::optional<int> numa = std::nullopt;
  /// Its device nodes, as containers see them.
  std::vector<std::string> nodes = {};
  /// How many containers share it; 1 for one alone.
  unsigned replicas = 1;
  /// It is offered with numbers ("GPU-…::0"), be it once.
  bool shared = false;

  bool is_mig() const { return gpu_instance.has_value(); }
  /// How many devices it is offered as.
  std::size_t count() const { return shared ? replicas : 1; }
  bool operator==(const Unit&) const = default;
};

struct Resource {
  /// "nvidia.com/gpu".
  std::string name = {};
  SharingStrategy sharing = SharingStrategy::kNone;
  /// A container that asks for several shares is refused.
  bool one_share_only = false;
  /// By GPU, then by place on it.
  std::vector<Unit> units = {};

  bool operator==(const Resource&) const = default;
};

struct Plan {
  /// By name; none without units.
  std::vector<Resource> resources;
  /// Why the node does not fit the MIG strategy, in which case it offers what still makes sense: with "single" nothing,
  /// with "mixed" all but the MIG device named here.
  std::optional<Error> misfit;
  /// What is left out, for people.
  std::vector<std::string> warnings;
};

/// Capability minors as /proc/driver/nvidia-caps/mig-minors has them: "gpu0/gi1/access" to its minor.
using MigMinors = std::map<std::string, unsigned>;

/// GPUs that cannot be read are passed over, as are the display adaptors of DGX Stations.
Plan PlanResources(const gpu::Inventory& inventory, const MigMinors& minors, const Settings& settings);

/// "GPU-…::3".
std::string ShareId(std::string_view uuid, unsigned share);
/// The UUID in a device's id, which may be a share's.
std::string_view UuidOf(std::string_view id);
/// The ids that the kubelet is told of a unit.
std::vector<std::string> IdsOf(const Unit& unit);

/// "nvidia-mig-1g.5gb.sock" for "nvidia.com/mig-1g.5gb".
std::string SocketNameOf(std::string_view resource);

}  // namespace gpuop::operands::device_plugin
