#pragma once

#include <span>

namespace gpuop::operands::nfd {

/// nfd-master: the program of that name, with its flags, settings file and variables.
int RunNfdMaster(std::span<char* const> args);

}  // namespace gpuop::operands::nfd
