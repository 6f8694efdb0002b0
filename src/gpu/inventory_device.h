#pragma once
// The parts of a device that are one NVML call each.

#include "gpu/inventory.h"
#include "gpu/nvml.h"

namespace gpuop::gpu {

/// Whether a failed call only means that this device or driver does not know the thing asked for, or that this process
/// may not ask. Any other failure makes the device unreadable.
bool IsAbsence(const Error& error);

/// What cannot change while a driver holds a GPU.
struct Identity {
  std::string product, brand, serial, board_part, vbios;
  std::optional<unsigned> minor;
  unsigned compute_major = 0, compute_minor = 0;
  Virtualization virtualization = Virtualization::kNone;
  Addressing addressing = Addressing::kUnknown;
};
/// Fills place and UUID, by which a GPU is known. Errors that are no absence end up in `unreadable`, as below.
void ReadPlace(const Nvml& nvml, nvml::Device handle, Device& device);
Identity ReadIdentity(const Nvml& nvml, nvml::Device handle, Device& device);
/// Fills memory and the small switches.
void ReadState(const Nvml& nvml, nvml::Device handle, Device& device);
/// Fills `links`. Of those that were up in `before` only the state is asked for again.
void ReadLinks(const Nvml& nvml, nvml::Device handle, const std::vector<NvLink>& before, Device& device);
/// Fills `fabric`.
void ReadFabric(const Nvml& nvml, nvml::Device handle, Device& device);
ConfidentialComputing ReadConfidentialComputing(const Nvml& nvml);

}  // namespace gpuop::gpu
