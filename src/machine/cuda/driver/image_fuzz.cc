#include "machine/cuda/driver/image.h"

/// Any bytes are PTX, a fat binary, or refused.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  (void)gpuop::machine::cuda::PtxOf({reinterpret_cast<const std::byte*>(bytes), size}, 90);
  return 0;
}
