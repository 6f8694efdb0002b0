#include "machine/cuda/exec/program.h"
#include "machine/cuda/ptx/parser.h"

using namespace gpuop;

/// Every kernel of whatever parses is decoded or refused with a reason.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const auto module = machine::ptx::Parse({reinterpret_cast<const char*>(bytes), size});
  if (!module) return 0;
  std::uint64_t total = 0;
  const auto data = machine::exec::LayOut(*module, total);
  for (const auto& function : module->functions) {
    const auto program = machine::exec::Decode(*module, function.name, data, 0x7f0000000000);
    if (!program && program.error().text.empty()) __builtin_trap();
  }
  return 0;
}
