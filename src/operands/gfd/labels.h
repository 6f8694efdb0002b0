#pragma once
// What GPU feature discovery says of a node: a pure function of its GPUs, its host and the settings
// (device-plugin documentation of the labels: nvidia.com/gpu.product, …).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/inventory.h"
#include "operands/gfd/vgpu.h"
#include "operands/plugin_settings.h"

namespace gpuop::operands::gfd {

/// How MIG devices appear in the labels: not at all, as the node's GPUs, or each kind by itself.
enum class MigStrategy { kNone, kSingle, kMixed };
/// Reads "none", "single" or "mixed".
std::optional<MigStrategy> ParseMigStrategy(std::string_view text);

/// What is asked of the host besides NVML.
struct HostFacts {
  /// The first line of the machine type file; nullopt when it cannot be read.
  std::optional<std::string> machine_type = std::nullopt;
  /// PCI classes of NVIDIA's GPUs: 0x030200 (3D controller), 0x030000 (VGA).
  std::vector<std::uint32_t> gpu_classes = {};
  std::optional<VgpuHost> vgpu = std::nullopt;
  /// When this run began; nullopt without a timestamp.
  std::optional<std::int64_t> timestamp = std::nullopt;
};

/// What the settings say about labels.
struct LabelSettings {
  MigStrategy strategy = MigStrategy::kNone;
  PluginSettings::Sharing sharing = {};
  /// Under which sharing finds a resource.
  ResourceNames names = {};
};

/// By whole name.
using Labels = std::map<std::string, std::string>;

/// What a pass comes to.
struct LabelsAndWarnings {
  Labels labels;
  /// What the labels cannot say, for the log.
  std::vector<std::string> warnings;
};

/// All labels. `inventory` is null when the driver cannot be asked: then there are none but what the host alone tells.
/// GPUs that cannot be read count as absent.
LabelsAndWarnings MakeLabels(const gpu::Inventory* inventory, const HostFacts& host, const LabelSettings& settings);

/// A text as a label's value has it: what is no letter, digit, "-", "_", "." or blank goes, words are joined by "-".
std::string SanitizeValue(std::string_view text);

}  // namespace gpuop::operands::gfd
