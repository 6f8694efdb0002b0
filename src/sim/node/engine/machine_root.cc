#include "sim/node/engine/machine_root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>

#include "os/fd.h"
#include "os/system_error.h"
#include "sim/node/engine/syscalls.h"

namespace gpuop::sim::node {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const std::string& path) {
  struct stat st{};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}
bool IsLink(const std::string& path) {
  struct stat st{};
  return ::lstat(path.c_str(), &st) == 0 && S_ISLNK(st.st_mode);
}
bool IsThere(const std::string& path) {
  struct stat st{};
  return ::lstat(path.c_str(), &st) == 0;
}

std::string LinkTarget(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
  return {target.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
}

void MakeFile(const std::string& path) { os::Fd(::open(path.c_str(), O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)); }

/// An overlay of `real` at `target`, whose own files lie on top. Where the disk cannot carry the changes, memory does.
Result<> Overlay(const std::string& real, const std::string& target, const std::string& scratch) {
  const std::string upper = scratch + "/upper", work = scratch + "/work";
  for (const std::string& folder : {scratch, upper, work, target}) ::mkdir(folder.c_str(), 0755);
  const std::string options = "lowerdir=" + target + ":" + real + ",upperdir=" + upper + ",workdir=" + work;
  for (const char* more : {"", ",userxattr"})
    if (Mount("overlay", target, "overlay", 0, options + more)) return {};
  TRY(Mount("tmpfs", scratch, "tmpfs", 0, "mode=0755"));
  for (const std::string& folder : {upper, work}) ::mkdir(folder.c_str(), 0755);
  if (Mount("overlay", target, "overlay", 0, options)) return {};
  return Mount("overlay", target, "overlay", 0, options + ",userxattr");
}

/// What the folder has below /proc, to be laid over the kernel's.
std::vector<std::pair<std::string, os::Fd>> ProcFiles(const std::string& root) {
  std::vector<std::pair<std::string, os::Fd>> out;
  const std::string proc = root + "/proc";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc, error)) {
    const std::string name = entry.path().filename();
    // /proc/driver is the kernel's own folder: what lies in it cannot be added to, so it is laid over as a whole.
    if (auto tree = CloneTree(proc + "/" + name, true)) out.emplace_back(name, *std::move(tree));
  }
  return out;
}

Result<> MountProc(const std::string& root) {
  ::mkdir((root + "/proc").c_str(), 0555);
  auto own = ProcFiles(root);
  TRY(Mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC));
  for (const auto& [name, tree] : own)
    if (const std::string at = root + "/proc/" + name; IsThere(at)) TRY(AttachTree(tree, at));
  return {};
}

Result<> MountSys(const std::string& root) {
  const std::string sys = root + "/sys";
  ::mkdir(sys.c_str(), 0555);
  std::error_code error;
  if (!fs::is_empty(sys, error)) return {};
  TRY(Mount("/sys", sys, "", MS_BIND | MS_REC));
  return SetMountFlags(sys, 1 /* MOUNT_ATTR_RDONLY */, false);
}

Result<> MountDev(const std::string& root) {
  const std::string dev = root + "/dev";
  ::mkdir(dev.c_str(), 0755);
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    MakeFile(dev + "/" + name);
    TRY(Mount(std::string("/dev/") + name, dev + "/" + name, "", MS_BIND));
  }
  for (const char* name : {"pts", "shm", "mqueue"}) ::mkdir((dev + "/" + name).c_str(), 0755);
  if (!Mount("devpts", dev + "/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"))
    TRY(Mount("/dev/pts", dev + "/pts", "", MS_BIND));
  TRY(Mount("shm", dev + "/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"));
  for (const auto& [name, target] : {std::pair("ptmx", "pts/ptmx"),
                                     {"fd", "/proc/self/fd"},
                                     {"stdin", "/proc/self/fd/0"},
                                     {"stdout", "/proc/self/fd/1"},
                                     {"stderr", "/proc/self/fd/2"}})
    if (const std::string at = dev + "/" + name; !IsThere(at) && ::symlink(target, at.c_str()) != 0)
      return os::FailErrno(errno, at);
  return {};
}

}  // namespace

Result<> LendPrograms(const std::string& real, const std::string& root, const std::string& scratch) {
  ::mkdir(scratch.c_str(), 0755);
  for (const char* name : {"usr", "bin", "sbin", "lib", "lib64", "lib32"}) {
    const std::string from = real + "/" + name, to = root + "/" + name;
    if (IsLink(from)) {
      if (!IsThere(to) && ::symlink(LinkTarget(from).c_str(), to.c_str()) != 0) return os::FailErrno(errno, to);
    } else if (IsFolder(from) && !IsLink(to)) {
      TRY(Overlay(from, to, scratch + "/" + name));
    }
  }
  // What the loader and name lookups need, unless the root has its own.
  ::mkdir((root + "/etc").c_str(), 0755);
  std::error_code error;
  for (const char* name : {"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf"})
    if (const std::string to = root + "/etc/" + name; !IsThere(to))
      fs::copy(real + "/etc/" + name, to, fs::copy_options::recursive, error);
  return {};
}

Result<> EnterMachineRoot(const std::string& folder) {
  TRY(SetPropagation("/", MS_PRIVATE));
  TRY(Mount(folder, folder, "", MS_BIND | MS_REC));
  TRY(LendPrograms("", folder, folder + "/../usr"));
  TRY(MountProc(folder));
  TRY(MountSys(folder));
  TRY(MountDev(folder));
  for (const char* name : {"/run", "/var", "/tmp", "/root", "/opt", "/mnt", kRealRoot, kStage})
    ::mkdir((folder + name).c_str(), 0755);
  ::chmod((folder + kRealRoot).c_str(), 0700);
  if (const std::string run = folder + "/var/run"; !IsThere(run) && ::symlink("/run", run.c_str()) != 0)
    return os::FailErrno(errno, run);
  TRY(PivotRoot(folder, std::string(kRealRoot).substr(1)));
  TRY(SetPropagation("/", MS_SHARED));
  TRY(SetPropagation(kRealRoot, MS_PRIVATE));
  return SetPropagation(kRealRoot, MS_UNBINDABLE);
}

}  // namespace gpuop::sim::node
