#include "machine/host/tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "os/fd.h"
#include "os/real_fs_temp.h"
#include "os/system_error.h"

namespace gpuop::machine {
namespace {

namespace fs = std::filesystem;

Result<> MakeParents(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return os::FailErrno(error.value(), "make the folder of " + path);
  return {};
}

/// Whether the file is already as wanted.
bool IsSo(const std::string& path, const TreeEntry& entry) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & 07777) != entry.mode ||
      static_cast<std::size_t>(info.st_size) != entry.content.size())
    return false;
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {}) == entry.content;
}

os::Fd OpenToWrite(const std::string& path) {
  return os::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
}

Result<> WriteInPlace(const std::string& path, const TreeEntry& entry) {
  if (IsSo(path, entry)) return {};
  os::Fd fd = OpenToWrite(path);
  // Its owner may make a file that nobody may write writable for a moment.
  if (!fd.valid() && errno == EACCES && ::chmod(path.c_str(), 0600) == 0) fd = OpenToWrite(path);
  if (!fd.valid()) return os::FailErrno(errno, "write " + path);
  TRY(os::WriteAll(fd.get(), entry.content, path));
  if (::fchmod(fd.get(), entry.mode) != 0) return os::FailErrno(errno, "chmod " + path);
  return {};
}

/// Container engines take only device nodes for devices: whoever runs one on a machine puts such nodes in the place of
/// its files, and there they stay.
bool IsDeviceNode(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode);
}

Result<> Make(const std::string& path, const TreeEntry& entry) {
  TRY(MakeParents(path));
  if (IsDeviceNode(path)) return {};
  switch (entry.kind) {
    case TreeEntry::Kind::kFile: return WriteInPlace(path, entry);
    case TreeEntry::Kind::kSameAs: return MakeSameFile(path, entry.content);
    case TreeEntry::Kind::kFolder:
      if (::mkdir(path.c_str(), entry.mode) != 0 && errno != EEXIST) return os::FailErrno(errno, "make " + path);
      return {};
    case TreeEntry::Kind::kLink:
      ::unlink(path.c_str());
      if (::symlink(entry.content.c_str(), path.c_str()) != 0) return os::FailErrno(errno, "link " + path);
      return {};
  }
  return {};
}

}  // namespace

Result<> MakeSameFile(const std::string& path, const std::string& wanted) {
  std::error_code error;
  const fs::path real = fs::canonical(wanted, error);
  if (error) return os::FailErrno(error.value(), wanted);
  if (fs::equivalent(real, path, error)) return {};
  const bool same_size = fs::file_size(path, error) == fs::file_size(real, error);
  const bool copied = !error && same_size && fs::last_write_time(path, error) >= fs::last_write_time(real, error);
  if (copied && !error) return {};
  // Whoever runs the old file keeps it.
  ::unlink(path.c_str());
  if (::link(real.c_str(), path.c_str()) == 0) return {};
  fs::copy_file(real, path, error);
  if (error) return os::FailErrno(error.value(), "copy " + wanted + " to " + path);
  return {};
}

namespace {

/// Whether a program that looks at either sees the same.
bool LooksSame(const std::string& a, const std::string& b) {
  struct stat first{}, second{};
  if (::lstat(a.c_str(), &first) != 0 || ::lstat(b.c_str(), &second) != 0) return false;
  if ((first.st_mode & S_IFMT) != (second.st_mode & S_IFMT)) return false;
  std::error_code error;
  if (S_ISLNK(first.st_mode)) return fs::read_symlink(a, error) == fs::read_symlink(b, error) && !error;
  return !S_ISREG(first.st_mode) ||
         (first.st_size == second.st_size && fs::last_write_time(a, error) == fs::last_write_time(b, error) && !error);
}

Result<> ShowOne(const std::string& own, const std::string& seen) {
  std::error_code error;
  const auto kind = fs::symlink_status(own, error).type();
  if (kind == fs::file_type::directory || LooksSame(own, seen)) return {};
  const auto before = fs::symlink_status(seen, error).type();
  if (before != fs::file_type::not_found && before != fs::file_type::directory && ::unlink(seen.c_str()) != 0)
    return os::FailErrno(errno, "remove " + seen);
  if (kind == fs::file_type::not_found) return {};
  TRY(MakeParents(seen));
  fs::copy(own, seen, fs::copy_options::copy_symlinks, error);
  if (!error && kind == fs::file_type::regular) fs::last_write_time(seen, fs::last_write_time(own), error);
  if (error) return os::FailErrno(error.value(), "show " + own + " at " + seen);
  return {};
}

}  // namespace

Result<> Show(const Tree& tree, const std::string& folder, const std::string& root, const std::string& seen) {
  for (auto it = tree.entries().lower_bound(folder + "/"); it != tree.entries().end(); ++it) {
    if (!it->first.starts_with(folder + "/")) break;
    TRY(ShowOne(root + it->first, seen + it->first));
  }
  return {};
}

Result<> Update(const std::string& root, const Tree& before, const Tree& now) {
  // Deepest first, so that a folder is empty when its turn comes; one that others use stays.
  for (auto it = before.entries().rbegin(); it != before.entries().rend(); ++it) {
    if (now.entries().contains(it->first)) continue;
    const std::string path = root + it->first;
    if (it->second.kind == TreeEntry::Kind::kFolder)
      ::rmdir(path.c_str());
    else
      ::unlink(path.c_str());
    // The folders above were made with it, but for those that are wanted for themselves.
    for (fs::path above = fs::path(it->first).parent_path();
         above != "/" && !now.entries().contains(above) && ::rmdir((root + above.string()).c_str()) == 0;)
      above = above.parent_path();
  }
  for (const auto& [path, entry] : now.entries()) {
    const auto old = before.entries().find(path);
    if (old != before.entries().end() && old->second == entry) continue;
    TRY(Make(root + path, entry));
  }
  return {};
}

}  // namespace gpuop::machine
