#include "machine/spec/data_files.h"

#include <array>

// GPUOP_MACHINE_DATA is the folder's path; CMake knows that this file depends on what is in it.
#define GPUOP_DATA_FILE(symbol, path)                                   \
  asm(".section .rodata\n"                                              \
      ".global gpuop_machine_" #symbol "_begin, gpuop_machine_" #symbol \
      "_end\n"                                                          \
      "gpuop_machine_" #symbol                                          \
      "_begin:\n"                                                       \
      ".incbin \"" GPUOP_MACHINE_DATA "/" path                          \
      "\"\n"                                                            \
      "gpuop_machine_" #symbol                                          \
      "_end:\n"                                                         \
      ".byte 0\n"                                                       \
      ".previous\n");                                                   \
  extern "C" const char gpuop_machine_##symbol##_begin[];               \
  extern "C" const char gpuop_machine_##symbol##_end[];

#define GPUOP_MACHINES(X)       \
  X(a30, "a30")                 \
  X(b200, "b200")               \
  X(b300, "b300")               \
  X(cpu_only, "cpu-only")       \
  X(dgx_a100, "dgx-a100")       \
  X(dgx_a100_80, "dgx-a100-80") \
  X(dgx_h100, "dgx-h100")       \
  X(gb10, "gb10")               \
  X(gb200, "gb200")             \
  X(l40s_x4, "l40s-x4")         \
  X(mixed, "mixed")             \
  X(t4, "t4")

#define GPUOP_MACHINE_FILE(symbol, name) GPUOP_DATA_FILE(symbol, "machines/" name ".yaml")
GPUOP_MACHINES(GPUOP_MACHINE_FILE)
GPUOP_DATA_FILE(models, "models.yaml")

namespace gpuop::machine {

std::span<const DataFile> MachineFiles() {
#define GPUOP_ENTRY(symbol, name) DataFile{name, {gpuop_machine_##symbol##_begin, gpuop_machine_##symbol##_end}},
  static const std::array kFiles = {GPUOP_MACHINES(GPUOP_ENTRY)};
  return kFiles;
}

std::string_view ModelsFile() { return {gpuop_machine_models_begin, gpuop_machine_models_end}; }

}  // namespace gpuop::machine
