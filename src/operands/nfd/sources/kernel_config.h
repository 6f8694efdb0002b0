#pragma once

#include <string>

#include "operands/nfd/features.h"
#include "operands/nfd/sources/host.h"

namespace gpuop::operands::nfd {

/// The kernel's configuration without CONFIG_: y, m, or a value without its quotes. From `file` if it is given, else
/// from where kernels of `release` keep it. Empty when there is none that can be read.
TextMap ReadKernelConfig(const Host& host, const std::string& file, const std::string& release);
/// The same from its text.
TextMap ParseKernelConfig(std::string_view text);

}  // namespace gpuop::operands::nfd
