#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::gpu {

/// A MIG profile as its name says it: `[<c>c.]<g>g.<gb>gb[+attribute,…]` or `…[-attribute,…]`.
struct MigName {
  /// Compute slices of the compute instance; those of the GPU instance when the name has no "c.".
  unsigned c = 0;
  unsigned g = 0;
  unsigned gb = 0;
  /// After "+", in the order written.
  std::vector<std::string> with;
  /// After "-": what it lacks.
  std::vector<std::string> without;

  bool operator==(const MigName&) const = default;
};

/// Reads a name. kInvalid says what is wrong with it.
Result<MigName> ParseMigName(std::string_view text);

/// The name, without "c." where it would repeat g.
std::string ToText(const MigName& name);

/// The name as part of a resource or label: "+" becomes ".", "," as well ("mig-1g.10gb.me").
std::string ToResourceText(std::string_view name);

/// The gigabytes that a profile's name carries: its share of the card in eighths, rounded up, of the card's GiB,
/// rounded up. 0 when `total_bytes` is 0, as on GPUs without memory of their own.
unsigned MigNameGigabytes(std::uint64_t memory_mib, std::uint64_t total_bytes);

/// The attribute in the name of profiles with this NVML index (nvml::kGpuInstanceProfile…): "+me", "-me", or empty.
std::string_view MigNameSuffix(unsigned nvml_profile);

}  // namespace gpuop::gpu
