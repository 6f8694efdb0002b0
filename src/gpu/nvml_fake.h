#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "gpu/mig_geometry.h"
#include "gpu/nvml/table.h"

namespace gpuop::gpu {

/// A GPU of FakeNvml. Plain data: a test sets what it wants.
struct FakeGpu {
  struct Instance {
    const MigProfile* profile = nullptr;
    MigPlacement placement;
    unsigned id = 0;
    /// Slices of its compute instances, by id; each is a MIG device. 0 is one that was destroyed.
    std::vector<unsigned> compute_slices = {};
  };
  /// The other end of an NVLink: a GPU's PCI address, or "switch".
  using Link = std::string;

  std::string uuid = "GPU-00000000-0000-0000-0000-000000000000";
  std::string name = "NVIDIA A100-SXM4-40GB";
  std::string pci = "00000000:07:00.0";
  unsigned pci_device_id = 0x20B010DE, pci_subsystem_id = 0x134710DE;
  unsigned minor = 0;
  unsigned long long memory_mib = 40960;
  int compute_major = 8, compute_minor = 0;
  const MigModel* mig = nullptr;
  bool mig_enabled = false, mig_pending = false;
  std::vector<Instance> instances;
  std::vector<Link> links;
  nvml::GpuFabricInfoV3 fabric = {};
  bool has_memory_info = true;
  /// What the driver advises; a driver without advice answers NOT_SUPPORTED.
  std::optional<unsigned> recovery_action = {};
  /// A program uses it: what would end the program is refused.
  bool busy = false;

  /// Adds a GPU instance where MigGeometry would put it, with one compute instance for all of it, or with these slices.
  Instance& AddInstance(std::string_view profile, std::vector<unsigned> compute_slices = {});
  /// "MIG-<gpu's number>-<gi>-<ci>".
  std::string MigUuid(unsigned gi, unsigned ci) const;
};

/// NVML in this process, over plain data, able to fail on request. One at a time in a process: NVML's functions have no
/// place for a context. Change `gpus` only while no other thread calls.
class FakeNvml {
 public:
  FakeNvml();
  ~FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  std::string driver_version = "550.163.01", nvml_version = "12.550.163.01";
  int cuda_version = 12040;
  std::deque<FakeGpu> gpus;
  /// A function's answer, for every device ("nvmlDeviceGetName") or for one ("nvmlDeviceGetName@GPU-…").
  std::map<std::string, nvml::Return, std::less<>> fail;
  /// These devices answer GPU_IS_LOST to everything but their handle.
  std::map<std::string, bool, std::less<>> lost;
  /// How many NVML calls were made.
  unsigned calls = 0;

  /// What Nvml::Start takes. Functions that the fake does not have are null, as in an old library.
  nvml::Functions Table() const;

  /// Makes an event for whoever waits on a set that has this device registered for this kind.
  void Raise(std::size_t gpu, unsigned long long type, unsigned long long data = 0,
             unsigned gi = nvml::kGpuInstanceIdAny, unsigned ci = nvml::kComputeInstanceIdAny);

  struct Calls;

 private:
  struct Events;
  std::unique_ptr<Events> events_;
};

}  // namespace gpuop::gpu
