#include "operands/validator/gpu_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "gpu/inventory_reader.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;
using F = gpu::nvml::Functions;
namespace nvml = gpu::nvml;

constexpr unsigned long long kHeat =
    nvml::kClocksEventReasonSwThermalSlowdown | nvml::kClocksThrottleReasonHwThermalSlowdown;

std::string Called(const gpu::Device& device) {
  return fmt::format("GPU {} ({})", device.index, device.uuid.empty() ? device.pci.Sysfs() : device.uuid);
}

api::ReasonCode CodeOfUnreadable(std::string_view text) {
  const auto says = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (says("INSUFFICIENT_POWER")) return kGpuPower;
  if (says("RESET_REQUIRED")) return kGpuNeedsReset;
  if (says("GPU_IS_LOST")) return kGpuLost;
  return kDriverFailed;
}

/// One GPU's health, by questions that every driver of today answers; what one does not know is passed over.
class Health {
 public:
  Health(const gpu::Nvml& nvml, nvml::Device handle, const gpu::Device& device, std::vector<api::Finding>& out)
      : nvml_(nvml), handle_(handle), device_(device), out_(out) {}

  void Read() {
    Fabric();
    Memory();
    Pcie();
    Clocks();
  }

 private:
  void Add(api::ReasonCode code, std::string_view evidence) {
    out_.push_back({code, fmt::format("{}: {}", Called(device_), evidence)});
  }

  void Fabric() {
    using State = gpu::Fabric::State;
    const gpu::Fabric& fabric = device_.fabric;
    if (fabric.state == State::kNotStarted) Add(kFabricNotReady, "fabric registration has not begun");
    if (fabric.state == State::kInProgress) Add(kFabricNotReady, "fabric registration is in progress");
    if (fabric.state == State::kCompleted && !fabric.status.empty() && fabric.status != "NVML_SUCCESS")
      Add(kFabricNotReady, "fabric registration ended with " + fabric.status);
  }

  void Memory() {
    const auto ecc = nvml_.Get(&F::DeviceGetTotalEccErrors, handle_, nvml::MemoryErrorType::kUncorrected,
                               nvml::EccCounterType::kVolatileEcc);
    if (ecc && *ecc > 0) Add(kEccUncorrected, fmt::format("{} uncorrected since the driver was loaded", *ecc));
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (nvml_.Try(&F::DeviceGetRemappedRows, handle_, &corrected, &uncorrected, &pending, &failed) !=
        nvml::Return::kSuccess)
      return;
    if (failed != 0) Add(kRowRemapFailed, "NVML: row remapping has failed");
    if (pending != 0) Add(kRowRemapPending, "NVML: row remapping is pending");
  }

  void Pcie() {
    const auto now = nvml_.Get(&F::DeviceGetCurrPcieLinkWidth, handle_);
    const auto most = nvml_.Get(&F::DeviceGetMaxPcieLinkWidth, handle_);
    if (now && most && *now != 0 && *now < *most) Add(kPcieDegraded, fmt::format("PCIe x{} of x{}", *now, *most));
  }

  void Clocks() {
    auto reasons = nvml_.Get(&F::DeviceGetCurrentClocksEventReasons, handle_);
    if (!reasons) reasons = nvml_.Get(&F::DeviceGetCurrentClocksThrottleReasons, handle_);
    if (!reasons) return;
    if ((*reasons & kHeat) != 0) {
      const auto degrees = nvml_.Get(&F::DeviceGetTemperature, handle_, nvml::TemperatureSensors::kGpu);
      Add(kThermalSlowdown, degrees ? fmt::format("{} degrees, clock reasons {:#x}", *degrees, *reasons)
                                    : fmt::format("clock reasons {:#x}", *reasons));
    }
    if ((*reasons & nvml::kClocksThrottleReasonHwPowerBrakeSlowdown) != 0)
      Add(kPowerBrake, fmt::format("clock reasons {:#x}", *reasons));
  }

  const gpu::Nvml& nvml_;
  const nvml::Device handle_;
  const gpu::Device& device_;
  std::vector<api::Finding>& out_;
};

std::ptrdiff_t ActiveLinks(const gpu::Device& device) {
  return std::ranges::count(device.links, true, &gpu::NvLink::active);
}

/// Links that its equals have up and a GPU has not. Which links a board connects nobody tells; its neighbours show it.
void CheckLinks(const gpu::Inventory& inventory, std::vector<api::Finding>& out) {
  std::map<std::string, std::ptrdiff_t> usual;
  for (const gpu::Device& device : inventory.devices)
    usual[device.product] = std::max(usual[device.product], ActiveLinks(device));
  for (const gpu::Device& device : inventory.devices) {
    const std::ptrdiff_t up = ActiveLinks(device);
    if (!device.unreadable.empty() || up == usual[device.product]) continue;
    std::string down;
    for (const gpu::NvLink& link : device.links)
      if (!link.active) down += fmt::format("{}{}", down.empty() ? "" : ", ", link.link);
    out.push_back({kNvlinkDown, fmt::format("{}: {} of {} NVLinks are up; down: {}", Called(device), up,
                                            usual[device.product], down.empty() ? "not told" : down)});
  }
}

GpuState StateOf(const gpu::Device& device) {
  return {.index = device.index,
          .uuid = device.uuid,
          .pci = device.pci.Sysfs(),
          .product = device.product,
          .mig = device.mig.enabled,
          .awake = device.persistence,
          .unreadable = device.unreadable};
}

}  // namespace

api::Finding FindingOf(const Error& error) {
  const auto says = [&](std::string_view word) { return error.text.find(word) != std::string::npos; };
  if (says("LIB_RM_VERSION_MISMATCH")) return {kDriverVersionMismatch, error.text};
  if (says("DRIVER_NOT_LOADED")) return {kDriverNotLoaded, error.text};
  if (error.code == Code::kNotFound) return {kDriverLibraryMissing, error.text};
  if (error.code == Code::kTimeout) return {kDriverHung, error.text};
  return {kDriverFailed, error.text};
}

Result<DriverState> AskDriver(const gpu::Nvml& nvml) {
  ASSIGN(const gpu::Inventory inventory, gpu::InventoryReader(nvml).Read());
  ASSIGN(const auto handles, nvml.Devices());
  DriverState out;
  out.driver_version = inventory.driver_version;
  for (std::size_t i = 0; i < inventory.devices.size(); ++i) {
    const gpu::Device& device = inventory.devices[i];
    const nvml::Device handle = i < handles.size() ? handles[i].device : nullptr;
    out.gpus.push_back(StateOf(device));
    if (!device.unreadable.empty())
      out.findings.push_back({CodeOfUnreadable(device.unreadable), Called(device) + ": " + device.unreadable});
    else if (handle != nullptr)
      Health(nvml, handle, device, out.findings).Read();
  }
  CheckLinks(inventory, out.findings);
  return out;
}

}  // namespace gpuop::operands::validator
