#pragma once
// Driver images: one for each OS, and precompiled ones for each kernel (controller.md §1.5, §2.1).

#include <string>
#include <string_view>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "base/result.h"
#include "operands/facts.h"

namespace gpuop::operands::driver {

/// Whether NVIDIA publishes driver images for that OS.
bool HasImages(std::string_view os_id);

/// Whether a policy's driver is NVIDIA's own image, which exists for some OSes only.
bool IsNvidiasImage(const api::PolicyDriver& driver, const Facts& facts);

/// A ClusterPolicy's image for a group; precompiled ones also carry the group's kernel.
Result<std::string> PolicyDriverImage(const api::PolicyDriver& driver, const Facts& facts, const NodeGroup& group);

/// An NVIDIADriver's: `image` alone must be a whole reference with tag or digest, or repository, image and version make
/// one, and then image has neither. kInvalid names the fields.
Result<std::string> OwnDriverImage(const api::NvidiaDriverSpec& driver, const NodeGroup& group);

}  // namespace gpuop::operands::driver
