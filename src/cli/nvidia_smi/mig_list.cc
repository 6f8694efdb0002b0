#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

namespace nvml = gpu::nvml;
using Mig = Arguments::Mig;

constexpr int kNothingFound = 6;

/// A table with a head of some lines and a rule between rows.
class Table {
 public:
  Table(std::size_t width, const std::vector<std::string>& head) : width_(width) {
    text_ = Rule('-');
    for (const std::string& line : head) Row(line, false);
    text_ += "|" + std::string(width_, '=') + "|\n";
  }
  void Row(const std::string& line, bool rule = true) {
    text_ += fmt::format("|{:<{}}|\n", line, width_);
    if (rule) text_ += Rule('-');
  }
  std::string text() const { return text_; }

 private:
  std::string Rule(char c) const { return "+" + std::string(width_, c) + "+\n"; }
  std::size_t width_;
  std::string text_;
};

struct Instance {
  nvml::GpuInstance handle = nullptr;
  nvml::GpuInstanceInfo info{};
  MigProfileInfo profile;
};

/// GPU instances by id, those of `ids` when any are named.
std::vector<Instance> InstancesOf(const Gpu& gpu, const std::vector<unsigned>& ids) {
  std::vector<Instance> out;
  for (const MigProfileInfo& profile : GpuInstanceProfiles(gpu))
    for (const nvml::GpuInstance handle : OrNone(gpu.nvml->GpuInstances(gpu.handle, profile.id))) {
      const auto info = gpu.nvml->Get(&F::GpuInstanceGetInfo, handle);
      if (!info || (!ids.empty() && std::ranges::find(ids, info->id) == ids.end())) continue;
      out.push_back({handle, *info, profile});
    }
  std::ranges::sort(out, {}, [](const Instance& i) { return i.info.id; });
  return out;
}

std::string Placements(const std::vector<unsigned>& starts, unsigned size) {
  std::string list;
  for (const unsigned start : starts) list += (list.empty() ? "" : ",") + std::to_string(start);
  return fmt::format("{}: {{{}}}:{}", starts.size() == 1 ? "Placement " : "Placements", list, size);
}

Outcome GpuInstanceProfileTable(const std::vector<Gpu>& gpus) {
  Table table(
      79, {" GPU instance profiles:", " GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC",
           "                                Free/Total   GiB              CE    JPEG  OFA"});
  for (const Gpu& gpu : gpus)
    for (const MigProfileInfo& p : GpuInstanceProfiles(gpu)) {
      const auto free = gpu.Get(&F::DeviceGetGpuInstanceRemainingCapacity, p.id);
      table.Row(
          fmt::format("{:>4}  MIG {:<15}{:>3}     {:<11}{:<11.2f}{:<7}{:<7}{:<6}{:<4}", gpu.index, p.name, p.id,
                      fmt::format("{}/{}", free.value_or(0), p.instances), static_cast<double>(p.memory_mib) / 1024,
                      p.p2p ? "Yes" : "No", p.multiprocessors, p.decoder, p.encoder),
          false);
      table.Row(fmt::format("{:63}{:<6}{:<6}{:<4}", "", p.copy, p.jpeg, p.ofa));
    }
  return {table.text(), 0};
}

Outcome GpuInstancePlacements(const std::vector<Gpu>& gpus) {
  Outcome out;
  for (const Gpu& gpu : gpus)
    for (const MigProfileInfo& p : GpuInstanceProfiles(gpu)) {
      unsigned count = 32;
      nvml::GpuInstancePlacement places[32] = {};
      if (gpu.nvml->Try(&F::DeviceGetGpuInstancePossiblePlacements_v2, gpu.handle, p.id, places, &count) !=
              Return::kSuccess ||
          count == 0)
        continue;
      std::vector<unsigned> starts;
      for (unsigned i = 0; i < std::min(count, 32U); ++i) starts.push_back(places[i].start);
      out.text += fmt::format("GPU {:>2} Profile ID {:>2} {}\n", gpu.index, p.id, Placements(starts, places[0].size));
    }
  return out;
}

Outcome GpuInstanceTable(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  Table table(57, {" GPU instances:", " GPU   Name               Profile  Instance   Placement",
                   "                            ID       ID       Start:Size"});
  bool any = false;
  for (const Gpu& gpu : gpus) {
    auto instances = InstancesOf(gpu, arguments.gpu_instances);
    std::ranges::sort(instances, {}, [](const Instance& i) {
      return std::tuple(i.profile.slices, i.profile.memory_mib, i.profile.order, i.info.id);
    });
    for (const Instance& i : instances) {
      any = true;
      table.Row(fmt::format("{:>4}  MIG {:<15}{:>5}{:>9}{:>11}:{:<6}", gpu.index, i.profile.name, i.profile.id,
                            i.info.id, i.info.placement.start, i.info.placement.size));
    }
  }
  if (!any) return {"No GPU instances found: Not Found\n", kNothingFound};
  return {table.text(), 0};
}

