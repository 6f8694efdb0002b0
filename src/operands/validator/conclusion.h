#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/xid.h"
#include "operands/validator/driver_check.h"
#include "operands/validator/resources.h"

namespace gpuop::operands::validator {

/// All that is known of a node when the whole chain is judged.
struct Evidence {
  DriverReport driver;
  /// CDI specifications that cannot be read or name what is gone.
  std::optional<api::Finding> cdi;
  /// What the node offers; nullopt where that is as it should be.
  std::optional<api::Finding> resources;
  /// What the workload Pod came to last; nullopt while none was needed.
  std::optional<api::Finding> cuda;
  /// Xids of this boot that make a GPU unfit, and whether everything was proved after the last one.
  std::vector<gpu::XidMessage> xids;
  bool xids_survived = true;

  // For the sentence that says what was proved.
  std::string platform;
  bool host_driver = true;
  std::vector<GpuResource> offered;
};

/// The one finding to tell: the first broken link, else the first warning, else kProved with what was seen.
api::Finding Conclude(const Evidence& evidence);

/// Whether an Xid says that the GPU, and not the program on it, is at fault.
bool IsFatal(const gpu::XidMessage& message);

}  // namespace gpuop::operands::validator
