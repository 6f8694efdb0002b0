// What requirement expressions are judged by: the driver, and the GPUs that a container gets.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "container/runtime/modify.h"
#include "container/version.h"

namespace gpuop::container {
namespace {

/// The chips behind a PCI device number, by its upper byte.
struct Chip {
  unsigned high;
  std::string_view compute_capability;
};
constexpr std::array kChips = {Chip{0x1d, "7.0"},  Chip{0x1e, "7.5"},  Chip{0x1f, "7.5"},  Chip{0x20, "8.0"},
                               Chip{0x21, "7.5"},  Chip{0x22, "8.6"},  Chip{0x23, "9.0"},  Chip{0x24, "8.6"},
                               Chip{0x25, "8.6"},  Chip{0x26, "8.9"},  Chip{0x27, "8.9"},  Chip{0x28, "8.9"},
                               Chip{0x29, "10.0"}, Chip{0x2b, "12.0"}, Chip{0x2c, "12.0"}, Chip{0x2d, "12.0"},
                               Chip{0x2e, "12.1"}, Chip{0x2f, "12.0"}, Chip{0x31, "10.3"}};

std::string_view ComputeCapability(unsigned pci_device) {
  const auto* it = std::ranges::find(kChips, pci_device >> 8U, &Chip::high);
  return it == kChips.end() ? std::string_view() : it->compute_capability;
}

/// NVML's brand in the words of requirement expressions. A "Tesla" is called tesla by older drivers and nvidia by newer
/// ones, so its brand is not judged.
std::string_view Brand(std::string_view model) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {{{"GeForce RTX", "geforcertx"},
                                                                                    {"GeForce", "geforce"},
                                                                                    {"TITAN RTX", "titanrtx"},
                                                                                    {"TITAN", "titan"},
                                                                                    {"Quadro RTX", "quadrortx"},
                                                                                    {"Quadro", "quadro"},
                                                                                    {"NVIDIA RTX", "nvidiartx"}}};
  for (const auto& [part, brand] : kNames)
    if (model.contains(part)) return brand;
  return model.starts_with("NVIDIA ") ? "nvidia" : "";
}

bool Wanted(const GpuFacts& gpu, const std::vector<std::string>& devices) {
  return std::ranges::any_of(devices, [&](const std::string& device) {
    if (device == "all" || device == gpu.uuid) return true;
    return device.substr(0, device.find(':')) == std::to_string(gpu.index);
  });
}

}  // namespace

std::vector<Properties> PropertiesOf(const MachineFacts& machine, const std::string& driver_version,
                                     const std::vector<std::string>& devices) {
  Properties common;
  if (!driver_version.empty()) common.emplace_back("driver", driver_version);
  if (std::string cuda = CudaOfDriver(driver_version); !cuda.empty()) common.emplace_back("cuda", std::move(cuda));
  std::vector<Properties> out;
  for (const GpuFacts& gpu : machine.gpus) {
    if (!Wanted(gpu, devices)) continue;
    Properties own = common;
    if (const std::string_view arch = ComputeCapability(gpu.pci_device); !arch.empty()) own.emplace_back("arch", arch);
    if (const std::string_view brand = Brand(gpu.model); !brand.empty()) own.emplace_back("brand", brand);
    if (std::ranges::find(out, own) == out.end()) out.push_back(std::move(own));
  }
  if (out.empty()) out.push_back(std::move(common));
  return out;
}

}  // namespace gpuop::container
