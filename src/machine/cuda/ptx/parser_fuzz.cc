#include "machine/cuda/ptx/parser.h"

using namespace gpuop;

/// Any bytes parse or are refused with a line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto module = machine::ptx::Parse({reinterpret_cast<const char*>(bytes), size});
  if (!module && module.error().text.find("line ") == std::string::npos) __builtin_trap();
  return 0;
}
