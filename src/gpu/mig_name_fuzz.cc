#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "gpu/mig_name.h"

/// What reads as a name is written back as one that reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto name = gpuop::gpu::ParseMigName({reinterpret_cast<const char*>(data), size});
  if (!name) return 0;
  const auto again = gpuop::gpu::ParseMigName(gpuop::gpu::ToText(*name));
  GPUOP_CHECK(again && *again == *name);
  return 0;
}
