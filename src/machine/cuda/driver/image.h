#pragma once
// What programs hand over as code: PTX text, fat binaries, machine code.

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace gpuop::machine::cuda {

/// The PTX to run on a device of compute capability `compute` (80 for 8.0): the text itself, or from a fat binary (or
/// the wrapper that nvcc puts around one) the newest that the device may run, decompressed. kUnsupported: machine code
/// alone, or PTX for newer devices only. kInvalid: none of these.
Result<std::string> PtxOf(std::span<const std::byte> image, int compute);

/// The same for an image whose length nobody said, as cuModuleLoadData is given them: each kind ends by itself.
Result<std::string> PtxAt(const void* image, int compute);

}  // namespace gpuop::machine::cuda
