#pragma once
// What starts, resets and reboots do to a machine's devices, and what of them survives.

#include <cstdint>

#include "base/result.h"
#include "machine/state/state.h"

namespace gpuop::machine {

/// Gives a device the figures (clocks, power, temperature, utilisation) of one that does nothing, or of one whose
/// processes keep `percent` of it busy. Faults keep showing.
void Idle(layout::Device& device);
void Busy(layout::Device& device, std::uint32_t percent);
/// One or the other, by the device's clients.
void Settle(layout::Machine& machine, std::uint32_t device);

/// Resets a GPU: pending MIG and ECC modes and row remappings take effect, instances and volatile counters go, faults
/// that a reset cures are over. kConflict while a process uses it, as `nvidia-smi --gpu-reset` refuses.
Result<> ResetDevice(State& state, layout::Machine& machine, std::uint32_t device);

/// The machine goes down and comes up again: all contexts end, every device starts anew. MIG mode survives where the
/// model keeps it (Ampere); instances never do.
void Reboot(layout::Machine& machine);

/// The energy a device has used until now, in mJ.
std::uint64_t EnergyMillijoules(const layout::Device& device);
/// Sets its power draw; the energy counts on from here.
void SetPower(layout::Device& device, std::uint32_t milliwatts);

}  // namespace gpuop::machine
