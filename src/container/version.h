#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuop::container {

/// "550.163.01" as numbers.
using Version = std::vector<std::uint64_t>;

/// Numbers separated by dots. nullopt for another text.
std::optional<Version> ParseVersion(std::string_view text);
/// Part by part; missing parts are zero.
std::strong_ordering CompareVersions(const Version& a, const Version& b);

/// The newest CUDA that a driver of this version serves ("550.163.01" is "12.4"): what nvidia-smi shows as its CUDA
/// version, by the driver's branch. Empty for a driver that is older or newer than the branches known here.
std::string CudaOfDriver(std::string_view driver_version);

}  // namespace gpuop::container
