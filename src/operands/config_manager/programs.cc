#include "operands/config_manager/programs.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "os/fd.h"
#include "os/pidfd.h"
#include "os/system_error.h"

namespace gpuop::operands::config_manager {
namespace {

struct Process {
  pid_t pid = 0, parent = 0;
};

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}  // no slash: npos + 1 is 0

std::string Argv0(const os::Fs& fs, pid_t pid) {
  const std::string line = fs.Read("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  return line.substr(0, line.find('\0'));
}

pid_t ParentOf(const os::Fs& fs, pid_t pid) {
  constexpr std::size_t kParent = 4;
  return static_cast<pid_t>(os::StatNumber(fs, pid, kParent).value_or(0));
}

/// False when the process has ended, or become another program, meanwhile.
Result<bool> SendTo(const os::Fs& fs, pid_t pid, const std::string& name, int signal) {
  const os::Fd process = os::OpenProcess(pid);
  if (!process.valid() && errno == ESRCH) return false;
  if (!process.valid()) return os::FailErrno(errno, "process " + std::to_string(pid));
  if (!StartedAs(Argv0(fs, pid), name)) return false;
  if (os::SignalProcess(process, signal)) return true;
  if (errno == ESRCH) return false;
  return os::FailErrno(errno, "signal process " + std::to_string(pid));
}

}  // namespace

bool StartedAs(std::string_view argv0, std::string_view name) {
  if (argv0.empty() || name.empty()) return false;
  if (argv0 == name) return true;
  const bool both_paths = argv0.find('/') != std::string_view::npos && name.find('/') != std::string_view::npos;
  return !both_paths && BaseName(argv0) == BaseName(name);
}

Result<std::size_t> RealPrograms::Signal(const std::string& name, int signal) {
  ASSIGN(const std::vector<std::string> entries, fs_.List("/proc"));
  std::vector<Process> found;
  for (const std::string& entry : entries) {
    const auto pid = ParseInt(entry);
    if (!pid || *pid == ::getpid() || !StartedAs(Argv0(fs_, static_cast<pid_t>(*pid)), name)) continue;
    found.push_back({static_cast<pid_t>(*pid), ParentOf(fs_, static_cast<pid_t>(*pid))});
  }
  std::size_t sent = 0;
  for (const Process& process : found) {
    if (std::ranges::find(found, process.parent, &Process::pid) != found.end()) continue;
    ASSIGN(const bool got, SendTo(fs_, process.pid, name, signal));
    sent += got ? 1 : 0;
  }
  return sent;
}

}  // namespace gpuop::operands::config_manager
