#pragma once

#include <string>
#include <vector>

#include "api/chain.h"
#include "os/fs.h"
#include "os/pci.h"

namespace gpuop::operands::host {

/// What a host's files say of its GPUs and their driver; no driver is asked, so nothing can hang.
struct HostState {
  /// PCI addresses of NVIDIA's GPUs, without those that are handed to virtual machines.
  std::vector<std::string> gpus;
  bool module_loaded = false;
  /// As the kernel module says.
  std::string module_version;
  /// "5.15.0-1059-nvidia"; empty when /proc does not say.
  std::string kernel;
  /// What is broken, the first thing first.
  std::vector<api::Finding> findings;
};

/// Looks at PCI, kernel module, libraries (in the tree `driver`, which may be the host's own) and device nodes of
/// `host`.
HostState CheckHost(const os::Fs& host, const os::Fs& driver);

/// NVIDIA's GPUs that are handed to virtual machines: bound to vfio-pci or its kin.
std::vector<os::PciDevice> GpusOfVirtualMachines(const os::Fs& host);

/// Whether a module of that very name is loaded.
bool ModuleLoaded(const os::Fs& host, std::string_view module);

}  // namespace gpuop::operands::host
