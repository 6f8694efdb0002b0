#pragma once
// The CDI specs that the toolkit writes and keeps true.

#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "operands/toolkit/program/options.h"
#include "os/fs.h"
#include "os/process.h"

namespace gpuop::operands::toolkit {

/// Writes the management spec into the output folder; nothing when it says the same already. False: as it was.
Result<bool> WriteManagementSpec(const Options& options, os::Fs& host);

/// Writes nvidia.com/gpu with every GPU and MIG device of the node (index, UUID, `all`) as nvidia.yaml into the output
/// folder, the name that the host's own nvidia-cdi-refresh uses. A spec of somebody else is left alone and counts:
/// kAlreadyExists says which. What the driver says is asked by `nvidia-ctk cdi generate` in a process of its own, which
/// ends after a minute: a driver that hangs hangs that process alone. The old spec stays until the new one is read and
/// found good. False: as it was.
Result<bool> WriteDeviceSpec(const Options& options, os::Fs& host, os::Processes& processes, std::stop_token stop);

/// What must be looked at again for new specs: the names of nodes (os::Watcher::StartNames), and files: the driver's
/// libraries, the kernel's modules, the mark of a driver that is ready, and the specs themselves.
struct SpecSources {
  std::vector<std::string> nodes, files;
};
SpecSources WhatSpecsComeFrom(const Options& options);

}  // namespace gpuop::operands::toolkit
