#include "operands/host/host_check.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "container/runtime/modify.h"
#include "gpu/driver_root.h"
#include "operands/host/host_driver.h"
#include "operands/host/kernel_module.h"

namespace gpuop::operands::host {
namespace {

using enum api::ReasonCode;

constexpr std::uint16_t kNvidia = 0x10de;
constexpr std::uint32_t kDisplayClass = 0x03;

bool Has(const os::Fs& fs, const std::string& path) { return os::Exists(fs, path).value_or(false); }

bool IsGpu(const os::PciDevice& device) { return device.vendor == kNvidia && device.class_code >> 16 == kDisplayClass; }

bool ForVirtualMachines(const std::string& driver) {
  return driver == "vfio-pci" || driver == "nvgrace_gpu_vfio_pci" || driver == "nvgrace-gpu-vfio-pci";
}

/// "550.163.01" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr …".
std::string ModuleVersion(const os::Fs& host) {
  const auto text = host.Read("/proc/driver/nvidia/version");
  if (!text) return {};
  const std::string_view line = Split(*text, '\n').front();
  for (const std::string_view word : Split(line, ' ')) {
    const bool version = word.find('.') != std::string_view::npos &&
                         std::ranges::all_of(word, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
    if (version) return std::string(word);
  }
  return {};
}

class Check {
 public:
  Check(const os::Fs& host, const os::Fs& driver) : host_(host), driver_(driver) {}

  HostState Run() {
    Hardware();
    state_.kernel = KernelRelease(host_);
    state_.module_loaded = ModuleLoaded(host_, "nvidia");
    const auto libraries = gpu::DriverLibrariesIn(driver_, "libnvidia-ml.so.1");
    const std::string library = libraries.empty() ? std::string() : libraries.front();
    if (!state_.module_loaded)
      NotLoaded(library);
    else
      Loaded(library);
    return std::move(state_);
  }

 private:
  void Add(api::ReasonCode code, std::string evidence) { state_.findings.push_back({code, std::move(evidence)}); }

  void Hardware() {
    const auto devices = os::ReadPciDevices(host_);
    if (!devices) return Add(kNoGpu, "/sys/bus/pci/devices: " + devices.error().text);
    bool any = false;
    for (const os::PciDevice& device : *devices) {
      if (!IsGpu(device)) continue;
      any = true;
      if (!ForVirtualMachines(device.driver)) state_.gpus.push_back(device.address);
    }
    if (!any && !ModuleLoaded(host_, "nvidia")) Add(kNoGpu, "/sys/bus/pci/devices: no display device of vendor 10de");
  }

  void NotLoaded(const std::string& library) {
    const std::string loaded = "/sys/module/nvidia is not there";
    const ModuleFile module = FindModule(host_, driver_, state_.kernel);
    if (!module.mismatch.empty()) return Add(kDriverKernelMismatch, module.mismatch);
    if (library.empty() && module.path.empty()) {
      if (!state_.gpus.empty() || state_.findings.empty())
        Add(kDriverMissing, loaded + ", nor are libnvidia-ml.so.1 and nvidia.ko anywhere they could be");
      return;
    }
    Add(kDriverNotLoaded,
        loaded + (module.path.empty() ? ", though " + library + " is" : ", though " + module.path + " is"));
  }

  void Loaded(const std::string& library) {
    state_.module_version = ModuleVersion(host_);
    if (library.empty())
      return Add(kDriverLibraryMissing, "no libnvidia-ml.so.1 beside the kernel module " + state_.module_version);
    const std::string version = LibraryVersion(library);
    if (!version.empty() && !state_.module_version.empty() && version != state_.module_version)
      Add(kDriverVersionMismatch,
          "/proc/driver/nvidia/version says " + state_.module_version + ", the library is " + library);
    Bus();
    Nodes();
  }

  /// Devices that are gone from the bus answer ones to everything; those that the driver did not take are told.
  void Bus() {
    for (const std::string& address : state_.gpus) {
      const std::string folder = "/sys/bus/pci/devices/" + address;
      const auto config = host_.ReadPart(folder + "/config", 0, 4);
      if (config && *config == "\xff\xff\xff\xff") Add(kGpuOffBus, address + ": its PCI configuration reads ff");
    }
    const auto known = host_.List("/proc/driver/nvidia/gpus");
    if (!known) return;
    for (const std::string& address : state_.gpus)
      if (std::ranges::find(*known, address) == known->end())
        Add(kGpuMissing, address + " is on the PCI bus and not in /proc/driver/nvidia/gpus");
  }

  void Nodes() {
    if (!Has(host_, "/dev/nvidiactl")) Add(kDeviceNodeMissing, "/dev/nvidiactl is not there");
    for (const container::GpuFacts& gpu : container::FactsFromProc(host_).gpus)
      if (const std::string node = "/dev/nvidia" + std::to_string(gpu.minor); !Has(host_, node))
        Add(kDeviceNodeMissing, node + " (GPU " + gpu.pci + ") is not there");
    if (!Has(host_, "/dev/nvidia-uvm"))
      Add(kUvmMissing, std::string("/dev/nvidia-uvm is not there; the module nvidia_uvm is ") +
                           (ModuleLoaded(host_, "nvidia_uvm") ? "loaded" : "not loaded"));
  }

  const os::Fs& host_;
  const os::Fs& driver_;
  HostState state_;
};

}  // namespace

std::vector<os::PciDevice> GpusOfVirtualMachines(const os::Fs& host) {
  std::vector<os::PciDevice> out = os::ReadPciDevices(host).value_or(std::vector<os::PciDevice>());
  std::erase_if(out, [](const os::PciDevice& device) { return !IsGpu(device) || !ForVirtualMachines(device.driver); });
  return out;
}

bool ModuleLoaded(const os::Fs& host, std::string_view module) {
  // A loaded module's folder is never empty; one that is may be a mount point that outlived it.
  if (const auto files = host.List("/sys/module/" + std::string(module)); files && !files->empty()) return true;
  const auto modules = host.Read("/proc/modules");
  if (!modules) return false;
  return std::ranges::any_of(Split(*modules, '\n'), [&](std::string_view line) {
    const auto pair = Cut(line, ' ');
    return pair && pair->first == module;
  });
}

HostState CheckHost(const os::Fs& host, const os::Fs& driver) { return Check(host, driver).Run(); }

}  // namespace gpuop::operands::host
