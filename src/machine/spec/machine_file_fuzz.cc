#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "machine/spec/build.h"

/// Any text is a machine file or an error with a line; a machine file can be built, and reads back as it is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuop::machine;
  const auto spec = ReadSpec({reinterpret_cast<const char*>(data), size}, "f");
  if (!spec) {
    GPUOP_CHECK(spec.error().text.starts_with("f:"));
    return 0;
  }
  const auto machine = std::make_unique<layout::Machine>();
  if (!BuildMachine(*spec, *machine)) return 0;  // a fault that this GPU cannot have
  const auto again = ReadSpec(WriteSpec(*spec), "f");
  GPUOP_CHECK(again.has_value());
  GPUOP_CHECK(WriteSpec(*again) == WriteSpec(*spec));
  return 0;
}
