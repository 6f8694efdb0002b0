#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/executor.h"
#include "base/log.h"
#include "kube/client.h"
#include "operands/validator/driver_check.h"
#include "operands/validator/options.h"
#include "operands/validator/status_files.h"
#include "os/process.h"
#include "os/watcher.h"

namespace gpuop::operands::validator {

/// What a component works with. All of it outlives the component.
struct Surroundings {
  const Options& options;
  /// This container's own files.
  os::Fs& own;
  /// The host's, mounted at /host; null where they are not.
  const os::Fs* host;
  /// The host's /dev/char, mounted at /host-dev-char; null where it is not.
  os::Fs* dev_char;
  os::Processes& processes;
  os::Watcher& watcher;
  const Clock& clock;
  Log& log;
  /// The way to the API, which ends with `stop`; null where there is no configuration for it. `api_error` says why.
  const kube::Client* client;
  /// Where watches do their work.
  Executor* executor;
  std::string api_error;
  std::stop_token stop;
  StatusFiles& files;
};

/// Runs the component of the options. An error is what is said before the program ends with 1.
Result<> RunComponent(const Surroundings& with);

// The components. Each looks, waits if asked to, and writes its status file.

Result<> ValidateDriver(const Surroundings& with);
Result<> ValidateToolkit(const Surroundings& with);
Result<> ValidateCuda(const Surroundings& with);
Result<> ValidatePlugin(const Surroundings& with);
/// nvidia-fs, gdrcopy, nvidia-peermem.
Result<> ValidateModule(const Surroundings& with);
Result<> ValidateMofed(const Surroundings& with);
/// vfio-pci, vgpu-manager, vgpu-devices, cc-manager.
Result<> ValidateSandbox(const Surroundings& with);

/// Writes the node's condition where the API can be reached and the node is known; otherwise only the log tells.
void Tell(const Surroundings& with, const api::Finding& finding);
/// "host driver: …: evidence; first check: …", as an error.
Error ErrorOf(const Surroundings& with, const api::Finding& finding);

/// Calls `look` until it finds nothing wrong: at once, then whenever one of `paths` changes, and every
/// `options.interval` (doubling to a minute) for what has no events. Without WITH_WAIT it looks once. What is found is
/// told as it changes, and the status file `ready` is removed: it goes only when something is wrong, so that readers do
/// not see it vanish.
Result<> WaitUntilRight(const Surroundings& with, std::string_view ready, std::vector<std::string> paths,
                        const std::function<std::optional<api::Finding>()>& look);

}  // namespace gpuop::operands::validator
