#include "machine/state/nodes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace gpuop::machine {
namespace {

constexpr const char* kBroughtAlong = "/run/nvidia-persistenced/socket";

bool IsCharacterDevice(const char* path) {
  struct stat info{};
  return ::stat(path, &info) == 0 && S_ISCHR(info.st_mode);
}

bool IsThere(const char* path) {
  struct stat info{};
  return ::stat(path, &info) == 0;
}

bool CanOpen(const std::string& path, int how) {
  const int fd = ::open(path.c_str(), how | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno == ENXIO || errno == ENODEV;
  ::close(fd);
  return true;
}

/// The root of the host whose driver this library is, as this process sees it: "/host" for
/// /host/usr/lib/x86_64-linux-gnu/libcuda.so.1, nothing where the library is among the process's own.
std::string RootOfLibrary() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&IsThere), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view path(info.dli_fname);
  const std::size_t end = path.rfind("/usr/lib");
  return std::string(path.substr(0, end == std::string_view::npos ? 0 : end));
}

const char* Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? value : nullptr;
}

}  // namespace

bool Nodes::Usable(const std::string& name) const { return folder_.empty() || CanOpen(folder_ + "/" + name, O_RDWR); }
bool Nodes::Readable(const std::string& name) const {
  return folder_.empty() || CanOpen(folder_ + "/" + name, O_RDONLY);
}

bool Nodes::HasControl() const { return folder_.empty() || IsThere((folder_ + "/nvidiactl").c_str()); }

Result<Found> FindMachine() {
  const bool control = IsThere("/dev/nvidiactl");
  if (const char* path = Environment("GPUOP_MACHINE_STATE")) {
    ASSIGN(auto state, State::Open(path));
    const char* folder = Environment("GPUOP_MACHINE_DEV");
    return Found{std::move(state), folder != nullptr ? Nodes(folder) : control ? Nodes("/dev") : Nodes::All()};
  }
  if (!control) return Fail(Code::kNotFound, "/dev/nvidiactl: no such device: no driver is loaded");
  std::string path = "/dev/nvidiactl";
  if (IsCharacterDevice(path.c_str())) path = IsThere(kBroughtAlong) ? kBroughtAlong : RootOfLibrary() + kBroughtAlong;
  ASSIGN(auto state, State::Open(path));
  return Found{std::move(state), Nodes("/dev")};
}

std::vector<std::uint32_t> VisibleDevices(const layout::Machine& machine, const Nodes& nodes) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < machine.device_count; ++i)
    if ((machine.devices[i].faults & layout::kFaultNodeMissing) == 0 && nodes.Device(machine.devices[i].facts.minor))
      out.push_back(i);
  return out;
}

std::vector<Place> VisibleInstances(const layout::Machine& machine, const Nodes& nodes, std::uint32_t device) {
  std::vector<Place> out;
  const layout::Device& gpu = machine.devices[device];
  if (gpu.mig_current == 0) return out;
  for (std::uint32_t g = 0; g < layout::kMaxGpuInstances; ++g) {
    const layout::GpuInstance& instance = gpu.instances[g];
    if (instance.in_use == 0 || !nodes.Capability(GpuInstanceMinor(gpu.facts.minor, g))) continue;
    for (std::uint32_t c = 0; c < layout::kMaxComputeInstances; ++c)
      if (instance.compute[c].in_use != 0 && nodes.Capability(ComputeInstanceMinor(gpu.facts.minor, g, c)))
        out.push_back({device, g, c});
  }
  return out;
}

std::string MigUuid(const layout::Device& device, std::uint32_t gpu_instance, std::uint32_t compute_instance) {
  return NameUuid("MIG-", std::string(device.facts.uuid.view()) + "/" + std::to_string(gpu_instance) + "/" +
                              std::to_string(compute_instance));
}

std::string NameUuid(std::string_view kind, const std::string& key) {
  const std::uint64_t high = Hash64(key), low = Hash64(key, high);
  char out[64];
  // The form of a name-based UUID (RFC 9562, version 8: the bits are ours).
  std::snprintf(out, sizeof out, "%08x-%04x-8%03x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xffff), static_cast<unsigned>(high & 0xfff),
                static_cast<unsigned>(0x8000 | (low >> 50)), static_cast<unsigned long long>(low & 0xffffffffffffULL));
  return std::string(kind) + out;
}

}  // namespace gpuop::machine
