#pragma once
// What the parts of FakeNvml share: handles, and the gate that every call passes. For nvml_fake*.cc alone.

#include <cstdint>

#include "gpu/nvml_fake.h"

namespace gpuop::gpu::fake_nvml {

using nvml::Return;

/// The one there is.
extern FakeNvml* fake;

// Handles carry what they mean in their bits, so that none has to be kept: a GPU's number + 1, and for instances their
// ids above it.
inline std::uintptr_t Bits(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }
inline constexpr std::uintptr_t kMigBit = 0x80, kIdShift = 8;

template <class T>
T MakeHandle(std::size_t gpu, std::uintptr_t ids, std::uintptr_t bits) {
  return reinterpret_cast<T>((gpu + 1) | bits | ids << kIdShift);
}

inline FakeGpu* GpuOf(const void* handle) {
  const std::uintptr_t number = Bits(handle) & (kMigBit - 1);
  return number == 0 || number > fake->gpus.size() ? nullptr : &fake->gpus[number - 1];
}

inline FakeGpu::Instance* InstanceOf(const void* handle) {
  FakeGpu* const gpu = GpuOf(handle);
  if (gpu == nullptr) return nullptr;
  const unsigned id = (Bits(handle) >> kIdShift) & 0xff;
  for (FakeGpu::Instance& instance : gpu->instances)
    if (instance.id == id) return &instance;
  return nullptr;
}

inline unsigned ComputeIdOf(const void* handle) { return (Bits(handle) >> (kIdShift + 8)) & 0xff; }
inline bool IsMig(const void* handle) { return (Bits(handle) & kMigBit) != 0; }

inline std::size_t NumberOf(const void* handle) { return (Bits(handle) & (kMigBit - 1)) - 1; }

/// Fails as the test asked, before anything else.
Return Gate(const char* function, const void* handle = nullptr);

/// Fills in the functions by which MIG is changed and its profiles are described.
void AddMigFunctions(nvml::Functions& functions);

}  // namespace gpuop::gpu::fake_nvml

#define GATE(...) \
  if (const Return gate = Gate(__VA_ARGS__); gate != Return::kSuccess) return gate
