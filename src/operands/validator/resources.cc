#include "operands/validator/resources.h"

#include <fmt/core.h>

#include <algorithm>

#include "data/quantity.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

bool IsMig(std::string_view name) { return name.starts_with("nvidia.com/mig-"); }
bool IsGpu(std::string_view name) { return name == "nvidia.com/gpu" || name == "nvidia.com/gpu.shared"; }

/// Whole GPUs: shared or not, there is the same number of each.
std::optional<api::Finding> CheckCount(const std::vector<GpuResource>& resources, const std::vector<GpuState>& gpus) {
  const auto whole = std::ranges::count(gpus, false, &GpuState::mig);
  if (whole == 0 || std::ranges::count(gpus, true, &GpuState::mig) != 0) return std::nullopt;
  std::int64_t offered = 0;
  for (const GpuResource& resource : resources)
    if (IsGpu(resource.name)) offered += resource.capacity;
  if (offered == 0 || offered % whole == 0) return std::nullopt;
  return api::Finding{kResourceCountWrong, fmt::format("{}, the driver knows {} GPUs", Describe(resources), whole)};
}

}  // namespace

std::int64_t CountOf(const kube::StringMap& quantities, std::string_view resource) {
  const auto quantity = data::Quantity::Parse(quantities.Get(resource));
  return quantity ? quantity->Value() : 0;
}

std::vector<GpuResource> GpuResources(const kube::Node& node) {
  std::vector<GpuResource> out;
  for (const auto& [name, text] : node.status.capacity) {
    const std::int64_t capacity = CountOf(node.status.capacity, name);
    if ((IsMig(name) || IsGpu(name)) && capacity > 0)
      out.push_back({std::string(name), capacity, CountOf(node.status.allocatable, name)});
  }
  std::ranges::sort(out, {}, [](const GpuResource& r) { return std::pair(!IsMig(r.name), r.name); });
  return out;
}

std::string Describe(const std::vector<GpuResource>& resources) {
  std::string out;
  for (const GpuResource& resource : resources)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", resource.name, resource.allocatable);
  return out;
}

std::optional<api::Finding> CheckResources(const kube::Node& node, const std::vector<GpuState>& gpus) {
  if (const std::string_view state = node.meta.labels.Get("nvidia.com/mig.config.state"); state == "failed")
    return api::Finding{kMigProfileWrong, fmt::format("nvidia.com/mig.config={}, nvidia.com/mig.config.state=failed",
                                                      node.meta.labels.Get("nvidia.com/mig.config"))};
  const auto resources = GpuResources(node);
  if (resources.empty()) return api::Finding{kResourceMissing, "no nvidia.com/gpu or nvidia.com/mig-… in its capacity"};
  for (const GpuResource& resource : resources)
    if (resource.allocatable < resource.capacity)
      return api::Finding{kDeviceUnhealthy, fmt::format("{}: {} of {} can be allocated", resource.name,
                                                        resource.allocatable, resource.capacity)};
  return CheckCount(resources, gpus);
}

}  // namespace gpuop::operands::validator
