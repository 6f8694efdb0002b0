#pragma once
// The two hooks that need more than files: they mount, or run a program, and do both through descriptors alone.

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::container {

/// Runs the host's ldconfig over the container's root: a sealed copy in memory, in namespaces of its own, with that
/// root as its only file system, without network, capabilities to gain or time to waste. It must be a static program of
/// the host (`ldconfig`, "@" before it is dropped); kUnsupported when it is not.
Result<> RunLdconfig(const std::string& root, std::string ldconfig);

/// Puts a read-only file with these bytes over a file of the container's /proc, in the calling mount namespace.
/// kNotFound when the container has no such file, kInvalid when it is not on a proc file system.
Result<> CoverProcFile(const std::string& root, const std::string& path, std::string_view bytes);

}  // namespace gpuop::container
