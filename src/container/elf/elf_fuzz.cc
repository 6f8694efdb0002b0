#include <cstddef>
#include <cstdint>
#include <string_view>

#include "container/elf/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = gpuop::container::PartsOf(std::string_view(reinterpret_cast<const char*>(data), size));
  (void)gpuop::container::ElfSoname(read).has_value();
  (void)gpuop::container::ElfNote(read, ".note.cuda.fwd_compatibility", "NVIDIA Corporation").has_value();
  return 0;
}
