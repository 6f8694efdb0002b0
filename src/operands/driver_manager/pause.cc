#include "operands/driver_manager/pause.h"

namespace gpuop::operands::driver_manager {
namespace {

constexpr std::string_view kPaused = "paused-for-driver-upgrade";

template <class Change>
LabelChanges Plan(const kube::StringMap& labels, const std::string& custom, const Change& change) {
  LabelChanges out;
  for (const std::string& label : DeployLabels(custom)) {
    if (!labels.contains(label)) continue;
    const std::string_view now = labels.Get(label);
    if (std::string wanted = change(now); wanted != now) out[label] = std::move(wanted);
  }
  return out;
}

}  // namespace

std::string PausedValue(std::string_view value) {
  if (value.empty() || value == "false" || value.find(kPaused) != std::string_view::npos) return std::string(value);
  if (value == "true") return std::string(kPaused);
  return std::string(value).append("_").append(kPaused);
}

std::string ResumedValue(std::string_view value) {
  const std::size_t at = value.find(kPaused);
  if (at == std::string_view::npos) return std::string(value);
  if (value == kPaused) return "true";
  std::string out(value.substr(0, at));
  if (out.ends_with('_')) out.pop_back();
  std::string_view rest = value.substr(at + kPaused.size());
  if (out.empty() && rest.starts_with('_')) rest.remove_prefix(1);
  return out.append(rest);
}

std::vector<std::string> DeployLabels(const std::string& custom) {
  std::vector<std::string> out;
  for (const char* const name :
       {"operator-validator", "container-toolkit", "device-plugin", "gpu-feature-discovery", "dcgm-exporter", "dcgm",
        "mig-manager", "nvsm", "sandbox-validator", "sandbox-device-plugin", "vgpu-device-manager", "client",
        "dra-driver", "dra-validator", "dcgm-dra", "dcgm-exporter-dra"})
    out.push_back(std::string("nvidia.com/gpu.deploy.") + name);
  if (!custom.empty()) out.push_back(custom);
  return out;
}

LabelChanges PlanPause(const kube::StringMap& labels, const std::string& custom) {
  return Plan(labels, custom, PausedValue);
}
LabelChanges PlanResume(const kube::StringMap& labels, const std::string& custom) {
  return Plan(labels, custom, ResumedValue);
}

const std::vector<std::string>& PausedApps() {
  static const std::vector<std::string> kApps = {"nvidia-operator-validator",
                                                 "nvidia-container-toolkit-daemonset",
                                                 "nvidia-device-plugin-daemonset",
                                                 "gpu-feature-discovery",
                                                 "nvidia-dcgm-exporter",
                                                 "nvidia-dcgm",
                                                 "nvidia-dcgm-exporter-dra",
                                                 "nvidia-dcgm-dra",
                                                 "nvidia-mig-manager",
                                                 "nvidia-sandbox-validator",
                                                 "nvidia-sandbox-device-plugin-daemonset",
                                                 "nvidia-vgpu-device-manager"};
  return kApps;
}

}  // namespace gpuop::operands::driver_manager
