#include <cstddef>
#include <cstdint>
#include <string_view>

#include "container/elf/ldcache.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)gpuop::container::ReadLdCache({reinterpret_cast<const char*>(data), size}).has_value();
  return 0;
}
