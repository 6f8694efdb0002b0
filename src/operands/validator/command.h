#pragma once

#include <span>

namespace gpuop::operands::validator {

/// `nvidia-validator`: one component, by flags and environment (toolkit-cdi-validator-driver.md §5). 0: it is as it
/// should be; 1: it is not, or the program was told something wrong.
int RunValidator(std::span<char* const> args);

}  // namespace gpuop::operands::validator
