#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/log.h"
#include "container/engine/site.h"
#include "operands/toolkit/program/options.h"
#include "os/fs.h"
#include "os/mounts.h"

namespace gpuop::operands::toolkit {

/// The engine that serves the node's kubelet, where the options mean another one, or where its distribution (k3s, RKE2,
/// MicroK8s, k0s) keeps its configuration elsewhere or writes it anew. `host` shows the host's files, `own` this
/// container's. nullopt: the options are right, or no kubelet is to be seen. kUnsupported: the distribution leaves no
/// way to configure its engine; it finds the runtimes by itself.
Result<std::optional<container::EngineSite>> FindOtherEngine(const os::Fs& host, const os::Fs& own,
                                                             const Options& options);

/// Has the options mean that engine. Its files are then those of `host_view`, a path that leads to the host's root and
/// through which they can be written.
void UseEngine(const container::EngineSite& site, const std::string& host_view, Options& options);

/// Both, for a toolkit in a Pod: by the host's first process, which `hostPID` shows. Elsewhere nothing changes. Where
/// the distribution leaves no way the engine is not configured at all, with a warning.
Result<> FindEngineOfKubelet(Options& options, const os::Fs& own, Log& log);

/// What the host calls `path` of this container, by what is mounted there; "" when that is no mount of the host's.
/// `own` and `host` are the two mountinfos.
std::string HostPathOf(std::span<const os::Mount> own, std::span<const os::Mount> host, const std::string& path);

/// The way to the host's root by its first process, for a toolkit in a Pod.
inline constexpr const char* kHostView = "/proc/1/root";

}  // namespace gpuop::operands::toolkit
