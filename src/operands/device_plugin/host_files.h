#pragma once
// What the plugin writes for containers, and what it looks up for them: CDI specs and the node's extra devices.

#include <string>

#include "container/generate/generate.h"
#include "gpu/inventory.h"
#include "operands/device_plugin/answer.h"
#include "os/fs.h"

namespace gpuop::operands::device_plugin {

/// GPUs that can be read, as specs are made of them.
container::MachineFacts FactsOf(const gpu::Inventory& gpus);

/// Where what belongs to the driver is.
struct HostFiles {
  /// This process's own tree, with /proc, /sys and the folder of CDI specs.
  os::Fs& own;
  /// The driver's root and that of its device nodes; they may be `own`.
  const os::Fs& driver;
  const os::Fs& devices;
};

/// Writes the specs that the settings ask for (class gpu, and gdrcopy, gds, mofed and imex-channel as far as the node
/// has such devices), each only when it differs from the file that is there, and says what containers can be given.
/// kUnavailable while the MPS daemon of a resource does not run. On an error the files are as they were.
Result<Extras> PrepareHost(const HostFiles& files, const gpu::Inventory& gpus, const Settings& settings);

}  // namespace gpuop::operands::device_plugin
