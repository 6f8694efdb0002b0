#include "operands/validator/sandbox.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "gpu/driver_root.h"
#include "kube/types/node.h"
#include "operands/validator/components.h"
#include "operands/validator/probe.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

constexpr std::uint16_t kNvidia = 0x10de;
constexpr const char* kWorkloadLabel = "nvidia.com/gpu.workload.config";
bool IsGpu(const os::PciDevice& device) { return device.vendor == kNvidia && device.class_code >> 16 == 0x03; }

std::int64_t NumberIn(const os::Fs& host, const std::string& path) {
  const auto text = host.Read(path);
  return text ? ParseInt(Trim(*text)).value_or(0) : 0;
}

bool IsWorkload(std::string_view word) { return word == "container" || word == "vm-passthrough" || word == "vm-vgpu"; }

/// Files of the kernel are the same in every container.
const os::Fs& Kernel(const Surroundings& with) { return with.host != nullptr ? *with.host : with.own; }

/// The node's workload, told to the others in `workload-type`.
Result<std::string> TakeWorkload(const Surroundings& with) {
  if (with.client == nullptr) return Fail(Code::kUnavailable, with.api_error);
  ASSIGN(const kube::Node node, with.client->Get<kube::Node>(with.options.node));
  std::string workload = WorkloadOf(node.meta.labels.Get(kWorkloadLabel), with.options.default_workload);
  TRY(with.files.Write("workload-type", workload + "\n"));
  return workload;
}

/// Asks a vGPU manager's NVML; nullopt when it answers.
std::optional<api::Finding> AskManager(const Surroundings& with, const std::vector<std::string>& libraries) {
  const DriverState state = AskDriverInChild(with.processes, libraries, with.options.driver_limit, with.stop);
  if (const api::Finding* const first = api::FirstBroken(state.findings); first != nullptr)
    return api::Finding{kVgpuManagerNotReady, first->evidence};
  return std::nullopt;
}

/// A manager of the host, or else one in a container. `file` is the status file of the one that works.
std::optional<api::Finding> LookAtManager(const Surroundings& with, std::string& file) {
  std::optional<api::Finding> found =
      api::Finding{kVgpuManagerNotReady, "no libnvidia-ml.so.1 on the host or in " + with.options.driver_install_dir};
  for (const auto& [root, name] : {std::pair("/host", "host-vgpu-manager-ready"),
                                   std::pair(with.options.driver_install_dir_ctr.c_str(), "vgpu-manager-ready")}) {
    const auto libraries = gpu::DriverLibraryCandidates(root, "libnvidia-ml.so.1");
    if (libraries.empty()) continue;
    found = AskManager(with, libraries);
    file = name;
    if (!found) return CheckVgpuHost(Kernel(with));
  }
  return found;
}

Result<> ValidateVgpuManager(const Surroundings& with) {
  std::string file = "vgpu-manager-ready";
  TRY(with.files.Remove("host-vgpu-manager-ready"));
  TRY(WaitUntilRight(with, file, {"/host/sys/bus/mdev/devices", with.options.driver_install_dir_ctr},
                     [&] { return LookAtManager(with, file); }));
  return with.files.Write(file);
}

Result<> ValidateCcManager(const Surroundings& with) {
  bool capable = false;
  if (with.client != nullptr && !with.options.node.empty()) {
    ASSIGN(const kube::Node node, with.client->Get<kube::Node>(with.options.node));
    capable = node.meta.labels.Get("nvidia.com/cc.capable") == "true";
  } else if (with.client == nullptr) {
    return Fail(Code::kUnavailable, with.api_error);
  }
  const std::string file = with.files.PathOf(".cc-manager-ctr-ready");
  if (capable)
    TRY(WaitUntilRight(with, "cc-manager-ready", {file}, [&]() -> std::optional<api::Finding> {
      if (with.files.Has(".cc-manager-ctr-ready")) return std::nullopt;
      return api::Finding{kConfidentialModeNotSet, file + " is not there"};
    }));
  return with.files.Write("cc-manager-ready");
}

}  // namespace

