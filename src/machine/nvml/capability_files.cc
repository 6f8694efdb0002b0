#include "machine/nvml/capability_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "machine/state/nodes.h"

namespace gpuop::machine::nvml {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNodes = "/dev/nvidia-caps";
constexpr const char* kProc = "/proc/driver/nvidia/capabilities";

std::string InstanceFolder(const layout::DeviceFacts& facts, std::uint32_t gpu_instance) {
  return std::string(kProc) + "/gpu" + std::to_string(facts.minor) + "/mig/gi" + std::to_string(gpu_instance);
}

std::string NodePath(std::uint32_t minor) { return std::string(kNodes) + "/nvidia-cap" + std::to_string(minor); }

std::uint32_t MinorOf(const layout::DeviceFacts& facts, std::uint32_t gpu_instance, std::uint32_t compute_instance) {
  return compute_instance == layout::kNoInstance ? GpuInstanceMinor(facts.minor, gpu_instance)
                                                 : ComputeInstanceMinor(facts.minor, gpu_instance, compute_instance);
}

}  // namespace

void MakeCapability(const layout::DeviceFacts& facts, std::uint32_t gpu_instance, std::uint32_t compute_instance) {
  std::error_code ignored;
  const std::uint32_t minor = MinorOf(facts, gpu_instance, compute_instance);
  if (fs::is_directory(kNodes, ignored) && !fs::exists(NodePath(minor), ignored)) {
    std::ofstream(NodePath(minor)).flush();
    fs::permissions(NodePath(minor), static_cast<fs::perms>(0444), ignored);
  }
  if (!fs::is_directory(kProc, ignored)) return;
  std::string folder = InstanceFolder(facts, gpu_instance);
  if (compute_instance != layout::kNoInstance) folder += "/ci" + std::to_string(compute_instance);
  fs::create_directories(folder, ignored);
  std::ofstream(folder + "/access") << "DeviceFileMinor: " << minor << "\nDeviceFileMode: 292\nDeviceFileModify: 1\n";
}

void RemoveCapability(const layout::DeviceFacts& facts, std::uint32_t gpu_instance, std::uint32_t compute_instance) {
  std::error_code ignored;
  fs::remove(NodePath(MinorOf(facts, gpu_instance, compute_instance)), ignored);
  std::string folder = InstanceFolder(facts, gpu_instance);
  if (compute_instance != layout::kNoInstance) folder += "/ci" + std::to_string(compute_instance);
  fs::remove_all(folder, ignored);
}

void RemoveCapabilities(const layout::DeviceFacts& facts) {
  for (std::uint32_t g = 0; g < layout::kMaxGpuInstances; ++g) {
    std::error_code ignored;
    if (!fs::exists(NodePath(GpuInstanceMinor(facts.minor, g)), ignored) &&
        !fs::exists(InstanceFolder(facts, g), ignored))
      continue;
    for (std::uint32_t c = 0; c < layout::kMaxComputeInstances; ++c) RemoveCapability(facts, g, c);
    RemoveCapability(facts, g, layout::kNoInstance);
  }
}

}  // namespace gpuop::machine::nvml
