#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/mounts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto mounts = gpuop::os::ParseMountInfo(text)) gpuop::os::MountOf(*mounts, "/etc/x");
  return 0;
}