Outcome ComputeInstanceProfileTable(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  Table table(86, {" Compute instance profiles:",
                   " GPU     GPU       Name             Profile  Instances   Exclusive       Shared",
                   "       Instance                       ID     Free/Total     SM       DEC   ENC   OFA",
                   "         ID                                                          CE    JPEG"});
  bool any = false;
  for (const Gpu& gpu : gpus)
    for (const Instance& i : InstancesOf(gpu, arguments.gpu_instances))
      for (const MigProfileInfo& p : ComputeInstanceProfiles(gpu, i.handle, i.profile)) {
        any = true;
        const auto free = gpu.nvml->Get(&F::GpuInstanceGetComputeInstanceRemainingCapacity, i.handle, p.id);
        table.Row(fmt::format("{:>4}{:>7}       MIG {:<15}{:>3}{:1}     {:<14}{:<10}{:<6}{:<6}{:<4}", gpu.index,
                              i.info.id, p.name, p.id, p.slices == i.profile.slices ? "*" : "",
                              fmt::format("{}/{}", free.value_or(0), p.instances), p.multiprocessors, p.decoder,
                              p.encoder, p.ofa),
                  false);
        table.Row(fmt::format("{:70}{:<6}{:<10}", "", p.copy, p.jpeg));
      }
  if (!any) return {"No GPU instances found: Not Found\n", kNothingFound};
  return {table.text(), 0};
}

Outcome ComputeInstancePlacements(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  Outcome out;
  for (const Gpu& gpu : gpus)
    for (const Instance& i : InstancesOf(gpu, arguments.gpu_instances))
      for (const MigProfileInfo& p : ComputeInstanceProfiles(gpu, i.handle, i.profile)) {
        unsigned count = 32;
        nvml::ComputeInstancePlacement places[32] = {};
        if (gpu.nvml->Try(&F::GpuInstanceGetComputeInstancePossiblePlacements, i.handle, p.id, places, &count) !=
                Return::kSuccess ||
            count == 0)
          continue;
        std::vector<unsigned> starts;
        for (unsigned k = 0; k < std::min(count, 32U); ++k) starts.push_back(places[k].start);
        out.text += fmt::format("GPU {:>2} GI {:>2} Profile ID {:>2} {}\n", gpu.index, i.info.id, p.id,
                                Placements(starts, places[0].size));
      }
  if (out.text.empty()) return {"No GPU instances found: Not Found\n", kNothingFound};
  return out;
}

Outcome ComputeInstanceTable(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  Table table(68, {" Compute instances:", " GPU     GPU       Name             Profile   Instance   Placement",
                   "       Instance                       ID        ID       Start:Size", "         ID"});
  bool any = false;
  for (const Gpu& gpu : gpus)
    for (const Instance& i : InstancesOf(gpu, arguments.gpu_instances))
      for (const MigProfileInfo& p : ComputeInstanceProfiles(gpu, i.handle, i.profile))
        for (const nvml::ComputeInstance handle : OrNone(gpu.nvml->ComputeInstances(i.handle, p.id))) {
          const auto info = gpu.nvml->Get(&F::ComputeInstanceGetInfo_v2, handle);
          if (!info) continue;
          any = true;
          table.Row(fmt::format("{:>4}{:>7}       MIG {:<15}{:>3}{:>10}{:>11}:{:<6}", gpu.index, i.info.id, p.name,
                                p.id, info->id, info->placement.start, info->placement.size));
        }
  if (!any) return {"No compute instances found: Not Found\n", kNothingFound};
  return {table.text(), 0};
}

}  // namespace

Outcome MigList(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  switch (arguments.mig) {
    case Mig::kListGpuInstanceProfiles: return GpuInstanceProfileTable(gpus);
    case Mig::kListGpuInstancePlacements: return GpuInstancePlacements(gpus);
    case Mig::kListGpuInstances: return GpuInstanceTable(arguments, gpus);
    case Mig::kListComputeInstanceProfiles: return ComputeInstanceProfileTable(arguments, gpus);
    case Mig::kListComputeInstancePlacements: return ComputeInstancePlacements(arguments, gpus);
    default: return ComputeInstanceTable(arguments, gpus);
  }
}

}  // namespace gpuop::cli::nvidia_smi
