#include "operands/mps/plan.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::operands::mps {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr const char* kField = "sharing.mps.resources";

/// Whether an entry of `devices` names this GPU.
bool Names(const data::Json& entry, const gpu::Device& device) {
  if (entry.is_int64()) return entry.get_int64() == static_cast<std::int64_t>(device.index);
  if (!entry.is_string()) return false;
  const std::string_view text = data::AsView(entry.get_string());
  return text == device.uuid || text == std::to_string(device.index);
}

bool Selected(const data::Json& devices, const gpu::Device& device, std::size_t so_far) {
  if (devices.is_int64()) return static_cast<std::int64_t>(so_far) < devices.get_int64();
  if (!devices.is_array()) return true;
  return std::ranges::any_of(devices.get_array(), [&](const data::Json& entry) { return Names(entry, device); });
}

Result<DaemonPlan> PlanDaemon(const gpu::Inventory& inventory, const SharingBlock& block, const SharedResource& shared,
                              const std::string& root) {
  DaemonPlan out;
  out.resource = SharedName(block, shared);
  out.replicas = shared.replicas;
  out.pipe_folder = root + "/" + out.resource + "/pipe";
  out.log_folder = root + "/" + out.resource + "/log";
  for (const gpu::Device& device : inventory.devices) {
    if (!device.unreadable.empty() || !Selected(shared.devices, device, out.gpus.size())) continue;
    if (device.mig.enabled)
      return Fail(Code::kInvalid, "GPU " + std::to_string(device.index) + " is in MIG mode, which MPS does not share");
    const std::int64_t most = MostClients(device.compute_major);
    if (shared.replicas > most)
      return Fail(Code::kInvalid, std::string(kField) + ": " + std::to_string(shared.replicas) + " replicas of " +
                                      shared.name + " are more than the " + std::to_string(most) +
                                      " clients that MPS serves on GPU " + std::to_string(device.index) +
                                      " (compute capability " + std::to_string(device.compute_major) + "." +
                                      std::to_string(device.compute_minor) + ")");
    out.gpus.push_back({device.uuid, device.index, device.memory_mib});
  }
  return out;
}

}  // namespace

std::int64_t MostClients(unsigned compute_major) { return compute_major >= 7 ? 48 : 16; }

std::map<std::string, std::string> DaemonPlan::Variables() const {
  return {{"CUDA_MPS_PIPE_DIRECTORY", pipe_folder}, {"CUDA_MPS_LOG_DIRECTORY", log_folder}};
}

std::string DaemonPlan::Commands() const {
  std::string out;
  for (const SharedGpu& gpu : gpus) {
    const std::uint64_t share = gpu.memory_mib / static_cast<std::uint64_t>(replicas);
    if (share == 0) continue;  // memory that is the host's has no limit to set
    out += "set_default_device_pinned_mem_limit " + std::to_string(gpu.index) + " " + std::to_string(share) + "M\n";
  }
  return out + "set_default_active_thread_percentage " + std::to_string(ThreadPercentage()) + "\n";
}

Result<std::vector<DaemonPlan>> PlanDaemons(const gpu::Inventory& inventory, const PluginSettings& settings,
                                            std::string_view mig_strategy, const std::string& root) {
  std::vector<DaemonPlan> out;
  if (StrategyOf(settings.sharing) != SharingStrategy::kMps) return out;
  if (mig_strategy == "mixed") return Fail(Code::kInvalid, "MPS does not go together with MIG strategy mixed");
  const SharingBlock& block = *settings.sharing.mps;
  for (const SharedResource& shared : block.resources) {
    if (shared.name != kGpu)
      return Fail(Code::kInvalid,
                  std::string(kField) + ": " + Quote(shared.name) + ": MPS shares nvidia.com/gpu alone");
    if (shared.replicas < 2) continue;
    ASSIGN(DaemonPlan plan, PlanDaemon(inventory, block, shared, root));
    if (!plan.gpus.empty()) out.push_back(std::move(plan));
  }
  return out;
}

std::string ShmOptions(std::string_view meminfo) {
  for (const std::string_view line : Split(meminfo, '\n')) {
    if (!line.starts_with("MemTotal:")) continue;
    std::string_view rest = Trim(line.substr(sizeof "MemTotal:" - 1));
    if (!rest.ends_with(" kB")) break;
    rest.remove_suffix(3);
    const auto total = ParseInt(Trim(rest));
    if (total && *total > 1) return "size=" + std::to_string(*total / 2) + "k";
  }
  return "size=65536k";
}

}  // namespace gpuop::operands::mps
