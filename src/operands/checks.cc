#include "operands/checks.h"

#include <charconv>

#include "operands/driver/manifest.h"

namespace gpuop::operands {
namespace {

/// Whether nvidia-fs of that version needs the open kernel modules: since v2.17.5, and a digest says nothing.
bool NeedsOpenModules(const std::string& version) {
  if (version.starts_with("sha256:")) return true;
  int parts[3] = {};
  const char* at = version.data() + (version.starts_with('v') ? 1 : 0);
  const char* end = version.data() + version.size();
  for (int& part : parts) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) break;
    at = next < end && *next == '.' ? next + 1 : next;
  }
  return std::tie(parts[0], parts[1], parts[2]) >= std::tuple(2, 17, 5);
}

void CheckSidecars(bool precompiled, const api::Sidecar& gds, const api::Sidecar& gdrcopy,
                   const std::string& precompiled_field, std::vector<std::string>& out) {
  if (precompiled && (gds.IsEnabled() || gdrcopy.IsEnabled()))
    out.push_back(precompiled_field +
                  ": GPUDirect Storage and GDRCopy need drivers that are built on the node; switch "
                  "off gds and gdrcopy, or usePrecompiled");
}

}  // namespace

std::vector<std::string> Check(const api::ClusterPolicySpec& policy) {
  std::vector<std::string> out;
  if (policy.cdi.nri_plugin && !policy.cdi.enabled)
    out.emplace_back("spec.cdi.nriPluginEnabled: the NRI plugin needs spec.cdi.enabled");
  if (policy.cdi.nri_plugin && !policy.toolkit.IsEnabled())
    out.emplace_back(
        "spec.cdi.nriPluginEnabled: the NRI plugin is part of the toolkit, which spec.toolkit.enabled switches off");
  const bool own_driver = policy.driver.IsEnabled() && !policy.driver.UsesNvidiaDriverCrd();
  CheckSidecars(own_driver && policy.driver.UsesPrecompiled(), policy.gds, policy.gdrcopy, "spec.driver.usePrecompiled",
                out);
  return out;
}

std::vector<std::string> Check(const api::NvidiaDriverSpec& driver) {
  std::vector<std::string> out;
  const api::Sidecar gds = driver.gds.value_or(api::Sidecar()), gdrcopy = driver.gdrcopy.value_or(api::Sidecar());
  CheckSidecars(driver.UsesPrecompiled(), gds, gdrcopy, "spec.usePrecompiled", out);
  if (gds.IsEnabled() && NeedsOpenModules(gds.version) && driver.kernel_module_type != "open")
    out.emplace_back(
        "spec.gds.version: GPUDirect Storage since v2.17.5 needs the open kernel modules: set "
        "spec.kernelModuleType to open");
  return out;
}

std::vector<NodeGroup> GroupsWithoutDriverImage(const api::ClusterPolicySpec& policy, const Facts& facts) {
  return driver::GroupsWithoutImage(policy, facts);
}

}  // namespace gpuop::operands
