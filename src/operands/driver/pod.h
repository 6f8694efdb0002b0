#pragma once
// The driver's Pod: manager, driver and what runs beside it.

#include "base/result.h"
#include "operands/build/kinds.h"
#include "operands/driver/settings.h"

namespace gpuop::operands::driver {

/// Fills the Pod of a DaemonSet that has its identity and node selector. Update strategy and anti-affinity too: a
/// running driver is replaced by whoever deletes its Pod, and two drivers never meet on one node.
Result<> FillPod(const Settings& settings, const Facts& facts, DaemonSet& ds);

/// The value of DRIVER_CONFIG_DIGEST: a number that changes exactly when the driver, its containers' settings, its
/// files or the node's paths do; not with the operator's or the manager's image. Pods of equal digest need no new
/// kernel modules.
std::string ConfigDigest(const PodSpec& pod, const Settings& settings);

/// What the driver's account may do.
Account DriverAccount(const std::string& name);

}  // namespace gpuop::operands::driver
