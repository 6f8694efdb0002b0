// What a driver on these machines answers NOT_SUPPORTED to, or what needs hardware that they do not have (vGPU, S-class
// units, SLI, accounting, displays). By NVML's C interface a function that looks at no argument can stand for any.

#include "machine/nvml/library.h"
#include "machine/nvml/unsupported_names.h"

using gpuop::gpu::nvml::Return;
using gpuop::machine::nvml::Call;

#pragma GCC visibility push(default)
extern "C" {
#define GPUOP_UNSUPPORTED(name)                              \
  Return nvml##name() {                                      \
    const Call call("nvml" #name);                           \
    return call.ok() ? Return::kNotSupported : call.error(); \
  }
GPUOP_NVML_UNSUPPORTED(GPUOP_UNSUPPORTED)
}
#pragma GCC visibility pop