std::string WorkloadOf(std::string_view label, std::string_view default_workload) {
  if (IsWorkload(label)) return std::string(label);
  return IsWorkload(default_workload) ? std::string(default_workload) : "vm-passthrough";
}

std::vector<VirtualFunctions> ReadVirtualFunctions(const os::Fs& host) {
  std::vector<VirtualFunctions> out;
  for (const os::PciDevice& device : os::ReadPciDevices(host).value_or(std::vector<os::PciDevice>())) {
    const std::string folder = "/sys/bus/pci/devices/" + device.address;
    const std::int64_t most = IsGpu(device) ? NumberIn(host, folder + "/sriov_totalvfs") : 0;
    if (most > 0) out.push_back({device.address, NumberIn(host, folder + "/sriov_numvfs"), most});
  }
  return out;
}

bool VirtualFunctionsInUse(const std::vector<VirtualFunctions>& functions) {
  return std::ranges::any_of(functions, [](const VirtualFunctions& f) { return f.made > 0; });
}

bool VirtualFunctionsReady(const std::vector<VirtualFunctions>& functions) {
  return !functions.empty() &&
         std::ranges::all_of(functions, [](const VirtualFunctions& f) { return f.made == f.most; });
}

std::optional<api::Finding> CheckVfio(const os::Fs& host) {
  const auto devices = os::ReadPciDevices(host);
  if (!devices) return api::Finding{kVfioNotBound, devices.error().text};
  for (const os::PciDevice& device : *devices) {
    if (!IsGpu(device) || device.driver == "vfio-pci" || device.driver == "nvgrace_gpu_vfio_pci") continue;
    return api::Finding{kVfioNotBound,
                        device.address + " is bound to " + (device.driver.empty() ? "no driver" : device.driver)};
  }
  return std::nullopt;
}

std::optional<api::Finding> CheckVgpuHost(const os::Fs& host) {
  const auto functions = ReadVirtualFunctions(host);
  if (VirtualFunctionsInUse(functions)) {
    for (const VirtualFunctions& f : functions)
      if (f.made != f.most)
        return api::Finding{kVgpuManagerNotReady,
                            fmt::format("{}: {} of {} virtual functions are there", f.address, f.made, f.most)};
    return std::nullopt;
  }
  if (const auto parents = host.List("/sys/class/mdev_bus"); parents && !parents->empty()) return std::nullopt;
  return api::Finding{kVgpuManagerNotReady, "neither virtual functions nor parents of mediated devices are there"};
}

std::optional<api::Finding> CheckVgpuDevices(const os::Fs& host) {
  if (const auto devices = host.List("/sys/bus/mdev/devices"); devices && !devices->empty()) return std::nullopt;
  return api::Finding{kVgpuDevicesMissing, "/sys/bus/mdev/devices is empty"};
}

Result<> ValidateSandbox(const Surroundings& with) {
  const Component component = with.options.component;
  if (component == Component::kCcManager) return ValidateCcManager(with);
  const std::string ready = std::string(Name(component)) + "-ready";
  ASSIGN(const std::string workload, TakeWorkload(with));
  if (workload != (component == Component::kVfioPci ? "vm-passthrough" : "vm-vgpu")) {
    with.log.Info("nothing to validate", {{"workload", workload}});
    return with.files.Remove(ready);
  }
  if (component == Component::kVgpuManager) return ValidateVgpuManager(with);
  TRY(WaitUntilRight(with, ready, {"/host/sys/bus/pci/drivers/vfio-pci", "/host/sys/bus/mdev/devices"}, [&] {
    return component == Component::kVfioPci ? CheckVfio(Kernel(with)) : CheckVgpuDevices(Kernel(with));
  }));
  return with.files.Write(ready);
}

}  // namespace gpuop::operands::validator
