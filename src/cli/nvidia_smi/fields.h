#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/nvidia_smi/gpu.h"

namespace gpuop::cli::nvidia_smi {

/// What a field may ask besides the GPU.
struct Moment {
  std::string now;
  std::size_t attached = 0;
};

/// A field of --query-gpu.
struct Field {
  std::string_view name;
  /// Another name it goes by, or empty.
  std::string_view alias;
  /// "MiB", or empty for texts and bare numbers.
  std::string_view unit;
  Result<std::string> (*read)(const Gpu& gpu, const Moment& moment);
};

/// All, in the order in which they are listed.
std::span<const Field> AllFields();
/// By name or alias; null when there is none.
const Field* FindField(std::string_view name);

}  // namespace gpuop::cli::nvidia_smi
