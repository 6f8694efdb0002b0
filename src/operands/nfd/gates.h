#pragma once

#include <string>

#include "base/result.h"

namespace gpuop::operands::nfd {

/// -feature-gates.
struct FeatureGates {
  bool node_feature_groups = false, disable_auto_prefix = false;
};

/// Reads "Name=true,Other=false". Gates of others and of older versions are passed over; kInvalid for what is no such
/// list.
Result<FeatureGates> ReadGates(const std::string& text);

}  // namespace gpuop::operands::nfd
