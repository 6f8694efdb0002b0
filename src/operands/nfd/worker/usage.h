#pragma once
// Which features rules look at, so that only those are published.

#include <vector>

#include "operands/nfd/features.h"
#include "operands/nfd/rules/rule.h"

namespace gpuop::operands::nfd {

/// What of `features` the rules need to give the same results: each feature that a rule names (if only to tell that it
/// is there), in it the elements that are asked about, and of instances the attributes, once where they are equal.
/// Instances that fit a rule with a template stay whole, because it may print all of them.
Features UsedFeatures(const Features& features, const std::vector<const RuleList*>& rules);

}  // namespace gpuop::operands::nfd
