#pragma once

#include "machine/cuda/driver/abi.h"

namespace gpuop::machine::cudart {

/// cudaDeviceProp of CUDA 13. e2e/cuda holds it to NVIDIA's driver_types.h.
struct DeviceProperties {
  char name[256];
  cuda::Uuid uuid;
  char luid[8];
  unsigned luid_node_mask;
  std::size_t total_memory, shared_per_block;
  int registers_per_block, warp_size;
  std::size_t pitch;
  int threads_per_block, block[3], grid[3];
  std::size_t const_memory;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host;
  int texture1d, texture1d_mipmap, texture2d[2], texture2d_mipmap[2], texture2d_linear[3], texture2d_gather[2];
  int texture3d[3], texture3d_alt[3], cubemap, texture1d_layered[2], texture2d_layered[3], cubemap_layered[2];
  int surface1d, surface2d[2], surface3d[3], surface1d_layered[2], surface2d_layered[3], surface_cubemap;
  int surface_cubemap_layered[2];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
  int memory_bus_width, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor, stream_priorities;
  int global_l1, local_l1;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, multi_gpu_board, multi_gpu_group, host_native_atomic;
  int pageable_access, concurrent_managed_access, compute_preemption, host_pointer_for_registered, cooperative_launch;
  std::size_t shared_per_block_optin;
  int pageable_uses_host_tables, direct_managed_access, blocks_per_multiprocessor, access_window;
  std::size_t reserved_shared_per_block;
  int host_register, sparse_array, read_only_register, timeline_semaphore, memory_pools, gpu_direct;
  unsigned gpu_direct_flush;
  int gpu_direct_ordering;
  unsigned pool_handle_types;
  int deferred_mapping, ipc_event, cluster_launch, unified_function_pointers, numa_config, numa_id, mps;
  int host_numa_id;
  unsigned pci_device_id, pci_subsystem_id;
  int host_numa_multinode_ipc;
  int reserved[56];
};

}  // namespace gpuop::machine::cudart
