#pragma once
// What a container asks for: the variables of its image, its mounts and its annotations.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/runtime/config.h"
#include "data/json.h"

namespace gpuop::container {

/// A container's OCI specification, as far as requests go. Borrows `oci`.
class ContainerImage {
 public:
  ContainerImage(const data::Json& oci, const RuntimeConfig& config) : oci_(oci), config_(config) {}

  std::optional<std::string> Env(std::string_view name) const;
  /// CAP_SYS_ADMIN in the bounding set.
  bool privileged() const;
  /// CUDA_VERSION without NVIDIA_REQUIRE_CUDA: an image from before requirements.
  bool legacy() const;

  /// The devices asked for, from the first source that names any: annotations (with `annotations`), volume mounts if
  /// they are accepted, else the environment if it counts. Empty: none. {""}: the driver without devices ("none").
  std::vector<std::string> Devices(bool annotations) const;
  /// Channels of NVIDIA_IMEX_CHANNELS or mounts, "all" left out.
  std::vector<std::string> ImexChannels() const;

  /// NVIDIA_REQUIRE_* and what a legacy image's CUDA_VERSION asks for, sorted; none when switched off.
  Result<std::vector<std::string>> Requirements() const;
  /// NVIDIA_DRIVER_CAPABILITIES, sorted. kInvalid names what is not supported.
  Result<std::vector<std::string>> Capabilities() const;

 private:
  std::vector<std::string> FromAnnotations() const;
  std::vector<std::string> FromMounts(bool imex) const;
  std::vector<std::string> FromEnv() const;

  const data::Json& oci_;
  const RuntimeConfig& config_;
};

/// Qualified names for a list of devices: "" is KIND=none, unqualified ones are of `kind`, doubles are dropped.
/// kInvalid when names of "runtime.nvidia.com/gpu" stand beside others.
Result<std::vector<std::string>> QualifiedDevices(const std::vector<std::string>& devices, const std::string& kind);

/// "11.6" of "v11.6.124". kInvalid for anything but one to three numbers.
Result<std::string> MajorMinor(std::string_view cuda_version);

/// What requirement expressions are about: "cuda" to "12.4", "driver", "arch", "brand". What is not known is not
/// judged.
using Properties = std::vector<std::pair<std::string, std::string>>;
/// Blanks are OR, commas AND. An error says which requirement does not hold (kUnsupported), or is none (kInvalid).
Result<> CheckRequirements(const std::vector<std::string>& requirements, const Properties& properties);

}  // namespace gpuop::container
