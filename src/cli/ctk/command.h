#pragma once

#include <span>

namespace gpuop::cli {

/// `nvidia-ctk`: cdi generate, cdi list, cdi transform root, config, runtime configure, system, hook, and --version,
/// with NVIDIA's flags (nvidia-container-toolkit 1.20). `args` are those behind its name. 0, or 1 with the reason on
/// standard error and nothing on standard output.
int RunCtk(std::span<char* const> args);

}  // namespace gpuop::cli
