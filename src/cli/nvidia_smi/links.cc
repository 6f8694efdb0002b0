// topo -m and nvlink: how GPUs reach each other.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/text.h"
#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

using gpu::nvml::EnableState;
using gpu::nvml::GpuTopologyLevel;
using gpu::nvml::IntNvLinkDeviceType;

constexpr unsigned kMostLinks = 18;

bool IsUp(const Gpu& gpu, unsigned link) {
  const auto state = gpu.Get(&F::DeviceGetNvLinkState, link);
  return state && *state == EnableState::kEnabled;
}

/// Links in use between two GPUs: straight ones, or those by which both reach NVSwitches.
unsigned LinksBetween(const Gpu& a, const Gpu& b) {
  unsigned straight = 0, to_switch = 0;
  const auto other = b.Get(&F::DeviceGetPciInfo_v3);
  for (unsigned link = 0; link < kMostLinks; ++link) {
    if (!IsUp(a, link)) continue;
    const auto type = a.Get(&F::DeviceGetNvLinkRemoteDeviceType, link);
    if (type && *type == IntNvLinkDeviceType::kSwitch) ++to_switch;
    const auto remote = a.Get(&F::DeviceGetNvLinkRemotePciInfo_v2, link);
    if (remote && other && remote->domain == other->domain && remote->bus == other->bus &&
        remote->device == other->device)
      ++straight;
  }
  return straight != 0 ? straight : to_switch;
}

std::string Between(const Gpu& a, const Gpu& b) {
  if (a.index == b.index) return " X ";
  if (const unsigned links = std::min(LinksBetween(a, b), LinksBetween(b, a)); links != 0)
    return fmt::format("NV{}", links);
  const auto level = a.Get(&F::DeviceGetTopologyCommonAncestor, b.handle);
  if (!level) return "N/A";
  switch (*level) {
    case GpuTopologyLevel::kInternal:
    case GpuTopologyLevel::kSingle: return "PIX";
    case GpuTopologyLevel::kMultiple: return "PXB";
    case GpuTopologyLevel::kHostbridge: return "PHB";
    case GpuTopologyLevel::kNode: return "NODE";
    case GpuTopologyLevel::kSystem: return "SYS";
  }
  return "N/A";
}

/// "0-15,128-143" of a set of bits.
template <std::size_t kWords>
std::string Ranges(const std::array<unsigned long, kWords>& set) {
  std::string out;
  const auto has = [&](std::size_t i) { return i < kWords * 64 && ((set[i / 64] >> (i % 64)) & 1) != 0; };
  for (std::size_t i = 0; i < kWords * 64; ++i) {
    if (!has(i)) continue;
    std::size_t last = i;
    while (has(last + 1)) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(i) + (last == i ? "" : "-" + std::to_string(last));
    i = last;
  }
  return out.empty() ? "N/A" : out;
}

/// The NUMA node beside a GPU, as the kernel knows it: "00000000:07:00.0" is /sys/bus/pci/devices/0000:07:00.0.
std::string NumaNodeOf(const Gpu& gpu) {
  if (gpu.bus_id.size() < 5) return "N/A";
  std::ifstream file("/sys/bus/pci/devices/" + ToLower(gpu.bus_id.substr(4)) + "/numa_node");
  int node = -1;
  return file >> node && node >= 0 ? std::to_string(node) : "N/A";
}

constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X    = the GPU itself\n"
    "  SYS  = over PCIe and the link between NUMA nodes\n"
    "  NODE = over PCIe and the link between host bridges of a NUMA node\n"
    "  PHB  = over PCIe and a host bridge\n"
    "  PXB  = over several PCIe bridges, none of them a host bridge\n"
    "  PIX  = over one PCIe bridge at most\n"
    "  NV#  = over # NVLinks\n";

}  // namespace

Outcome Topology(const std::vector<Gpu>& gpus) {
  Outcome out;
  for (const Gpu& gpu : gpus) out.text += fmt::format("\tGPU{}", gpu.index);
  out.text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (const Gpu& a : gpus) {
    out.text += fmt::format("GPU{}", a.index);
    for (const Gpu& b : gpus) out.text += "\t" + Between(a, b);
    std::array<unsigned long, 16> cpus{};
    a.nvml->Try(&F::DeviceGetCpuAffinity, a.handle, static_cast<unsigned>(cpus.size()), cpus.data());
    out.text += fmt::format("\t{}\t{}\t\tN/A\n", Ranges(cpus), NumaNodeOf(a));
  }
  out.text += kLegend;
  return out;
}

Outcome LinkStatus(const std::vector<Gpu>& gpus) {
  Outcome out;
  for (const Gpu& gpu : gpus) {
    out.text += fmt::format("GPU {}: {} (UUID: {})\n", gpu.index, OrNa(gpu.Text(&F::DeviceGetName)),
                            OrNa(gpu.Text(&F::DeviceGetUUID)));
    gpu::nvml::FieldValue speed{};
    speed.fieldId = gpu::nvml::kFieldNvlinkSpeedMbpsCommon;
    const bool known = gpu.nvml->Try(&F::DeviceGetFieldValues, gpu.handle, 1, &speed) == Return::kSuccess &&
                       speed.nvmlReturn == Return::kSuccess;
    for (unsigned link = 0; link < kMostLinks; ++link) {
      const auto state = gpu.Get(&F::DeviceGetNvLinkState, link);
      if (!state) continue;
      if (*state != EnableState::kEnabled)
        out.text += fmt::format("\t Link {}: <inactive>\n", link);
      else if (known)
        out.text += fmt::format("\t Link {}: {:.6g} GB/s\n", link, static_cast<double>(speed.value.uiVal) / 1000);
      else
        out.text += fmt::format("\t Link {}: N/A\n", link);
    }
  }
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
