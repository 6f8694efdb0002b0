// nvidia-ctk system: device nodes, and what the loader knows.
#include <cstdlib>

#include "base/text.h"
#include "cli/ctk/cdi.h"
#include "container/device_nodes.h"
#include "container/elf/ldcache.h"
#include "container/flags.h"
#include "os/process.h"
#include "os/real_fs.h"

namespace gpuop::cli {
namespace {

using container::FlagSpec;
using container::FlagValues;

/// As the driver's own installer has them loaded. A module that is there is loaded again without harm.
Result<> LoadModules(const std::string& root) {
  os::RealProcesses processes;
  for (const char* module : {"nvidia", "nvidia-uvm", "nvidia-modeset"}) {
    std::vector<std::string> argv = {"modprobe", module};
    if (root != "/") argv.insert(argv.begin(), {"chroot", root});
    ASSIGN(const os::Exit exit, processes.Run({.argv = argv}, {}));
    if (!exit.ok()) return Fail(Code::kUnavailable, "modprobe " + std::string(module) + ": " + exit.Describe());
  }
  return {};
}

std::string LinkName(const container::DriverNode& node) {
  return std::to_string(node.device.major) + ":" + std::to_string(node.device.minor);
}

std::string Or(const std::string& text, const std::string& otherwise) { return text.empty() ? otherwise : text; }

}  // namespace

Result<std::string> SystemCreateDeviceNodes(const std::vector<std::string>& arguments) {
  static const std::vector<FlagSpec> kFlags = {
      {{"--driver-root", "--root"}, {"NVIDIA_DRIVER_ROOT", "DRIVER_ROOT"}, "/"},
      {{"--dev-root"}, {"NVIDIA_DEV_ROOT", "DEV_ROOT"}},
      {{"--control-devices"}, {}, "false", true},
      {{"--load-kernel-modules"}, {}, "false", true},
      {{"--dry-run"}, {}, "false", true}};
  ASSIGN(const FlagValues v, container::ParseFlags(kFlags, arguments, std::getenv));
  const std::string root = Or(v.Text("--dev-root"), v.Text("--driver-root"));
  if (v.On("--load-kernel-modules") && !v.On("--dry-run")) TRY(LoadModules(v.Text("--driver-root")));
  if (!v.On("--control-devices")) return std::string();
  ASSIGN(const auto host, os::RealFs::Open("/"));
  const auto nodes = container::ControlNodes(host->Read("/proc/devices").value_or(""));
  if (nodes.empty()) return Fail(Code::kUnavailable, "/proc/devices has no nvidia: the driver is not loaded");
  std::string out;
  if (v.On("--dry-run")) {
    for (const container::DriverNode& node : nodes) out += node.path + " " + LinkName(node) + "\n";
    return out;
  }
  ASSIGN(const std::vector<std::string> made, container::MakeDriverNodes(root, nodes));
  for (const std::string& path : made) out += path + "\n";
  return out;
}

Result<std::string> SystemCreateDevCharSymlinks(const std::vector<std::string>& arguments) {
  static const std::vector<FlagSpec> kFlags = {
      {{"--dev-char-path"}, {"DEV_CHAR_PATH"}, "/dev/char"},
      {{"--driver-root"}, {"NVIDIA_DRIVER_ROOT", "DRIVER_ROOT"}, "/"},
      {{"--create-all"}, {"CREATE_ALL"}, "false", true},
      {{"--load-kernel-modules"}, {"LOAD_KERNEL_MODULES"}, "false", true},
      {{"--create-device-nodes"}, {"NVIDIA_CREATE_DEVICE_NODES"}, "false", true},
      {{"--dry-run"}, {"DRY_RUN"}, "false", true}};
  ASSIGN(const FlagValues v, container::ParseFlags(kFlags, arguments, std::getenv));
  if (v.On("--load-kernel-modules") && !v.On("--dry-run")) TRY(LoadModules(v.Text("--driver-root")));
  ASSIGN(const auto host, os::RealFs::Open("/"));
  ASSIGN(const auto devices, os::RealFs::Open(v.Text("--driver-root")));
  if (v.On("--create-device-nodes") && !v.On("--dry-run"))
    TRY(container::MakeDriverNodes(v.Text("--driver-root"),
                                   container::ControlNodes(host->Read("/proc/devices").value_or(""))));
  const std::string folder = v.Text("--dev-char-path");
  if (!v.On("--dry-run")) TRY(os::MakeFolders(*host, folder));
  std::string out;
  for (const container::DriverNode& node : container::AllDriverNodes(*host)) {
    if (!v.On("--create-all") && !os::Exists(*devices, node.path).value_or(false)) continue;
    const std::string link = folder + "/" + LinkName(node);
    // Links of the host's udev lead to the same node by a shorter way.
    if (host->ReadLink(link)) continue;
    out += link + " -> " + node.path + "\n";
    if (!v.On("--dry-run")) TRY(host->Symlink(node.path, link));
  }
  return out;
}

Result<std::string> SystemPrintLdcache(const std::vector<std::string>& arguments) {
  static const std::vector<FlagSpec> kFlags = {{{"--driver-root"}, {"DRIVER_ROOT"}, "/"}};
  constexpr std::size_t kLongest = 16U << 20U;
  ASSIGN(const FlagValues v, container::ParseFlags(kFlags, arguments, std::getenv));
  ASSIGN(const auto driver, os::RealFs::Open(v.Text("--driver-root")));
  ASSIGN(const std::string bytes, driver->Read("/etc/ld.so.cache", kLongest));
  ASSIGN(const auto entries, container::ReadLdCache(bytes));
  std::string out;
  for (const container::LdCacheEntry& entry : entries) out += entry.name + " => " + entry.path + "\n";
  return out;
}

}  // namespace gpuop::cli
