#include "operands/mps/shm.h"

#include <sys/mount.h>

#include "operands/mps/plan.h"
#include "os/mounts.h"
#include "os/system_error.h"

namespace gpuop::operands::mps {

Result<> MountShm(os::Fs& fs, const std::string& folder) {
  TRY(os::MakeFolders(fs, folder));
  ASSIGN(const std::string real, fs.Resolve(folder));
  ASSIGN(const auto mounts, os::ReadMounts(fs));
  const os::Mount* const mount = os::MountOf(mounts, real);
  if (mount != nullptr && mount->point == real && mount->type == "tmpfs") return {};
  const std::string options = ShmOptions(fs.Read("/proc/meminfo").value_or(""));
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME;
  if (::mount("shm", real.c_str(), "tmpfs", kFlags, options.c_str()) == 0) return {};
  return os::FailErrno(errno, "mount memory on " + real);
}

}  // namespace gpuop::operands::mps
