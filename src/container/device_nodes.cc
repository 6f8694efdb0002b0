#include "container/device_nodes.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <map>

#include "base/text.h"
#include "container/generate/parts.h"
#include "container/runtime/modify.h"
#include "os/system_error.h"

namespace gpuop::container {
namespace {

using MajorsByName = std::map<std::string, unsigned, std::less<>>;

/// Of /proc/devices' character devices.
MajorsByName Majors(std::string_view proc_devices) {
  MajorsByName out;
  for (const std::string_view line : Split(proc_devices, '\n')) {
    if (Trim(line) == "Block devices:") break;
    const auto parts = Cut(Trim(line), ' ');
    const auto major = parts ? ParseInt(parts->first) : std::nullopt;
    if (major) out[std::string(Trim(parts->second))] = static_cast<unsigned>(*major);
  }
  return out;
}

const unsigned* Find(const MajorsByName& majors, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const auto it = majors.find(name); it != majors.end()) return &it->second;
  return nullptr;
}

std::vector<DriverNode> ControlNodesOf(const MajorsByName& majors) {
  std::vector<DriverNode> out;
  if (const unsigned* gpu = Find(majors, {"nvidia", "nvidia-frontend"})) {
    out.push_back({"/dev/nvidiactl", {.major = *gpu, .minor = 255}});
    out.push_back({"/dev/nvidia-modeset", {.major = *gpu, .minor = 254}});
  }
  if (const unsigned* uvm = Find(majors, {"nvidia-uvm"})) {
    out.push_back({"/dev/nvidia-uvm", {.major = *uvm, .minor = 0}});
    out.push_back({"/dev/nvidia-uvm-tools", {.major = *uvm, .minor = 1}});
  }
  return out;
}

}  // namespace

std::vector<DriverNode> ControlNodes(std::string_view proc_devices) { return ControlNodesOf(Majors(proc_devices)); }

std::vector<DriverNode> AllDriverNodes(const os::Fs& host) {
  const MajorsByName majors = Majors(host.Read("/proc/devices").value_or(""));
  std::vector<DriverNode> out = ControlNodesOf(majors);
  if (const unsigned* gpu = Find(majors, {"nvidia", "nvidia-frontend"}))
    for (const GpuFacts& facts : FactsFromProc(host).gpus)
      out.push_back({"/dev/nvidia" + std::to_string(facts.minor), {.major = *gpu, .minor = facts.minor}});
  if (const unsigned* caps = Find(majors, {"nvidia-caps"}))
    for (const auto& [name, minor] : ParseMigMinors(host.Read("/proc/driver/nvidia-caps/mig-minors").value_or("")))
      out.push_back({"/dev/nvidia-caps/nvidia-cap" + std::to_string(minor), {.major = *caps, .minor = minor}});
  return out;
}

Result<std::vector<std::string>> MakeDriverNodes(const std::string& dev_root, const std::vector<DriverNode>& nodes) {
  std::vector<std::string> made;
  for (const DriverNode& node : nodes) {
    const std::string path = BelowRoot(dev_root, node.path);
    const std::string folder = os::FolderOf(path);
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return os::FailErrno(errno, "make " + folder);
    if (::mknod(path.c_str(), S_IFCHR | 0666, ::makedev(node.device.major, node.device.minor)) != 0) {
      if (errno == EEXIST) continue;
      return os::FailErrno(errno, "make " + path);
    }
    if (::chmod(path.c_str(), 0666) != 0) return os::FailErrno(errno, "chmod " + path);
    made.push_back(path);
  }
  return made;
}

}  // namespace gpuop::container
