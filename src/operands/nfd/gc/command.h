#pragma once

#include <span>

namespace gpuop::operands::nfd {

/// nfd-gc: the program of that name, with its flags.
int RunNfdGc(std::span<char* const> args);

}  // namespace gpuop::operands::nfd
