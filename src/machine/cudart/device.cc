// Devices, limits, versions.

#include "machine/cudart/device.h"

#include <cstring>

#include "machine/cudart/driver.h"

namespace gpuop::machine::cudart {
namespace {

constexpr int kRuntimeVersion = 13000;

void FillLimits(DeviceProperties& p, auto value) {
  p.shared_per_block = static_cast<std::size_t>(value(8));
  p.registers_per_block = value(12), p.warp_size = value(10);
  p.pitch = static_cast<std::size_t>(value(11));
  p.threads_per_block = value(1);
  for (int i = 0; i < 3; ++i) p.block[i] = value(2 + i), p.grid[i] = value(5 + i);
  p.const_memory = static_cast<std::size_t>(value(9));
  p.texture_alignment = static_cast<std::size_t>(value(14));
  p.texture_pitch_alignment = static_cast<std::size_t>(value(51));
  p.texture1d = value(21), p.texture1d_mipmap = value(77);
  for (int i = 0; i < 2; ++i) p.texture2d[i] = value(22 + i), p.texture2d_mipmap[i] = value(73 + i);
  for (int i = 0; i < 3; ++i) p.texture2d_linear[i] = value(70 + i), p.texture3d[i] = value(24 + i);
  for (int i = 0; i < 3; ++i) p.texture2d_layered[i] = value(27 + i);
  for (int i = 0; i < 2; ++i) p.texture1d_layered[i] = value(42 + i), p.surface2d[i] = value(56 + i);
  p.cubemap = value(52), p.surface1d = value(55), p.surface_alignment = static_cast<std::size_t>(value(30));
  for (int i = 0; i < 3; ++i) p.surface3d[i] = value(58 + i);
  p.shared_per_multiprocessor = static_cast<std::size_t>(value(81));
  p.shared_per_block_optin = static_cast<std::size_t>(value(97));
  p.reserved_shared_per_block = static_cast<std::size_t>(value(111));
  p.registers_per_multiprocessor = value(82), p.threads_per_multiprocessor = value(39);
  p.blocks_per_multiprocessor = value(106);
}

void FillAbilities(DeviceProperties& p, auto value) {
  p.major = value(75), p.minor = value(76), p.multiprocessors = value(16), p.integrated = value(18);
  p.can_map_host = value(19), p.concurrent_kernels = value(31), p.ecc = value(32), p.pci_bus = value(33);
  p.pci_device = value(34), p.pci_domain = value(50), p.tcc = value(35), p.async_engines = value(40);
  p.unified_addressing = value(41), p.memory_bus_width = value(37), p.l2_bytes = value(38);
  p.stream_priorities = value(78), p.global_l1 = value(79), p.local_l1 = value(80), p.managed_memory = value(83);
  p.multi_gpu_board = value(84), p.host_native_atomic = value(86), p.pageable_access = value(88);
  p.concurrent_managed_access = value(89), p.compute_preemption = value(90);
  p.host_pointer_for_registered = value(91), p.cooperative_launch = value(95), p.host_register = value(99);
  p.memory_pools = value(115), p.cluster_launch = value(120), p.numa_id = value(131), p.host_numa_id = value(134);
  p.pci_device_id = static_cast<unsigned>(value(139)), p.pci_subsystem_id = static_cast<unsigned>(value(140));
}

}  // namespace

GPUOP_CUDART Error cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return Record(kInvalidValue);
  *version = kRuntimeVersion;
  return 0;
}
/// 0 without a driver.
GPUOP_CUDART Error cudaDriverGetVersion(int* version) {
  if (version == nullptr) return Record(kInvalidValue);
  *version = 0;
  const Driver* driver = FindDriver();
  return driver == nullptr ? 0 : Record(driver->DriverGetVersion(version));
}
GPUOP_CUDART Error cudaGetDeviceCount(int* count) {
  if (count == nullptr) return Record(kInvalidValue);
  *count = 0;
  return WithDriver([&](const Driver& driver) { return driver.DeviceGetCount(count); });
}
GPUOP_CUDART Error cudaGetDevice(int* device) {
  if (device == nullptr) return Record(kInvalidValue);
  return WithDriver([&](const Driver&) {
    *device = CurrentDevice();
    return Cu::kSuccess;
  });
}
GPUOP_CUDART Error cudaInitDevice(int device, unsigned, unsigned) {
  return WithDriver([&](const Driver& driver) {
    void* context = nullptr;
    return driver.DevicePrimaryCtxRetain(&context, device);
  });
}
GPUOP_CUDART Error cudaSetDeviceFlags(unsigned flags) {
  return WithDriver([&](const Driver& driver) { return driver.DevicePrimaryCtxSetFlags(CurrentDevice(), flags); });
}
GPUOP_CUDART Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceGetAttribute(value, attribute, device); });
}
GPUOP_CUDART Error cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  if (properties == nullptr) return Record(kInvalidValue);
  return WithDriver([&](const Driver& driver) {
    std::memset(properties, 0, sizeof *properties);
    if (const Cu rc = driver.DeviceGetName(properties->name, 256, device); rc != Cu::kSuccess) return rc;
    driver.DeviceGetUuid(&properties->uuid, device);
    driver.DeviceTotalMem(&properties->total_memory, device);
    const auto value = [&](int attribute) {
      int got = 0;
      driver.DeviceGetAttribute(&got, attribute, device);
      return got;
    };
    FillLimits(*properties, value);
    FillAbilities(*properties, value);
    return Cu::kSuccess;
  });
}
GPUOP_CUDART Error cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceGetPCIBusId(text, length, device); });
}
GPUOP_CUDART Error cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceGetByPCIBusId(device, text); });
}
GPUOP_CUDART Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceCanAccessPeer(can, device, peer); });
}
GPUOP_CUDART Error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return WithDevice([&](const Driver& driver) {
    void* context = nullptr;
    const Cu rc = driver.DevicePrimaryCtxRetain(&context, peer);
    return rc != Cu::kSuccess ? rc : driver.CtxEnablePeerAccess(context, flags);
  });
}
GPUOP_CUDART Error cudaDeviceDisablePeerAccess(int peer) {
  return WithDevice([&](const Driver& driver) {
    void* context = nullptr;
    const Cu rc = driver.DevicePrimaryCtxRetain(&context, peer);
    return rc != Cu::kSuccess ? rc : driver.CtxDisablePeerAccess(context);
  });
}
GPUOP_CUDART Error cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceGetP2PAttribute(value, attribute, from, to); });
}
GPUOP_CUDART Error cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return Record(kInvalidValue);
  return WithDriver([&](const Driver& driver) {
    int active = 0;
    return driver.DevicePrimaryCtxGetState(CurrentDevice(), flags, &active);
  });
}
/// Every device does; the first is chosen, as without a preference.
GPUOP_CUDART Error cudaChooseDevice(int* device, const DeviceProperties* wanted) {
  if (device == nullptr || wanted == nullptr) return Record(kInvalidValue);
  return WithDriver([&](const Driver&) {
    *device = 0;
    return Cu::kSuccess;
  });
}
GPUOP_CUDART Error cudaDeviceSynchronize() {
  return WithDevice([](const Driver& driver) { return driver.CtxSynchronize(); });
}
GPUOP_CUDART Error cudaDeviceSetLimit(int limit, std::size_t value) {
  return WithDevice([&](const Driver& driver) { return driver.CtxSetLimit(limit, value); });
}
GPUOP_CUDART Error cudaDeviceGetLimit(std::size_t* value, int limit) {
  return WithDevice([&](const Driver& driver) { return driver.CtxGetLimit(value, limit); });
}
GPUOP_CUDART Error cudaDeviceSetCacheConfig(int) {
  return WithDevice([](const Driver&) { return Cu::kSuccess; });
}
GPUOP_CUDART Error cudaDeviceGetCacheConfig(int* config) {
  if (config == nullptr) return Record(kInvalidValue);
  *config = 0;  // cudaFuncCachePreferNone
  return 0;
}
GPUOP_CUDART Error cudaDeviceSetSharedMemConfig(int) {
  return WithDevice([](const Driver&) { return Cu::kSuccess; });
}
GPUOP_CUDART Error cudaDeviceGetSharedMemConfig(int* config) {
  if (config == nullptr) return Record(kInvalidValue);
  *config = 1;  // cudaSharedMemBankSizeFourByte: all that there has been since Maxwell
  return 0;
}
GPUOP_CUDART Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return WithDevice([&](const Driver& driver) { return driver.CtxGetStreamPriorityRange(least, greatest); });
}
/// A driver's entry point by its name; statuses are cudaDriverEntryPointQueryResult, which are the driver's.
GPUOP_CUDART Error cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                    unsigned long long flags, int* status) {
  return WithDriver([&](const Driver& driver) {
    return driver.GetProcAddress(name, function, static_cast<int>(version), flags, status);
  });
}
GPUOP_CUDART Error cudaProfilerStart() { return 0; }
GPUOP_CUDART Error cudaProfilerStop() { return 0; }

}  // namespace gpuop::machine::cudart
