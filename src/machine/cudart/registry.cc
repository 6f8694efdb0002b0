// What compiled programs register before main: fat binaries, kernels and variables (as clang's open CUDA front end
// emits it), and how kernels are launched from them.

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "machine/cudart/driver.h"

namespace gpuop::machine::cudart {
namespace {

/// A program's fat binary; loaded at the first use of something in it.
struct FatBinary {
  const void* wrapper = nullptr;
  void* library = nullptr;
  Error error = 0;
};
struct Kernel {
  FatBinary* binary = nullptr;
  std::string name;
  void* handle = nullptr;  ///< CUkernel
};
struct Variable {
  FatBinary* binary = nullptr;
  std::string name;
  std::size_t size = 0;
  void** managed = nullptr;  ///< the host's pointer to it
};

struct Registry {
  std::mutex mu;
  std::map<const void*, Kernel> kernels;
  std::map<const void*, Variable> variables;
};
/// Programs register before main and unregister after it.
Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

/// What `f<<<…>>>` leaves for the launch that follows.
struct Configuration {
  Dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

Error LoadBinary(const Driver& driver, FatBinary& binary) {
  if (binary.library != nullptr || binary.error != 0) return binary.error;
  binary.error = static_cast<Error>(
      driver.LibraryLoadData(&binary.library, binary.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return binary.error;
}

/// The CUkernel of a host function. Needs a context.
Error FindKernel(const Driver& driver, const void* function, void*& handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mu);
  const auto it = registry.kernels.find(function);
  if (it == registry.kernels.end()) return kInvalidDeviceFunction;
  Kernel& kernel = it->second;
  if (const Error error = LoadBinary(driver, *kernel.binary); error != 0) return error;
  if (kernel.handle == nullptr &&
      driver.LibraryGetKernel(&kernel.handle, kernel.binary->library, kernel.name.c_str()) != Cu::kSuccess)
    return kInvalidDeviceFunction;
  handle = kernel.handle;
  return 0;
}

Error FindVariable(const Driver& driver, const void* symbol, std::uint64_t& address, std::size_t& size) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mu);
  const auto it = registry.variables.find(symbol);
  if (it == registry.variables.end()) return kInvalidSymbol;
  if (const Error error = LoadBinary(driver, *it->second.binary); error != 0) return error;
  const Cu rc = driver.LibraryGetGlobal(&address, &size, it->second.binary->library, it->second.name.c_str());
  return rc == Cu::kNotFound ? kInvalidSymbol : static_cast<Error>(rc);
}

/// Runs `call` with the driver and the handle of a host function.
template <class F>
Error WithKernel(const void* function, F call) {
  return WithDevice([&](const Driver& driver) -> Error {
    void* handle = nullptr;
    if (const Error error = FindKernel(driver, function, handle); error != 0) return error;
    return static_cast<Error>(call(driver, handle));
  });
}

/// The driver calls a shape that cannot be an invalid value; here it is an invalid configuration.
Error Configured(Cu rc, const Dim3& grid, const Dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const bool impossible =
      threads == 0 || threads > 1024 || block.z > 64 || blocks == 0 || grid.y > 65535 || grid.z > 65535;
  return rc == Cu::kInvalidValue && impossible ? kInvalidConfiguration : static_cast<Error>(rc);
}

/// Managed variables are reached through a pointer that the program has: set when its binary is loaded.
void PointManaged(const Driver& driver, FatBinary& binary) {
  Registry& registry = TheRegistry();
  for (auto& [symbol, variable] : registry.variables) {
    if (variable.binary != &binary || variable.managed == nullptr) continue;
    std::uint64_t address = 0;
    std::size_t size = 0;
    if (LoadBinary(driver, binary) == 0 &&
        driver.LibraryGetGlobal(&address, &size, binary.library, variable.name.c_str()) == Cu::kSuccess)
      std::memcpy(variable.managed, &address, sizeof address);
  }
}

Error CopySymbol(const void* symbol, std::size_t offset, std::size_t bytes, auto copy) {
  return WithDevice([&](const Driver& driver) -> Error {
    std::uint64_t address = 0;
    std::size_t size = 0;
    if (const Error error = FindVariable(driver, symbol, address, size); error != 0) return error;
    if (offset > size || bytes > size - offset) return kInvalidValue;
    return static_cast<Error>(copy(driver, address + offset));
  });
}

/// cudaFuncAttributes of CUDA 13.
struct FunctionAttributes {
  std::size_t shared_bytes, const_bytes, local_bytes;
  int values[6];  ///< threads, registers, PTX version, binary version, cache mode, dynamic shared memory
  int carveout;
  int rest[8];
  int reserved[14];
};

/// cudaLaunchConfig_t; its attributes are the driver's.
struct LaunchConfiguration {
  Dim3 grid, block;
  std::size_t shared;
  void* stream;
  cuda::LaunchAttribute* attributes;
  unsigned attribute_count;
};

}  // namespace

GPUOP_CUDART void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(new FatBinary{.wrapper = wrapper});
}
GPUOP_CUDART void __cudaRegisterFatBinaryEnd(void**) {}
GPUOP_CUDART void __cudaUnregisterFatBinary(void** handle) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mu);
  std::erase_if(registry.kernels, [&](const auto& entry) { return entry.second.binary == binary; });
  std::erase_if(registry.variables, [&](const auto& entry) { return entry.second.binary == binary; });
  delete binary;
}
GPUOP_CUDART char __cudaInitModule(void** handle) {
  const Driver* driver = FindDriver();
  if (driver == nullptr || UseDevice(*driver) != 0) return 0;
  const std::lock_guard lock(TheRegistry().mu);
  PointManaged(*driver, *reinterpret_cast<FatBinary*>(handle));
  return 1;
}
GPUOP_CUDART void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*,
                                         void*, void*, int*) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mu);
  registry.kernels[host] = {.binary = reinterpret_cast<FatBinary*>(handle), .name = name};
}
GPUOP_CUDART void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t size, int,
                                    int) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mu);
  registry.variables[host] = {.binary = reinterpret_cast<FatBinary*>(handle), .name = name, .size = size};
}
GPUOP_CUDART void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, std::size_t size,
                                           int, int) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mu);
  registry.variables[host] = {
      .binary = reinterpret_cast<FatBinary*>(handle), .name = name, .size = size, .managed = host};
}
GPUOP_CUDART unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
GPUOP_CUDART Error __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
  if (configurations.empty()) return Record(kMissingConfiguration);
  const Configuration now = configurations.back();
  configurations.pop_back();
  *grid = now.grid;
  *block = now.block;
  *shared = now.shared;
  std::memcpy(stream, &now.stream, sizeof now.stream);
  return 0;
}
GPUOP_CUDART Error __cudaGetKernel(void** kernel, const void* function) {
  return WithKernel(function, [&](const Driver&, void* handle) {
    *kernel = handle;
    return Cu::kSuccess;
  });
}
GPUOP_CUDART Error __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared,
                                      void* stream) {
  if (kernel == nullptr) return cudaPeekAtLastError() != 0 ? cudaPeekAtLastError() : Record(kInvalidDeviceFunction);
  return WithDevice([&](const Driver& driver) {
    return Configured(driver.LaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                          static_cast<unsigned>(shared), stream, args, nullptr),
                      grid, block);
  });
}
GPUOP_CUDART Error cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** args, std::size_t shared,
                                    void* stream) {
  return WithKernel(function, [&](const Driver& driver, void* handle) {
    return Configured(driver.LaunchKernel(handle, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                          static_cast<unsigned>(shared), stream, args, nullptr),
                      grid, block);
  });
}
GPUOP_CUDART Error cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void** args,
                                               std::size_t shared, void* stream) {
  return WithKernel(function, [&](const Driver& driver, void* handle) {
    return Configured(driver.LaunchCooperativeKernel(handle, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                     static_cast<unsigned>(shared), stream, args),
                      grid, block);
  });
}
GPUOP_CUDART Error cudaLaunchKernelExC(const LaunchConfiguration* wanted, const void* function, void** args) {
  if (wanted == nullptr) return Record(kInvalidValue);
  return WithKernel(function, [&](const Driver& driver, void* handle) {
    const Dim3 &grid = wanted->grid, &block = wanted->block;
    const cuda::LaunchConfig config{grid.x,
                                    grid.y,
                                    grid.z,
                                    block.x,
                                    block.y,
                                    block.z,
                                    static_cast<unsigned>(wanted->shared),
                                    wanted->stream,
                                    wanted->attributes,
                                    wanted->attribute_count};
    return Configured(driver.LaunchKernelEx(&config, handle, args, nullptr), grid, block);
  });
}
GPUOP_CUDART Error cudaGetKernel(void** kernel, const void* function) { return __cudaGetKernel(kernel, function); }
GPUOP_CUDART Error cudaGetFuncBySymbol(void** made, const void* function) {
  return WithKernel(function,
                    [&](const Driver& driver, void* handle) { return driver.KernelGetFunction(made, handle); });
}
GPUOP_CUDART Error cudaFuncGetName(const char** name, const void* function) {
  return WithKernel(function, [&](const Driver& driver, void* handle) { return driver.KernelGetName(name, handle); });
}
GPUOP_CUDART Error cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                        std::size_t* size) {
  return WithKernel(function, [&](const Driver& driver, void* handle) {
    return driver.KernelGetParamInfo(handle, index, offset, size);
  });
}
GPUOP_CUDART Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  if (attributes == nullptr) return Record(kInvalidValue);
  return WithKernel(function, [&](const Driver& driver, void* handle) {
    std::memset(attributes, 0, sizeof *attributes);
    const auto value = [&](int number) {
      int got = 0;
      driver.FuncGetAttribute(&got, number, handle);
      return got;
    };
    attributes->shared_bytes = static_cast<std::size_t>(value(cuda::kFuncSharedBytes));
    attributes->const_bytes = static_cast<std::size_t>(value(cuda::kFuncConstBytes));
    attributes->local_bytes = static_cast<std::size_t>(value(cuda::kFuncLocalBytes));
    constexpr std::array kOrder = {cuda::kFuncMaxThreads,    cuda::kFuncRegisters,   cuda::kFuncPtxVersion,
                                   cuda::kFuncBinaryVersion, cuda::kFuncCacheModeCa, cuda::kFuncMaxDynamicShared};
    for (std::size_t i = 0; i < kOrder.size(); ++i) attributes->values[i] = value(kOrder[i]);
    attributes->carveout = value(cuda::kFuncCarveout);
    return Cu::kSuccess;
  });
}
GPUOP_CUDART Error cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return WithKernel(
      function, [&](const Driver& driver, void* handle) { return driver.FuncSetAttribute(handle, attribute, value); });
}
GPUOP_CUDART Error cudaFuncSetCacheConfig(const void* function, int) {
  return WithKernel(function, [](const Driver&, void*) { return Cu::kSuccess; });
}
GPUOP_CUDART Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                          int threads, std::size_t shared, unsigned) {
  return WithKernel(function, [&](const Driver& driver, void* handle) {
    return driver.OccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, shared);
  });
}
GPUOP_CUDART Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                                 std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

