#include "gpu/cuda/fake.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>

#include "gpu/cuda/reference.h"

namespace gpuop::gpu::cuda {
namespace {

FakeDriver* fake = nullptr;

Status Gate(const char* function) {
  const auto it = fake->fail.find(function);
  return it == fake->fail.end() ? Status::kSuccess : it->second;
}

template <class T>
T Parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof value);
  return value;
}

template <class T>
T* Memory(void** parameters, int index) {
  return reinterpret_cast<T*>(Parameter<DevicePtr>(parameters, index));
}

void Store(std::span<const float> values, float* to) { std::ranges::copy(values, to); }

/// Runs `kernel` and answers where its output begins; null for a kernel that is not known.
void* Run(const std::string& kernel, void** p) {
  if (kernel == "gpuop_vector_add") {
    const auto n = Parameter<unsigned>(p, 3);
    Store(VectorAddReference({Memory<float>(p, 0), n}, {Memory<float>(p, 1), n}), Memory<float>(p, 2));
    return Memory<void>(p, 2);
  }
  if (kernel == "gpuop_reduce") {
    Store(ReduceReference({Memory<float>(p, 0), Parameter<unsigned>(p, 2)}), Memory<float>(p, 1));
    return Memory<void>(p, 1);
  }
  if (kernel == "gpuop_matrix_product") {
    const auto n = Parameter<unsigned>(p, 3);
    const std::size_t size = std::size_t{n} * n;
    Store(MatrixProductReference({Memory<float>(p, 0), size}, {Memory<float>(p, 1), size}, n), Memory<float>(p, 2));
    return Memory<void>(p, 2);
  }
  const auto count = Parameter<std::uint64_t>(p, 1);
  const auto seed = Parameter<std::uint32_t>(p, 2);
  auto* const words = Memory<std::uint32_t>(p, 0);
  if (kernel == "gpuop_pattern_write") {
    for (std::uint64_t i = 0; i < count; ++i) words[i] = Pattern(i, seed);
    return words;
  }
  if (kernel != "gpuop_pattern_check") return nullptr;
  auto* const result = Memory<std::uint64_t>(p, 3);
  for (std::uint64_t i = count; i-- > 0;)
    if (words[i] != Pattern(i, seed)) {
      ++result[0];
      result[1] = i;
    }
  return result;
}

}  // namespace

#define GATE(name) \
  if (const Status gate = Gate(name); gate != Status::kSuccess) return gate

