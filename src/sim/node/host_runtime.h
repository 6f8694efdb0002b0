#pragma once
// What a machine's container engine makes of runtime handlers and CDI names, read from the machine's own files.

#include <memory>
#include <optional>
#include <string>

#include "container/cdi/cache.h"
#include "container/engine/config.h"
#include "os/fs.h"
#include "sim/node/pod/container_plan.h"

namespace gpuop::sim::node {

/// How the containerd of the machine with this root is configured; nullopt: by no file, which is its default.
Result<std::optional<container::EngineConfig>> ReadContainerdConfig(const os::Fs& host);

/// The container engine of one machine as it is configured: what an engine reads when it starts (Reload), and the CDI
/// specs, which it reads anew for every container. Not thread-safe; may block on files.
class HostRuntime {
 public:
  /// `host` is the machine's root and outlives it; `root` is where that is, for drivers with a root of their own.
  explicit HostRuntime(const os::Fs& host, std::string root = "");

  /// The engine was started again: it reads its configuration. A configuration that it cannot read is kInvalid, and the
  /// engine does not run then: no Pod starts until the next Reload.
  Result<> Reload();

  /// Whether a Pod can have this handler ("" is the default); the error is the engine's: `no runtime for "nvidia" is
  /// configured`.
  Result<> CheckHandler(const std::string& handler) const;

  /// Completes a container's specification: devices of the device manager, CDI names, and what the runtime behind the
  /// handler adds: NVIDIA's, as the configuration beside its program has it. Errors are the engine's, to stand after
  /// "Error: ".
  Result<ContainerSpec> Complete(data::Json oci, const DeviceOptions& devices, const std::string& handler,
                                 const std::string& container_id);

 private:
  struct Config;
  const os::Fs& host_;
  const std::string root_;
  container::CdiCache cdi_;
  std::shared_ptr<const Config> config_;
};

}  // namespace gpuop::sim::node