GPUOP_CUDART Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                             int threads) {
  return WithKernel(function, [&](const Driver& driver, void* handle) {
    return driver.OccupancyAvailableDynamicSMemPerBlock(bytes, handle, blocks, threads);
  });
}

GPUOP_CUDART Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                      int) {
  return CopySymbol(symbol, offset, bytes,
                    [&](const Driver& driver, std::uint64_t to) { return driver.Memcpy(to, Address(from), bytes); });
}
GPUOP_CUDART Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                           int, void* stream) {
  return CopySymbol(symbol, offset, bytes, [&](const Driver& driver, std::uint64_t to) {
    return driver.MemcpyAsync(to, Address(from), bytes, stream);
  });
}
GPUOP_CUDART Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int) {
  return CopySymbol(symbol, offset, bytes,
                    [&](const Driver& driver, std::uint64_t from) { return driver.Memcpy(Address(to), from, bytes); });
}
GPUOP_CUDART Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int,
                                             void* stream) {
  return CopySymbol(symbol, offset, bytes, [&](const Driver& driver, std::uint64_t from) {
    return driver.MemcpyAsync(Address(to), from, bytes, stream);
  });
}
GPUOP_CUDART Error cudaGetSymbolAddress(void** made, const void* symbol) {
  return CopySymbol(symbol, 0, 0, [&](const Driver&, std::uint64_t address) {
    *made = reinterpret_cast<void*>(address);
    return Cu::kSuccess;
  });
}
GPUOP_CUDART Error cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return WithDevice([&](const Driver& driver) -> Error {
    std::uint64_t address = 0;
    return FindVariable(driver, symbol, address, *size);
  });
}

}  // namespace gpuop::machine::cudart
