#pragma once

#include <string>

#include "base/result.h"

namespace gpuop::sim::node {

/// Where a machine's process finds the real machine's files: programs and images. Not cloned by recursive bind mounts.
inline constexpr const char* kRealRoot = "/.real";
/// Where containers' root file systems are put together, each in a mount namespace of its own.
inline constexpr const char* kStage = "/.stage";

/// Makes `folder` the root of this process, which has a mount and a pid namespace of its own: the machine as its
/// programs see it. The folder's files are the machine's; the real machine lends its programs (/usr, over which the
/// folder's own /usr lies; changes go into FOLDER/../usr), simple device nodes, and process numbers. Files below the
/// folder's /proc lie over the kernel's own of the same name. Mounts made afterwards are shared, as on a host with
/// systemd.
Result<> EnterMachineRoot(const std::string& folder);

/// Puts the real machine's programs below `root`: /usr and the links and folders that lead into it, each an overlay
/// with `lower` folders' /usr on top, writes going below `scratch` (a folder of this process).
Result<> LendPrograms(const std::string& real, const std::string& root, const std::string& scratch);

}  // namespace gpuop::sim::node