struct FakeDriver::Calls {
  static Status Init(unsigned) {
    GATE("cuInit");
    return fake->devices == 0 ? Status::kNoDevice : Status::kSuccess;
  }
  static Status DriverGetVersion(int* version) {
    *version = 12040;
    return Gate("cuDriverGetVersion");
  }
  static Status GetErrorName(Status status, const char** name) {
    if (status == Status::kNoDevice) return *name = "CUDA_ERROR_NO_DEVICE", Status::kSuccess;
    if (status == Status::kOutOfMemory) return *name = "CUDA_ERROR_OUT_OF_MEMORY", Status::kSuccess;
    if (status == Status::kEccUncorrectable) return *name = "CUDA_ERROR_ECC_UNCORRECTABLE", Status::kSuccess;
    return Status::kInvalidValue;
  }
  static Status DeviceGetCount(int* count) {
    *count = fake->devices;
    return Gate("cuDeviceGetCount");
  }
  static Status DeviceGet(DeviceOrdinal* device, int ordinal) {
    *device = ordinal;
    return ordinal < fake->devices ? Gate("cuDeviceGet") : Status::kInvalidDevice;
  }
  static Status DeviceGetName(char* name, int length, DeviceOrdinal) {
    std::snprintf(name, static_cast<std::size_t>(length), "NVIDIA A100-SXM4-40GB MIG 1g.5gb");
    return Gate("cuDeviceGetName");
  }
  static Status DeviceGetUuid_v2(Uuid* uuid, DeviceOrdinal device) {
    *uuid = {};
    uuid->bytes[15] = static_cast<char>(0xa0 + device);
    return Gate("cuDeviceGetUuid_v2");
  }
  static Status DeviceTotalMem_v2(std::size_t* bytes, DeviceOrdinal) {
    *bytes = fake->memory_bytes;
    return Gate("cuDeviceTotalMem_v2");
  }
  static Status DeviceGetAttribute(int* value, Attribute attribute, DeviceOrdinal) {
    *value = attribute == Attribute::kComputeMajor ? 8 : attribute == Attribute::kMultiprocessorCount ? 14 : 0;
    return Gate("cuDeviceGetAttribute");
  }
  static Status DeviceGetPCIBusId(char* text, int length, DeviceOrdinal) {
    std::snprintf(text, static_cast<std::size_t>(length), "0000:07:00.0");
    return Gate("cuDeviceGetPCIBusId");
  }
  static Status DevicePrimaryCtxRetain(Context* context, DeviceOrdinal) {
    GATE("cuDevicePrimaryCtxRetain");
    ++fake->contexts_;
    *context = nullptr;
    return Status::kSuccess;
  }
  static Status DevicePrimaryCtxRelease_v2(DeviceOrdinal) {
    --fake->contexts_;
    return Status::kSuccess;
  }
  static Status CtxSetCurrent(Context) { return Gate("cuCtxSetCurrent"); }
  static Status CtxSynchronize() { return Gate("cuCtxSynchronize"); }
  static Status MemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *free = *total = fake->memory_bytes;
    return Gate("cuMemGetInfo_v2");
  }
  static Status MemAlloc_v2(DevicePtr* pointer, std::size_t bytes) {
    GATE("cuMemAlloc_v2");
    if (bytes > fake->memory_bytes) return Status::kOutOfMemory;
    std::vector<char> memory(bytes);
    *pointer = reinterpret_cast<DevicePtr>(memory.data());
    fake->memory_[*pointer] = std::move(memory);
    return Status::kSuccess;
  }
  static Status MemFree_v2(DevicePtr pointer) {
    return fake->memory_.erase(pointer) == 1 ? Status::kSuccess : Status::kInvalidValue;
  }
  static Status MemcpyHtoD_v2(DevicePtr to, const void* from, std::size_t bytes) {
    GATE("cuMemcpyHtoD_v2");
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return Status::kSuccess;
  }
  static Status MemcpyDtoH_v2(void* to, DevicePtr from, std::size_t bytes) {
    GATE("cuMemcpyDtoH_v2");
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return Status::kSuccess;
  }
  static Status ModuleLoadData(Module* module, const void*) {
    GATE("cuModuleLoadData");
    ++fake->modules_;
    *module = reinterpret_cast<Module>(fake);
    return Status::kSuccess;
  }
  static Status ModuleUnload(Module) {
    --fake->modules_;
    return Status::kSuccess;
  }
  static Status ModuleGetFunction(Function* function, Module, const char* name) {
    GATE("cuModuleGetFunction");
    fake->functions_.emplace_back(name);
    *function = reinterpret_cast<Function>(fake->functions_.size());
    return Status::kSuccess;
  }
  static Status LaunchKernel(Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             Stream, void** parameters, void**) {
    GATE("cuLaunchKernel");
    const std::string& kernel = fake->functions_[reinterpret_cast<std::uintptr_t>(function) - 1];
    void* const output = Run(kernel, parameters);
    if (output == nullptr) return Status::kInvalidHandle;
    if (kernel == fake->wrong_kernel) *static_cast<std::uint32_t*>(output) ^= 1U;
    return Status::kSuccess;
  }
};

FakeDriver::FakeDriver() { fake = this; }
FakeDriver::~FakeDriver() { fake = nullptr; }

Functions FakeDriver::Table() const {
  Functions f;
#define GPUOP_FAKE(name, ...) \
  if constexpr (requires { &Calls::name; }) f.name = &Calls::name;
  [&]<class Calls>() { GPUOP_CUDA_FUNCTIONS(GPUOP_FAKE) }.template operator()<FakeDriver::Calls>();
#undef GPUOP_FAKE
  return f;
}

}  // namespace gpuop::gpu::cuda
