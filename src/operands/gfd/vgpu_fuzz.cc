#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "operands/gfd/vgpu.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto host = gpuop::operands::gfd::ParseVgpu({reinterpret_cast<const char*>(data), size});
  GPUOP_CHECK(!host || (host->driver_version.size() <= 10 && host->driver_branch.size() <= 10));
  return 0;
}
