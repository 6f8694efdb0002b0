#include "os/real_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <array>
#include <climits>

#include "os/real_fs_temp.h"
#include "os/system_error.h"

namespace gpuop::os {
namespace {

constexpr std::size_t kMostNames = 1U << 17;

FileType TypeOf(mode_t mode) {
  if (S_ISREG(mode)) return FileType::kFile;
  if (S_ISDIR(mode)) return FileType::kFolder;
  if (S_ISLNK(mode)) return FileType::kSymlink;
  return FileType::kOther;
}

Result<> RequireRegular(int fd, const std::string& path) {
  struct stat st{};
  if (::fstat(fd, &st) != 0) return FailErrno(errno, path);
  if (S_ISDIR(st.st_mode)) return FailErrno(EISDIR, path);
  if (!S_ISREG(st.st_mode)) return Fail(Code::kInvalid, path + ": not a regular file");
  return {};
}

Result<std::string> LinkOf(int fd, const char* name, const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t n = ::readlinkat(fd, name, target.data(), target.size());
  if (n < 0) return FailErrno(errno, path);
  target.resize(static_cast<std::size_t>(n));
  return target;
}

class Flock final : public FileLock {
 public:
  explicit Flock(Fd fd) : fd_(std::move(fd)) {}

 private:
  Fd fd_;
};

std::string ProcPath(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

}  // namespace

Result<std::unique_ptr<RealFs>> RealFs::Open(const std::string& root, Durability durability) {
  Fd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return FailErrno(errno, root);
  return std::unique_ptr<RealFs>(new RealFs(std::move(fd), durability));
}

Result<Fd> RealFs::OpenInside(const std::string& path, int flags, mode_t mode) const {
  if (path.empty() || path.find('\0') != std::string::npos) TRY(SplitPath(path));
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.mode = mode;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something on the way was renamed while the kernel looked (openat2(2)).
  for (int tries = 0;; ++tries) {
    const long fd = ::syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if ((errno != EAGAIN && errno != EINTR) || tries == 100) return FailErrno(errno, path);
  }
}

Result<RealFs::Place> RealFs::Locate(const std::string& path) const {
  ASSIGN(auto parts, SplitPath(path));
  if (parts.second.empty()) return Fail(Code::kInvalid, path + ": the root cannot be changed");
  auto folder = OpenInside(parts.first, O_RDONLY | O_DIRECTORY);
  if (!folder) return Fail(folder.error().code, path + ": in " + folder.error().text);
  return Place{*std::move(folder), std::move(parts.second)};
}

Result<> RealFs::Sync(const Fd& folder, const std::string& path) const {
  if (durability_ == Durability::kNone) return {};
  if (::fsync(folder.get()) != 0) return FailErrno(errno, "sync the folder of " + path);
  return {};
}

Result<std::string> RealFs::Read(const std::string& path, std::size_t limit) const {
  ASSIGN(const Fd fd, OpenInside(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  TRY(RequireRegular(fd.get(), path));
  std::string bytes;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, path);
    if (n == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
    if (bytes.size() > limit) return Fail(Code::kTooLarge, path + ": longer than " + std::to_string(limit) + " bytes");
  }
}

Result<std::string> RealFs::ReadPart(const std::string& path, std::uint64_t offset, std::size_t size) const {
  ASSIGN(const Fd fd, OpenInside(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  TRY(RequireRegular(fd.get(), path));
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t n = ::pread(fd.get(), bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, path);
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

Result<FileInfo> RealFs::Stat(const std::string& path) const {
  ASSIGN(const Fd fd, OpenInside(path, O_PATH | O_NOFOLLOW));
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return FailErrno(errno, path);
  std::optional<DeviceNumbers> device;
  if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
    device = {.block = S_ISBLK(st.st_mode), .major = ::major(st.st_rdev), .minor = ::minor(st.st_rdev)};
  return FileInfo{
      .type = TypeOf(st.st_mode),
      .attributes = {.mode = st.st_mode & 07777, .uid = st.st_uid, .gid = st.st_gid},
      .size = static_cast<std::uint64_t>(st.st_size),
      .inode = st.st_ino,
      .modified = WallTime(std::chrono::seconds(st.st_mtim.tv_sec) + std::chrono::nanoseconds(st.st_mtim.tv_nsec)),
      .device = device};
}

Result<std::vector<std::string>> RealFs::List(const std::string& path) const {
  ASSIGN(Fd fd, OpenInside(path, O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), &::closedir);
  if (!folder) return FailErrno(errno, path);
  fd.Release();  // the folder closes it
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) return FailErrno(errno, path);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kMostNames)
      return Fail(Code::kTooLarge, path + ": more than " + std::to_string(kMostNames) + " names");
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<std::string> RealFs::ReadLink(const std::string& path) const {
  ASSIGN(const Fd fd, OpenInside(path, O_PATH | O_NOFOLLOW));
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return FailErrno(errno, path);
  if (!S_ISLNK(st.st_mode)) return Fail(Code::kInvalid, path + ": not a link");
  return LinkOf(fd.get(), "", path);
}

Result<std::string> RealFs::Resolve(const std::string& path) const {
  ASSIGN(const Fd fd, OpenInside(path, O_PATH));
  ASSIGN(std::string full, LinkOf(AT_FDCWD, ProcPath(fd).c_str(), path));
  ASSIGN(const std::string root, LinkOf(AT_FDCWD, ProcPath(root_).c_str(), path));
  if (root != "/") full.erase(0, root.size());
  return full.empty() ? "/" : full;
}

Result<> RealFs::WriteAtomic(const std::string& path, std::string_view bytes,
                             std::optional<FileAttributes> attributes) {
  ASSIGN(const Place place, Locate(path));
  struct stat st{};
  if (::fstatat(place.folder.get(), place.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISDIR(st.st_mode)) return FailErrno(EISDIR, path);
    if (!attributes && S_ISREG(st.st_mode)) attributes = {st.st_mode & 07777, st.st_uid, st.st_gid};
  } else if (errno != ENOENT) {
    return FailErrno(errno, path);
  }
  ASSIGN(TempFile temp, TempFile::Take(place.folder.get(), "." + place.name + ".gpuop-tmp", path));
  TRY(temp.Fill(bytes, attributes.value_or(FileAttributes{0644, ::geteuid(), ::getegid()}),
                durability_ == Durability::kSynced));
  TRY(temp.MoveTo(place.name));
  return Sync(place.folder, path);
}

Result<> RealFs::Append(const std::string& path, std::string_view bytes) {
  ASSIGN(const Fd fd, OpenInside(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0644));
  TRY(RequireRegular(fd.get(), path));
  TRY(WriteAll(fd.get(), bytes, path));
  if (durability_ == Durability::kSynced && ::fsync(fd.get()) != 0) return FailErrno(errno, path);
  ASSIGN(const Place place, Locate(path));
  return Sync(place.folder, path);
}

Result<> RealFs::Rename(const std::string& from, const std::string& to) {
  ASSIGN(const Place source, Locate(from));
  ASSIGN(const Place target, Locate(to));
  if (::renameat(source.folder.get(), source.name.c_str(), target.folder.get(), target.name.c_str()) != 0)
    return FailErrno(errno, "rename " + from + " to " + to);
  TRY(Sync(target.folder, to));
  return Sync(source.folder, from);
}

Result<> RealFs::Remove(const std::string& path) {
  ASSIGN(const Place place, Locate(path));
  int rc = ::unlinkat(place.folder.get(), place.name.c_str(), 0);
  if (rc != 0 && errno == EISDIR) rc = ::unlinkat(place.folder.get(), place.name.c_str(), AT_REMOVEDIR);
  if (rc != 0) return FailErrno(errno, "remove " + path);
  return Sync(place.folder, path);
}

Result<> RealFs::MakeFolder(const std::string& path, mode_t mode) {
  ASSIGN(const Place place, Locate(path));
  if (::mkdirat(place.folder.get(), place.name.c_str(), mode) != 0) return FailErrno(errno, "make folder " + path);
  const Fd made(::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made.valid() || ::fchmod(made.get(), mode) != 0) return FailErrno(errno, path);  // the umask took bits away
  return Sync(place.folder, path);
}

Result<> RealFs::Symlink(const std::string& target, const std::string& path) {
  ASSIGN(const Place place, Locate(path));
  const std::string temp = "." + place.name + ".gpuop-link";
  for (int tries = 0;; ++tries) {
    ::unlinkat(place.folder.get(), temp.c_str(), 0);  // what a killed writer left
    if (::symlinkat(target.c_str(), place.folder.get(), temp.c_str()) == 0 &&
        ::renameat(place.folder.get(), temp.c_str(), place.folder.get(), place.name.c_str()) == 0)
      return Sync(place.folder, path);
    // Another writer of the same link can take our temporary name away: then this one goes again.
    if ((errno == EEXIST || errno == ENOENT) && tries < 100) continue;
    const int error = errno;
    ::unlinkat(place.folder.get(), temp.c_str(), 0);
    return FailErrno(error, "link " + path);
  }
}

Result<> RealFs::SetMode(const std::string& path, mode_t mode) {
  ASSIGN(const Fd fd, OpenInside(path, O_PATH));
  // fchmod(2) refuses an O_PATH descriptor; its name in /proc stands for the very same file.
  if (::chmod(ProcPath(fd).c_str(), mode) != 0) return FailErrno(errno, "chmod " + path);
  return {};
}

Result<> RealFs::SetOwner(const std::string& path, uid_t uid, gid_t gid) {
  ASSIGN(const Fd fd, OpenInside(path, O_PATH));
  if (::fchownat(fd.get(), "", uid, gid, AT_EMPTY_PATH) != 0) return FailErrno(errno, "chown " + path);
  return {};
}

Result<std::unique_ptr<FileLock>> RealFs::Lock(const std::string& path) {
  ASSIGN(Fd fd, OpenInside(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600));
  TRY(RequireRegular(fd.get(), path));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Fail(Code::kConflict, path + ": locked by another process");
    return FailErrno(errno, "lock " + path);
  }
  return std::make_unique<Flock>(std::move(fd));
}

}  // namespace gpuop::os
