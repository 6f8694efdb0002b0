#pragma once

#include <string>

#include "e2e/operator/bed.h"

namespace gpuop::e2e {

/// What the cluster has in the end: the operands' objects and the nodes' labels, without what differs from run to run.
std::string Outcome(Bed& bed);

}  // namespace gpuop::e2e
