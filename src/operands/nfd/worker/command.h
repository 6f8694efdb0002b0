#pragma once

#include <span>

namespace gpuop::operands::nfd {

/// nfd-worker: the program of that name, with its flags, settings file and variables.
int RunNfdWorker(std::span<char* const> args);

}  // namespace gpuop::operands::nfd
