#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "container/cdi/spec.h"

/// What is accepted must come back from its own text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto spec = gpuop::container::ReadCdiSpec("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!spec) return 0;
  const auto again = gpuop::container::ReadCdiSpec("again", gpuop::container::CdiSpecToJson(*spec));
  GPUOP_CHECK(again && *again == *spec);
  return 0;
}
