#pragma once
// The devices that this process sees, in CUDA's order.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "machine/cuda/driver/abi.h"
#include "machine/state/nodes.h"

namespace gpuop::machine::cuda {

struct Device {
  int ordinal = 0;
  Place place = {};  ///< of the machine
  layout::DeviceFacts facts = {};
  layout::GpuInstance instance{};    ///< with MIG: what the device is a part of
  std::string name = {}, uuid = {};  ///< "GPU-…" or "MIG-…"
  std::uint64_t total_bytes = 0;
  std::uint32_t sm_count = 0;
  bool ecc = false;
  std::uint32_t compute_mode = 0;

  int compute() const { return static_cast<int>(facts.compute_major * 10 + facts.compute_minor); }
};

/// The devices that the machine, the device nodes and CUDA_VISIBLE_DEVICES (nullopt: not set) leave. Documentation:
/// CUDA programming guide, "CUDA environment variables"; MIG user guide, "CUDA device enumeration": with MIG there is
/// one compute instance, the one that the variable names or the first.
std::vector<Device> VisibleToCuda(const layout::Machine& machine, const Nodes& nodes,
                                  const std::optional<std::string>& visible);

/// An attribute by its number in cuda.h; nullopt: no such attribute.
std::optional<int> AttributeOf(const Device& device, int attribute);

/// The 16 bytes of "GPU-xxxxxxxx-…" or "MIG-…".
Uuid UuidBytes(std::string_view uuid);
/// "0000:07:00.0"
std::string PciBusId(const Device& device);

/// The newest PTX version (95 for 9.5) that a driver of a CUDA version (13050) takes (PTX ISA, release notes).
int NewestPtx(std::uint32_t cuda_version);

}  // namespace gpuop::machine::cuda
