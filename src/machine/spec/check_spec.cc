#include <algorithm>
#include <cstdio>
#include <set>

#include "base/text.h"
#include "gpu/mig_geometry.h"
#include "machine/spec/pci_address.h"
#include "machine/spec/spec.h"

namespace gpuop::machine {
namespace {

[[nodiscard]] std::unexpected<Error> Wrong(const std::string& path, const std::string& why) {
  return Fail(Code::kInvalid, path + ": " + why);
}

/// "550.163.01" as 550.
int Branch(const std::string& version) { return std::stoi(version); }

/// The first driver branch that knows an architecture, and the newest CUDA of a branch: NVIDIA's release notes.
int FirstBranch(layout::Architecture architecture, std::string_view capability) {
  if (architecture == layout::Architecture::kBlackwell) return capability == "12.1" || capability == "10.3" ? 580 : 570;
  if (architecture == layout::Architecture::kHopper || architecture == layout::Architecture::kAda) return 525;
  if (architecture == layout::Architecture::kAmpere) return 450;
  return 418;
}

struct CudaOfBranch {
  int branch;
  std::string_view cuda;
};
constexpr CudaOfBranch kNewestCuda[] = {{525, "12.0"}, {530, "12.1"}, {535, "12.2"}, {545, "12.3"},
                                        {550, "12.4"}, {555, "12.5"}, {560, "12.6"}, {565, "12.7"},
                                        {570, "12.8"}, {575, "12.9"}, {580, "13.0"}, {590, "13.1"}};

Result<> CheckDriver(const Spec& spec) {
  const DriverSpec& driver = spec.driver;
  if (!driver.installed) {
    if (!driver.version.empty()) return Wrong("driver.version", "given, but driver.installed is false");
    return {};
  }
  if (driver.version.empty()) return Wrong("driver.version", "required, because driver.installed is true");
  if (driver.cuda.empty()) return Wrong("driver.cuda", "required, because driver.installed is true");
  if (driver.root != "/" && driver.root.ends_with('/')) return Wrong("driver.root", "must not end in /");
  const auto* known = std::ranges::find(kNewestCuda, Branch(driver.version), &CudaOfBranch::branch);
  if (known != std::end(kNewestCuda) && std::stod(driver.cuda) > std::stod(std::string(known->cuda)))
    return Wrong("driver.cuda",
                 "driver " + driver.version + " supports CUDA " + std::string(known->cuda) + ", not " + driver.cuda);
  return {};
}

Result<> CheckHost(const HostSpec& host) {
  if (host.cpus % host.numa_nodes != 0)
    return Wrong("host.cpus", std::to_string(host.cpus) + " CPUs cannot be shared evenly by " +
                                  std::to_string(host.numa_nodes) + " NUMA nodes");
  if (host.numa_nodes % host.sockets != 0)
    return Wrong("host.numaNodes", std::to_string(host.numa_nodes) + " NUMA nodes cannot be shared evenly by " +
                                       std::to_string(host.sockets) + " sockets");
  return {};
}

/// A list with one value per GPU has as many values as there are GPUs, or none.
template <class T>
Result<> CheckLength(const std::string& path, const std::vector<T>& list, std::uint32_t count) {
  if (list.empty() || list.size() == count) return {};
  return Wrong(path, std::to_string(list.size()) + " values for " + std::to_string(count) + " GPUs");
}

Result<> CheckMig(const std::string& at, const GpuGroup& group, const GpuModel& model) {
  if (group.mig.instances.empty() && !group.mig.enabled) return {};
  const gpu::MigModel* mig =
      gpu::FindMigModel(static_cast<std::uint16_t>(model.pci_id >> 16), static_cast<std::uint64_t>(model.memory_mib));
  if (mig == nullptr) return Wrong(at + ".mig", model.name + " has no MIG");
  if (!group.mig.enabled) return Wrong(at + ".mig.enabled", "must be true, because there are instances");
  std::vector<const gpu::MigProfile*> wanted;
  for (std::size_t i = 0; i < group.mig.instances.size(); ++i) {
    wanted.push_back(mig->FindByName(group.mig.instances[i]));
    if (wanted.back() == nullptr)
      return Wrong(at + ".mig.instances[" + std::to_string(i) + "]",
                   "no profile " + Quote(group.mig.instances[i]) + " on " + model.name);
  }
  if (auto placed = gpu::Place(*mig, {}, wanted); !placed) return Wrong(at + ".mig.instances", placed.error().text);
  return {};
}

/// What several groups must not share.
struct Taken {
  std::set<std::string> pci, uuids;
};

Result<> CheckAddresses(const std::string& at, const GpuGroup& group, Taken& taken) {
  if (group.pci.size() != group.count)
    return Wrong(at + ".pci",
                 std::to_string(group.pci.size()) + " addresses for " + std::to_string(group.count) + " GPUs");
  for (std::size_t i = 0; i < group.pci.size(); ++i) {
    const std::string here = at + ".pci[" + std::to_string(i) + "]";
    const auto address = ParsePciAddress(group.pci[i]);
    if (!address) return Wrong(here, Quote(group.pci[i]) + " is no PCI address such as 0000:07:00.0");
    if (!taken.pci.insert(ToText(*address)).second) return Wrong(here, group.pci[i] + " is there twice");
  }
  for (std::size_t i = 0; i < group.uuids.size(); ++i) {
    const std::string here = at + ".uuids[" + std::to_string(i) + "]";
    if (!group.uuids[i].starts_with("GPU-") || group.uuids[i].size() != 40)
      return Wrong(here, Quote(group.uuids[i]) + " is no UUID such as GPU-8f3c7a52-1d0e-4b9f-a6c4-5e2b7d901c3a");
    if (!taken.uuids.insert(group.uuids[i]).second) return Wrong(here, group.uuids[i] + " is there twice");
  }
  return {};
}

Result<> CheckGroup(const std::string& at, const Spec& spec, const GpuGroup& group, Taken& taken) {
  auto model = ModelOf(group);
  if (!model) return std::unexpected(Error{model.error().code, at + "." + model.error().text});
  TRY(CheckAddresses(at, group, taken));
  TRY(CheckLength(at + ".numa", group.numa, group.count));
  TRY(CheckLength(at + ".uuids", group.uuids, group.count));
  TRY(CheckLength(at + ".serials", group.serials, group.count));
  TRY(CheckLength(at + ".modules", group.modules, group.count));
  for (std::size_t i = 0; i < group.numa.size(); ++i)
    if (group.numa[i] < -1 || group.numa[i] >= static_cast<std::int32_t>(spec.host.numa_nodes))
      return Wrong(at + ".numa[" + std::to_string(i) + "]", "node " + std::to_string(group.numa[i]) +
                                                                " is not below host.numaNodes (" +
                                                                std::to_string(spec.host.numa_nodes) + ")");
  if (group.nvlink != NvlinkTopology::kNone && model->nvlink.links == 0)
    return Wrong(at + ".nvlink", model->name + " has no NVLink");
  if (model->memory_mib == 0 && !model->unified_memory)
    return Wrong(at + ".override.memoryMiB", "0, and the model has no unified memory");
  const int first = FirstBranch(model->architecture, model->compute_capability);
  if (spec.driver.installed && Branch(spec.driver.version) < first)
    return Wrong("driver.version", spec.driver.version + " does not know " + model->name + "; the first that does is " +
                                       std::to_string(first));
  return CheckMig(at, group, *model);
}

}  // namespace

Result<> Check(const Spec& spec) {
  TRY(CheckHost(spec.host));
  TRY(CheckDriver(spec));
  Taken taken;
  std::uint32_t gpus = 0;
  for (std::size_t i = 0; i < spec.gpus.size(); ++i) {
    const std::string at = "gpus[" + std::to_string(i) + "]";
    TRY(CheckGroup(at, spec, spec.gpus[i], taken));
    gpus += spec.gpus[i].count;
    if (gpus > layout::kMaxDevices)
      return Wrong(at + ".count", "more than " + std::to_string(layout::kMaxDevices) + " GPUs in all");
  }
  for (std::size_t i = 0; i < spec.faults.size(); ++i) {
    const std::string at = "faults[" + std::to_string(i) + "]";
    if (auto good = Check(spec.faults[i], gpus); !good)
      return Wrong(at + "." + good.error().text.substr(0, good.error().text.find(": ")),
                   good.error().text.substr(good.error().text.find(": ") + 2));
    if (const FaultKind* kind = FindFaultKind(spec.faults[i].fault); kind->event && kind->scope == FaultScope::kMachine)
      return Wrong(at + ".fault",
                   spec.faults[i].fault + " happens while a machine runs; it cannot be there from the start");
  }
  return {};
}

}  // namespace gpuop::machine
