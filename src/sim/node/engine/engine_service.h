#pragma once

#include <string>

#include "container/engine/config.h"
#include "net/grpc/server.h"
#include "os/fs.h"

namespace gpuop::sim::node {

/// Where a machine's container engine answers.
inline constexpr const char* kEngineSocket = "/run/containerd/containerd.sock";

/// What a container engine with this configuration (nullopt: no file, which is the engine's default) answers over the
/// CRI: Status, and sandboxes that are only asked whether they could start. `host` is the machine's root and is looked
/// at when a sandbox is asked for: a handler whose program is not there fails as it would. Both are borrowed.
net::GrpcMethods EngineMethods(const std::optional<container::EngineConfig>& config, const os::Fs& host);

/// Becomes the engine of the machine that this process is on: a process called containerd that has read its
/// configuration and answers at kEngineSocket until a signal ends it. Returns the exit status: 1, with words on
/// standard error, where the configuration cannot be read.
int RunEngine();

}  // namespace gpuop::sim::node
