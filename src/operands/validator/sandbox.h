#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/chain.h"
#include "os/fs.h"
#include "os/pci.h"

namespace gpuop::operands::validator {

/// What a node's GPUs work for: its label nvidia.com/gpu.workload.config, or what is the default; where neither is one
/// of the three words, vm-passthrough.
std::string WorkloadOf(std::string_view label, std::string_view default_workload);

/// One of a GPU's physical functions that can make virtual ones.
struct VirtualFunctions {
  std::string address;
  std::int64_t made = 0, most = 0;
};
std::vector<VirtualFunctions> ReadVirtualFunctions(const os::Fs& host);
/// Whether any GPU has virtual functions, and whether all that can be made are there.
bool VirtualFunctionsInUse(const std::vector<VirtualFunctions>& functions);
bool VirtualFunctionsReady(const std::vector<VirtualFunctions>& functions);

/// Which GPU is not bound to vfio-pci; nullopt when all are.
std::optional<api::Finding> CheckVfio(const os::Fs& host);
/// Whether virtual GPUs can be made: by virtual functions where they are used, otherwise by mediated devices.
std::optional<api::Finding> CheckVgpuHost(const os::Fs& host);
/// Whether there is a virtual GPU.
std::optional<api::Finding> CheckVgpuDevices(const os::Fs& host);

}  // namespace gpuop::operands::validator
