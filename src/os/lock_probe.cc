#include "os/lock_probe.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "os/fd.h"
#include "os/system_error.h"

namespace gpuop::os {

Result<bool> IsLocked(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return FailErrno(errno, path);
  if (::flock(fd.get(), LOCK_SH | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  return FailErrno(errno, "look at the lock of " + path);
}

}  // namespace gpuop::os
