#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/chain.h"
#include "kube/types/node.h"
#include "operands/validator/gpu_check.h"

namespace gpuop::operands::validator {

/// A GPU resource of a node: a GPU, a shared one, or MIG devices.
struct GpuResource {
  std::string name;
  std::int64_t capacity = 0, allocatable = 0;
  bool operator==(const GpuResource&) const = default;
};
/// Those that the device plugin offers ("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-…"), by name, MIG
/// first. Resources that only begin alike ("nvidia.com/gpu-memory") are others'.
std::vector<GpuResource> GpuResources(const kube::Node& node);

/// What is wrong with what a node offers: nothing at all, unhealthy devices, or a number that does not fit the GPUs
/// that the driver knows (`gpus`; unknown when empty). nullopt when it is right.
std::optional<api::Finding> CheckResources(const kube::Node& node, const std::vector<GpuState>& gpus);

/// How much of a resource a map of quantities names; 0 without it.
std::int64_t CountOf(const kube::StringMap& quantities, std::string_view resource);

/// "nvidia.com/gpu: 8", for people.
std::string Describe(const std::vector<GpuResource>& resources);

}  // namespace gpuop::operands::validator
