#pragma once
// The files of src/machine/data as they stand in the program.

#include <span>
#include <string_view>

namespace gpuop::machine {

struct DataFile {
  std::string_view name;  ///< "dgx-a100"
  std::string_view text;
};

/// machines/*.yaml, sorted by name.
std::span<const DataFile> MachineFiles();
/// models.yaml.
std::string_view ModelsFile();

}  // namespace gpuop::machine
