// The table of states: the one place that knows all operands.

#include <array>

#include "data/writer.h"
#include "operands/cc_manager/manifest.h"
#include "operands/dcgm/manifest.h"
#include "operands/dcgm_exporter/manifest.h"
#include "operands/device_plugin/manifest.h"
#include "operands/driver/manifest.h"
#include "operands/gfd/manifest.h"
#include "operands/groups.h"
#include "operands/labels.h"
#include "operands/mig_manager/manifest.h"
#include "operands/mps/manifest.h"
#include "operands/node_status_exporter/manifest.h"
#include "operands/operand.h"
#include "operands/operator_metrics/manifest.h"
#include "operands/prerequisites/manifest.h"
#include "operands/sandbox_device_plugin/manifest.h"
#include "operands/sandbox_validator/manifest.h"
#include "operands/toolkit/manifest.h"
#include "operands/validator/manifest.h"
#include "operands/vfio_manager/manifest.h"
#include "operands/vgpu_device_manager/manifest.h"
#include "operands/vgpu_manager/manifest.h"

namespace gpuop::operands {
namespace {

/// Owner and state on every object; no DaemonSets where there are no GPU nodes.
Objects Complete(Objects objects, std::string_view state, const Facts& facts) {
  if (facts.groups.empty()) std::erase_if(objects, [](const Object& o) { return o.resource.kind == "DaemonSet"; });
  for (Object& object : objects) {
    data::JsonObject& meta = object.body["metadata"].as_object();
    auto& labels = meta["labels"];
    if (!labels.is_object()) labels = data::JsonObject{};
    labels.as_object()[kStateLabel] = state;
    if (!facts.owner.name.empty()) meta["ownerReferences"] = data::JsonArray{data::WriteValue(facts.owner)};
  }
  return objects;
}

/// A render function of operands whose Pods ask for a RuntimeClass.
template <RenderFunction kRender>
Result<Objects> ByEngine(const api::ClusterPolicySpec& policy, const Facts& facts) {
  return RenderByEngine(kRender, policy, facts);
}

/// A render function whose objects are complete. `kState` has static storage.
template <RenderFunction kRender, const char* kState>
Result<Objects> Whole(const api::ClusterPolicySpec& policy, const Facts& facts) {
  ASSIGN(Objects objects, kRender(policy, facts));
  return Complete(std::move(objects), kState, facts);
}

template <bool (*kEnabled)(const api::ClusterPolicySpec&, const Facts&), RenderFunction kRender, const char* kState>
constexpr Operand Make(std::string_view condition) {
  return {.state = kState, .condition = condition, .enabled = kEnabled, .render = Whole<kRender, kState>};
}

constexpr char kPrerequisites[] = "pre-requisites";
constexpr char kOperatorMetrics[] = "state-operator-metrics";
constexpr char kDriver[] = "state-driver";
constexpr char kToolkit[] = "state-container-toolkit";
constexpr char kValidator[] = "state-operator-validation";
constexpr char kDevicePlugin[] = "state-device-plugin";
constexpr char kMps[] = "state-mps-control-daemon";
constexpr char kDcgm[] = "state-dcgm";
constexpr char kDcgmExporter[] = "state-dcgm-exporter";
constexpr char kGfd[] = "gpu-feature-discovery";
constexpr char kMigManager[] = "state-mig-manager";
constexpr char kNodeStatus[] = "state-node-status-exporter";
constexpr char kVgpuManager[] = "state-vgpu-manager";
constexpr char kVgpuDeviceManager[] = "state-vgpu-device-manager";
constexpr char kSandboxValidator[] = "state-sandbox-validation";
constexpr char kVfioManager[] = "state-vfio-manager";
constexpr char kSandboxPlugin[] = "state-sandbox-device-plugin";
constexpr char kKataPlugin[] = "state-kata-device-plugin";
constexpr char kCcManager[] = "state-cc-manager";

constexpr std::array kOperands = {
    Make<prerequisites::Enabled, prerequisites::Render, kPrerequisites>("RuntimeClasses"),
    Make<operator_metrics::Enabled, operator_metrics::Render, kOperatorMetrics>("OperatorMetrics"),
    Make<driver::Enabled, driver::Render, kDriver>("Driver"),
    Make<toolkit::Enabled, toolkit::Render, kToolkit>("ContainerToolkit"),
    Make<validator::Enabled, ByEngine<validator::Render>, kValidator>("Validator"),
    Make<device_plugin::Enabled, ByEngine<device_plugin::Render>, kDevicePlugin>("DevicePlugin"),
    Make<mps::Enabled, ByEngine<mps::Render>, kMps>("MpsControlDaemon"),
    Make<dcgm::Enabled, ByEngine<dcgm::Render>, kDcgm>("Dcgm"),
    Make<dcgm_exporter::Enabled, ByEngine<dcgm_exporter::Render>, kDcgmExporter>("DcgmExporter"),
    Make<gfd::Enabled, ByEngine<gfd::Render>, kGfd>("GpuFeatureDiscovery"),
    Make<mig_manager::Enabled, ByEngine<mig_manager::Render>, kMigManager>("MigManager"),
    Make<node_status_exporter::Enabled, node_status_exporter::Render, kNodeStatus>("NodeStatusExporter"),
    Make<vgpu_manager::Enabled, vgpu_manager::Render, kVgpuManager>("VgpuManager"),
    Make<vgpu_device_manager::Enabled, vgpu_device_manager::Render, kVgpuDeviceManager>("VgpuDeviceManager"),
    Make<sandbox_validator::Enabled, sandbox_validator::Render, kSandboxValidator>("SandboxValidator"),
    Make<vfio_manager::Enabled, vfio_manager::Render, kVfioManager>("VfioManager"),
    Make<sandbox_device_plugin::KubevirtEnabled, sandbox_device_plugin::RenderKubevirt, kSandboxPlugin>(
        "SandboxDevicePlugin"),
    Make<sandbox_device_plugin::KataEnabled, sandbox_device_plugin::RenderKata, kKataPlugin>("KataDevicePlugin"),
    Make<cc_manager::Enabled, cc_manager::Render, kCcManager>("CcManager"),
};

}  // namespace

std::span<const Operand> Operands() { return kOperands; }

Result<Objects> RenderDriverPool(const api::NvidiaDriver& driver, const DriverPool& pool, const Facts& facts) {
  ASSIGN(Objects objects, driver::RenderPool(driver, pool, facts));
  return Complete(std::move(objects), kDriver, facts);
}

}  // namespace gpuop::operands
