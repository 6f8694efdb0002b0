// cuGetProcAddress: every entry point by its plain name and a CUDA version.

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

struct Versioned {
  const char* name;
  int since;  ///< 12000 for CUDA 12.0
  const char* symbol;
};
/// From NVIDIA's cuda.h and cudaTypedefs.h, by tools/cuda/names.
constexpr Versioned kVersioned[] = {
#include "machine/cuda/exports/versioned_names.inc"
};

enum QueryResult : int { kFound = 0, kNoSymbol = 1, kTooOld = 2 };

/// This library's own handle, so that nobody else's symbols are found.
void* Self() {
  static void* const self = [] {
    Dl_info info{};
    ::dladdr(reinterpret_cast<const void*>(&Self), &info);
    return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return self;
}

}  // namespace

GPUOP_CUDA Cu cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t, int* status) {
  if (name == nullptr || function == nullptr) return Cu::kInvalidValue;
  const char* symbol = nullptr;
  bool known = false;
  for (const Versioned& row : kVersioned) {
    if (std::strcmp(row.name, name) != 0) continue;
    known = true;
    if (row.since <= version) symbol = row.symbol;
  }
  *function = symbol == nullptr ? nullptr : ::dlsym(Self(), symbol);
  if (status != nullptr) *status = *function != nullptr ? kFound : known ? kTooOld : kNoSymbol;
  // With a place for the status the call itself succeeds (cuda.h, cuGetProcAddress).
  return *function != nullptr || status != nullptr ? Cu::kSuccess : Cu::kNotFound;
}
GPUOP_CUDA Cu cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

/// NVIDIA's own libraries ask for tables that are documented nowhere; there are none.
GPUOP_CUDA Cu cuGetExportTable(const void** table, const Uuid*) {
  if (table != nullptr) *table = nullptr;
  return Cu::kNotFound;
}

}  // namespace gpuop::machine::cuda

/// Entry points of cuda.h that do not exist on these devices: programs that name them still load.
extern "C" __attribute__((visibility("default"))) int cuGpuopUnsupported() {
  return static_cast<int>(gpuop::machine::cuda::Cu::kNotSupported);
}
#define GPUOP_UNSUPPORTED(name) \
  extern "C" __attribute__((visibility("default"), alias("cuGpuopUnsupported"))) int name();
#include "machine/cuda/exports/unsupported_names.inc"
#undef GPUOP_UNSUPPORTED
