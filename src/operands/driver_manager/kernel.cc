#include "operands/driver_manager/kernel.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "os/fd.h"
#include "os/mounts.h"
#include "os/real_fs.h"
#include "os/system_error.h"

namespace gpuop::operands::driver_manager {
namespace {

constexpr std::array kModules = {"nvidia_drm", "nvidia_modeset",   "nvidia_uvm", "nvidia_peermem",
                                 "nvidia_fs",  "nvidia_vgpu_vfio", "gdrdrv",     "nvidia"};

bool IsDriverModule(std::string_view name) { return std::ranges::find(kModules, name) != kModules.end(); }

/// A line of /proc/modules: name, size, users, names of modules that use it.
struct Module {
  std::string_view name;
  std::int64_t users = 0;
  std::vector<std::string_view> used_by;
};

std::vector<Module> ReadModules(std::string_view text) {
  std::vector<Module> out;
  for (const std::string_view line : Split(text, '\n')) {
    const auto words = Split(line, ' ');
    if (words.size() < 4) continue;
    Module module{words[0], ParseInt(words[2]).value_or(0), {}};
    for (const std::string_view user : Split(words[3], ','))
      if (!user.empty() && user != "-") module.used_by.push_back(user);
    out.push_back(std::move(module));
  }
  return out;
}

}  // namespace

Result<> RealKernel::UnloadModule(const std::string& name) {
  if (::syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0 || errno == ENOENT) return {};
  if (errno == EAGAIN || errno == EBUSY) return Fail(Code::kConflict, "module " + name + " is in use");
  return os::FailErrno(errno, "unload module " + name);
}

Result<> RealKernel::Unmount(const std::string& path) {
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(const auto mounts, os::ReadMounts(*fs));
  // Mounted last, unmounted first.
  for (auto it = mounts.rbegin(); it != mounts.rend(); ++it) {
    if (it->point != path && !it->point.starts_with(path + "/")) continue;
    if (::umount2(it->point.c_str(), MNT_DETACH) != 0 && errno != EINVAL)
      return os::FailErrno(errno, "unmount " + it->point);
  }
  return {};
}

Result<> RealKernel::UnbindDriver(const std::string& address) {
  const std::string device = "/sys/bus/pci/devices/" + address;
  // A file of sysfs takes a word in one write.
  const auto write = [](const std::string& path, std::string_view text) -> Result<> {
    const os::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid() || ::write(file.get(), text.data(), text.size()) < 0)
      return os::FailErrno(errno, "write " + path);
    return {};
  };
  TRY(write(device + "/driver/unbind", address));
  return write(device + "/driver_override", "\n");
}

Result<> FakeKernel::Do(const std::string& words) {
  asked.push_back(words);
  if (std::ranges::find(fail, words) != fail.end()) return Fail(Code::kConflict, words + ": in use");
  return {};
}

std::vector<std::string> LoadedDriverModules(const os::Fs& host) {
  std::vector<std::string> out;
  const std::string text = host.Read("/proc/modules").value_or("");
  const auto modules = ReadModules(text);
  for (const char* const name : kModules)
    if (std::ranges::find(modules, std::string_view(name), &Module::name) != modules.end()) out.emplace_back(name);
  return out;
}

std::string ModulesInUse(const os::Fs& host) {
  const std::string text = host.Read("/proc/modules").value_or("");
  for (const Module& module : ReadModules(text)) {
    if (!IsDriverModule(module.name)) continue;
    for (const std::string_view user : module.used_by)
      if (!IsDriverModule(user)) return std::string(module.name).append(" is used by ").append(user);
    // Users that are no modules are programs.
    const auto programs = module.users - static_cast<std::int64_t>(module.used_by.size());
    if (programs > 0) return std::string(module.name).append(" has ").append(std::to_string(programs)).append(" users");
  }
  return {};
}

}  // namespace gpuop::operands::driver_manager
