#include <dirent.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "base/text.h"
#include "machine/nvml/library.h"

namespace gpuop::machine::nvml {
namespace {

/// Whether /proc/PID is the process that is `inner` in pid namespace `space`: the last number of its NSpid line is the
/// pid in its own namespace.
bool IsProcess(const std::string& folder, std::uint64_t space, std::int32_t inner) {
  struct stat info{};
  if (::stat((folder + "/ns/pid").c_str(), &info) != 0 || info.st_ino != space) return false;
  std::ifstream in(folder + "/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("NSpid:")) continue;
    const auto numbers = Split(line, '\t');
    return ParseInt(numbers.back()) == inner;
  }
  return false;
}

}  // namespace

std::optional<unsigned> VisiblePid(const layout::Client& client) {
  static const std::uint64_t kOwn = OwnPidNamespace();
  if (client.pid_namespace == kOwn) return static_cast<unsigned>(client.pid);
  std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return std::nullopt;
  while (const dirent* entry = ::readdir(proc.get())) {
    const auto pid = ParseInt(entry->d_name);
    if (pid && IsProcess("/proc/" + std::string(entry->d_name), client.pid_namespace, client.pid))
      return static_cast<unsigned>(*pid);
  }
  return std::nullopt;
}

}  // namespace gpuop::machine::nvml
