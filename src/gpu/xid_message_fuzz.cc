#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "gpu/xid.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto xid = gpuop::gpu::ParseXidMessage(line)) GPUOP_CHECK(!xid->pci.empty() && xid->text.size() <= size);
  if (const auto sxid = gpuop::gpu::ParseSxidMessage(line)) GPUOP_CHECK(!sxid->pci.empty());
  return 0;
}
