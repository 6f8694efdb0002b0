#pragma once
// What the files of a machine's host say: pure functions of its spec and its state.

#include <string>

#include "machine/host/tree.h"
#include "machine/spec/spec.h"
#include "machine/state/layout.h"

namespace gpuop::machine {

/// The files outside that a machine's tree takes in.
struct DriverFiles {
  std::string folder;   ///< where libnvidia-ml.so.1, libcuda.so.1 and libcudart.so.* of ours are
  std::string program;  ///< gpu-operator, which is nvidia-smi on the machine
  std::string state;    ///< the machine's state file
};

/// Whether anything of the driver is installed, and whether its kernel modules are loaded.
bool DriverInstalled(const Spec& spec, const layout::Machine& machine);
bool DriverLoaded(const Spec& spec, const layout::Machine& machine);

/// The version of the loaded kernel module: the driver's, unless the fault version-mismatch is there (the libraries
/// were updated and the module was not).
std::string LoadedVersion(const Spec& spec, const layout::Machine& machine);

/// The whole tree of a host, as it is now.
Tree RenderHost(const Spec& spec, const layout::Machine& machine, const DriverFiles& files);

// Its parts.
void RenderEtc(const Spec& spec, Tree& tree);
void RenderProc(const Spec& spec, const layout::Machine& machine, Tree& tree);
void RenderSysPci(const Spec& spec, const layout::Machine& machine, Tree& tree);
void RenderSysModules(const Spec& spec, const layout::Machine& machine, Tree& tree);
void RenderSysSystem(const Spec& spec, Tree& tree);
void RenderDev(const Spec& spec, const layout::Machine& machine, const DriverFiles& files, Tree& tree);
void RenderDriver(const Spec& spec, const layout::Machine& machine, const DriverFiles& files, Tree& tree);

/// "0-31,64-95": the CPUs of a mask of 256.
std::string CpuList(const std::array<std::uint64_t, 4>& mask);
/// "00000000,ffffffff": the same as sysfs writes masks, highest word first.
std::string CpuMask(const std::array<std::uint64_t, 4>& mask, std::uint32_t cpus);
/// "0000:07:00.0" of a device.
std::string AddressOf(const layout::DeviceFacts& facts);

/// A shared object with a name (SONAME) and nothing in it, for libraries that only need to be there.
std::string EmptyLibrary(std::string_view soname, bool arm);
/// A kernel module that modinfo(8) can read and nobody can load.
std::string KernelModuleFile(std::string_view name, std::string_view version, std::string_view vermagic,
                             std::string_view license, bool arm);

}  // namespace gpuop::machine
