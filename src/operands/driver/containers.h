#pragma once
// The containers of a driver's Pod, one function each.

#include "base/result.h"
#include "operands/build/pod.h"
#include "operands/driver/settings.h"

namespace gpuop::operands::driver {

/// The driver itself. Its volumes are added to the Pod.
Result<Container> DriverContainer(const Settings& settings, const Facts& facts, PodSpec& pod);

/// Reloads nvidia-peermem for GPUDirect RDMA.
Result<Container> PeermemContainer(const Settings& settings, const Facts& facts, PodSpec& pod);

/// Builds and loads the module of GPUDirect Storage or GDRCopy once the driver is up.
Result<Container> GdsContainer(const Settings& settings, const Facts& facts, PodSpec& pod);
Result<Container> GdrcopyContainer(const Settings& settings, const Facts& facts, PodSpec& pod);

/// OpenShift's Driver Toolkit, in which the modules are compiled.
Result<Container> ToolkitContainer(const Settings& settings, const Facts& facts, PodSpec& pod);

/// Whether the Driver Toolkit's image for the nodes' RHCOS version is not known.
bool ToolkitImageMissing(const Settings& settings, const Facts& facts);

}  // namespace gpuop::operands::driver
