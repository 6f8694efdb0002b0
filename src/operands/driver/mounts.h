#pragma once
// Files that a policy hands to the driver container: package repositories, certificates, module parameters, licences,
// the host's subscriptions (controller.md §4.2, "Extra mounts").

#include "base/result.h"
#include "operands/build/pod.h"
#include "operands/driver/settings.h"

namespace gpuop::operands::driver {

/// Mounts of ConfigMaps that package installations need: for the driver container and its side containers. kNotFound
/// when a ConfigMap is missing, kInvalid on an OS whose folders are unknown.
Result<> AddPackageFiles(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container);

/// Parameters of kernel modules, one file for each key below /drivers.
Result<> AddModuleParameters(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container);

/// The rest: licences, vGPU topology, the host's subscriptions, SUSE's modules, OpenShift's certificates.
Result<> AddDriverFiles(const Settings& settings, const Facts& facts, PodSpec& pod, Container& container);

}  // namespace gpuop::operands::driver
