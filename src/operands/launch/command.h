#pragma once

#include <span>

namespace gpuop::operands::launch {

/// The program gpu-operator-launch; `args` are those after its name. See options.h. Exit status: 0, 2 for a wrong
/// command line, 1 for a failure (the text is on standard error), 143 when it was asked to stop before it was done.
int RunLaunch(std::span<char* const> args);

}  // namespace gpuop::operands::launch
