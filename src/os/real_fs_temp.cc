#include "os/real_fs_temp.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "os/system_error.h"

namespace gpuop::os {

Result<> WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<TempFile> TempFile::Take(int folder, std::string name, const std::string& path) {
  for (;;) {
    Fd fd(::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
    if (!fd.valid()) return FailErrno(errno, "write " + path);
    while (::flock(fd.get(), LOCK_EX) != 0)
      if (errno != EINTR) return FailErrno(errno, "lock the temporary file of " + path);
    struct stat ours{}, named{};
    if (::fstat(fd.get(), &ours) != 0) return FailErrno(errno, path);
    // While we waited for the lock its holder has moved the file to its place: that one is not ours to change.
    if (::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_ino != ours.st_ino ||
        named.st_dev != ours.st_dev)
      continue;
    // A second name would let us write into somebody else's file.
    if (!S_ISREG(ours.st_mode) || ours.st_nlink != 1)
      return Fail(Code::kInvalid, "write " + path + ": " + name + " beside it is not ours");
    if (::ftruncate(fd.get(), 0) != 0) return FailErrno(errno, "write " + path);
    return TempFile(folder, std::move(name), path, std::move(fd));
  }
}

TempFile::~TempFile() {
  if (fd_.valid() && !moved_) ::unlinkat(folder_, name_.c_str(), 0);
}

Result<> TempFile::Fill(std::string_view bytes, const FileAttributes& attributes, bool sync) {
  TRY(WriteAll(fd_.get(), bytes, path_));
  struct stat st{};
  if (::fstat(fd_.get(), &st) != 0) return FailErrno(errno, path_);
  // The owner first: changing it takes set-id bits away.
  if ((attributes.uid != st.st_uid || attributes.gid != st.st_gid) &&
      ::fchown(fd_.get(), attributes.uid, attributes.gid) != 0)
    return FailErrno(errno, "chown " + path_);
  if (::fchmod(fd_.get(), attributes.mode) != 0) return FailErrno(errno, "chmod " + path_);
  if (sync && ::fsync(fd_.get()) != 0) return FailErrno(errno, "sync " + path_);
  return {};
}

Result<> TempFile::MoveTo(const std::string& target) {
  if (::renameat(folder_, name_.c_str(), folder_, target.c_str()) != 0) return FailErrno(errno, "replace " + path_);
  moved_ = true;
  return {};
}

}  // namespace gpuop::os
