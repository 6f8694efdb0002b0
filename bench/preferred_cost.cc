// What the choice of devices costs, without the call around it: usage: preferred_cost
// Whole GPUs of several topologies, and MIG devices and shares of many GPUs; every size that a container may ask for.
// Ends with status 1 when a limit of docs/benchmarks.md is broken by a release build: 1 ms for 8 GPUs, 10 ms for 16
// GPUs and for 16 times 7 MIG devices.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "operands/device_plugin/preferred.h"
#include "operands/device_plugin/settings.h"

namespace gpuop::operands::device_plugin {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// `links(i, j)` NVLinks between two GPUs.
template <class Links>
gpu::Inventory Gpus(unsigned count, const Links& links) {
  gpu::Inventory out;
  out.closeness.resize(std::size_t{count} * count);
  for (unsigned i = 0; i < count; ++i) {
    gpu::Device& device = out.devices.emplace_back();
    device.index = i;
    device.uuid = fmt::format("GPU-00000000-0000-0000-0000-{:012}", i);
    device.numa_node = static_cast<int>(i * 2 / count);
    for (unsigned j = 0; j < count; ++j) out.closeness[i * count + j].links = links(i, j);
  }
  return out;
}

Resource Parts(unsigned gpus, unsigned each, bool mig) {
  Resource out{.name = mig ? "nvidia.com/mig-1g.5gb" : "nvidia.com/gpu"};
  for (unsigned i = 0; i < gpus; ++i) {
    const std::string gpu = fmt::format("GPU-00000000-0000-0000-0000-{:012}", i);
    if (!mig) {
      out.units.push_back({.uuid = gpu, .gpu = gpu, .replicas = each, .shared = true});
      continue;
    }
    for (unsigned slice = 0; slice < each; ++slice)
      out.units.push_back({.uuid = fmt::format("MIG-00000000-0000-0000-{:04}-{:012}", i, slice),
                           .gpu = gpu,
                           .gpu_instance = slice + 7,
                           .compute_instance = 0});
  }
  return out;
}

/// The dearest size's microseconds, each the median of some.
double Dearest(const Resource& resource, const Affinity& affinity, Spread spread) {
  const Chooser chooser(resource, affinity, spread);
  PreferredRequest request;
  for (const Unit& unit : resource.units)
    for (std::string& id : IdsOf(unit)) request.available.push_back(std::move(id));
  double dearest = 0;
  for (request.size = 1; request.size <= static_cast<int>(request.available.size()); ++request.size) {
    std::vector<double> took;
    for (int i = 0; i < 21; ++i) {
      const auto begin = SteadyClock::now();
      if (!chooser.Choose(request)) std::abort();
      took.push_back(std::chrono::duration<double, std::micro>(SteadyClock::now() - begin).count());
    }
    std::ranges::nth_element(took, took.begin() + 10);
    dearest = std::max(dearest, took[10]);
  }
  return dearest;
}

bool Tell(const char* what, double microseconds, double limit) {
  fmt::print("| {} | {:.0f} us | {:.0f} us |\n", what, microseconds, limit);
  return microseconds <= limit;
}

int Run() {
  const auto same = [](unsigned, unsigned) { return 12U; };
  const auto pairs = [](unsigned i, unsigned j) { return (i ^ j) == 1 ? 4U : 0U; };
  const auto boards = [](unsigned i, unsigned j) { return i / 8 == j / 8 ? 12U : 6U; };
  const auto whole = [](const gpu::Inventory& machine) {
    return Dearest(PlanResources(machine, {}, {}).resources.front(), Affinity(machine), Spread::kDistributed);
  };
  bool ok = true;
  ok &= Tell("8 GPUs behind a switch", whole(Gpus(8, same)), 1000);
  ok &= Tell("8 GPUs in pairs", whole(Gpus(8, pairs)), 1000);
  ok &= Tell("16 GPUs behind switches of two boards", whole(Gpus(16, boards)), 10000);
  ok &= Tell("16 GPUs in pairs", whole(Gpus(16, pairs)), 10000);
  for (const auto& [spread, name] :
       {std::pair(Spread::kDistributed, "distributed"), std::pair(Spread::kPacked, "packed")}) {
    ok &= Tell(fmt::format("16 times 7 MIG devices, {}", name).c_str(), Dearest(Parts(16, 7, true), {}, spread), 10000);
    ok &= Tell(fmt::format("8 GPUs shared by ten, {}", name).c_str(), Dearest(Parts(8, 10, false), {}, spread), 1000);
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace gpuop::operands::device_plugin

int main() { return gpuop::operands::device_plugin::Run(); }
