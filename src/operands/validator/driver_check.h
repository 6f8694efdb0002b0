#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operands/host/host_check.h"
#include "operands/validator/gpu_check.h"

namespace gpuop::operands::validator {

/// Everything that is known of a node's driver.
struct DriverReport {
  host::HostState host;
  DriverState driver;
  /// Of both, in the order in which they should be told; a finding that another explains is left out.
  std::vector<api::Finding> findings;

  /// The first that breaks the link "host driver", or null.
  const api::Finding* Broken() const;
};

/// Asks the driver; called only where the files say that there is one.
using AskDriverFn = std::function<DriverState()>;

/// Looks at the host's files, then asks the driver.
DriverReport CheckDriver(const os::Fs& host, const os::Fs& driver, const AskDriverFn& ask);

}  // namespace gpuop::operands::validator
