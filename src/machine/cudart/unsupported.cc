// Entry points of cuda_runtime_api.h that do not exist here: programs that name them still load, and calls say so.

#include "machine/cudart/driver.h"

extern "C" __attribute__((visibility("default"))) int cudaGpuopUnsupported() {
  return gpuop::machine::cudart::Record(gpuop::machine::cudart::kNotSupported);
}
#define GPUOP_UNSUPPORTED(name) \
  extern "C" __attribute__((visibility("default"), alias("cudaGpuopUnsupported"))) int name();
#include "machine/cudart/unsupported_names.inc"
#undef GPUOP_UNSUPPORTED
