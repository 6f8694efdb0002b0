#pragma once
// Which image a container runs (controller.md §1.5).

#include <string>
#include <string_view>

#include "api/components.h"
#include "base/result.h"
#include "operands/facts.h"

namespace gpuop::operands {

/// The image that a component of a ClusterPolicy runs: `image` alone is taken as it stands; repository, image and
/// version together are joined, by "@" when the version is a digest; with none of them the operator's environment
/// variable `env` holds. kInvalid, naming `field`, for anything else.
Result<std::string> ResolveImage(const api::ImageSource& source, std::string_view env, const Facts& facts,
                                 std::string_view field);

/// The image for one OS: "-ubuntu24.04" is appended, unless the image is named by digest.
std::string WithOsTag(std::string image, std::string_view os_tag);

/// "Always" and "Never" as they are, anything else is "IfNotPresent".
std::string PullPolicy(std::string_view policy);

/// The image of the containers that wait or install the launcher: the operator's own, else the validator's.
Result<std::string> OperatorImage(const api::ImageSource& validator, const Facts& facts);

}  // namespace gpuop::operands
