#include "operands/driver_manager/holders.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace gpuop::operands::driver_manager {
namespace {

bool IsGpuNode(std::string_view path) { return path.starts_with("/dev/nvidia"); }

using IsDevice = std::function<bool(std::string_view path)>;

std::string OpenDevice(const os::Fs& host, const std::string& process, const IsDevice& is_device) {
  const auto descriptors = host.List(process + "/fd");
  if (!descriptors) return {};
  for (const std::string& descriptor : *descriptors) {
    auto target = host.ReadLink(process + "/fd/" + descriptor);
    if (target && is_device(*target)) return *std::move(target);
  }
  return {};
}

std::vector<Holder> Find(const os::Fs& host, const IsDevice& is_device) {
  std::vector<Holder> out;
  const auto processes = host.List("/proc");
  if (!processes) return out;
  for (const std::string& name : *processes) {
    const auto pid = ParseInt(name);
    if (!pid) continue;
    const std::string process = "/proc/" + name;
    std::string device = OpenDevice(host, process, is_device);
    if (device.empty()) continue;
    Holder holder{.pid = *pid, .device = std::move(device)};
    if (const auto program = host.Read(process + "/comm")) holder.program = Trim(*program);
    if (const auto cgroup = host.Read(process + "/cgroup")) holder.pod_uid = PodUidIn(*cgroup);
    out.push_back(std::move(holder));
  }
  std::ranges::sort(out, {}, &Holder::pid);
  return out;
}

}  // namespace

std::string Holder::Words() const {
  return "process " + std::to_string(pid) + " (" + program + ") of " +
         (pod_uid.empty() ? "the host" : "the Pod with UID " + pod_uid) + " holds " + device;
}

std::string PodUidIn(std::string_view cgroup) {
  // systemd's driver writes "-pod1234_5678.slice", cgroupfs "/pod1234-5678/"; a UID is 36 characters.
  constexpr std::size_t kUid = 36;
  for (std::size_t at = cgroup.find("pod"); at != std::string_view::npos; at = cgroup.find("pod", at + 1)) {
    if (at == 0 || (cgroup[at - 1] != '-' && cgroup[at - 1] != '/')) continue;
    std::string uid(cgroup.substr(at + 3, kUid));
    std::ranges::replace(uid, '_', '-');
    const bool right = uid.size() == kUid &&
                       std::ranges::all_of(uid, [](unsigned char c) { return c == '-' || std::isxdigit(c) != 0; });
    if (right) return uid;
  }
  return {};
}

std::vector<Holder> FindHolders(const os::Fs& host) { return Find(host, IsGpuNode); }

std::vector<Holder> FindHoldersOf(const os::Fs& host, std::string_view node) {
  return Find(host, [node](std::string_view path) { return path == node; });
}

}  // namespace gpuop::operands::driver_manager
