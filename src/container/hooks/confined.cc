#include "container/hooks/confined.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "container/elf/elf.h"
#include "os/fd.h"
#include "os/real_fs_temp.h"
#include "os/system_error.h"

namespace gpuop::container {
namespace {

int OpenTree(int folder, const char* path, unsigned flags) {
  return static_cast<int>(::syscall(SYS_open_tree, folder, path, flags));
}

int MoveMount(int from, int to) {
  return static_cast<int>(
      ::syscall(SYS_move_mount, from, "", to, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

Result<os::Fd> OpenInRoot(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  os::Fd fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  if (!fd.valid()) return os::FailErrno(errno, path);
  return fd;
}

/// A program that needs a loader would take the container's.
Result<> RequireStatic(std::string_view bytes, const std::string& path) {
  if (bytes.starts_with("#!"))
    return Fail(Code::kUnsupported, path + " is a script; give the program itself (often " + path + ".real)");
  if (bytes.size() < sizeof(Elf64_Ehdr) || !bytes.starts_with(ELFMAG))
    return Fail(Code::kUnsupported, path + " is no program");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    if (at > bytes.size() || bytes.size() - at < sizeof(Elf64_Phdr))
      return Fail(Code::kUnsupported, path + " is cut short");
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.p_type == PT_INTERP) return Fail(Code::kUnsupported, path + " is not linked statically");
  }
  return {};
}

/// A copy of a program that nobody can change any more.
Result<os::Fd> SealedCopy(const std::string& path) {
  constexpr std::size_t kLongest = 64U << 20U;
  const os::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return os::FailErrno(errno, path);
  std::string bytes;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n < 0) return os::FailErrno(errno, path);
    if (n == 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
    if (bytes.size() > kLongest) return Fail(Code::kTooLarge, path + ": longer than 64 MiB");
  }
  TRY(RequireStatic(bytes, path));
  os::Fd memory(::memfd_create("ldconfig", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return os::FailErrno(errno, "memfd_create");
  TRY(os::WriteAll(memory.get(), bytes, path));
  if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
    return os::FailErrno(errno, "seal the copy of " + path);
  return memory;
}

/// The container's root as a mount of its own that is nowhere yet. Taken before the new namespace is, because a mount
/// can only be copied where it is.
Result<os::Fd> DetachedRoot(const std::string& root) {
  const os::Fd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return os::FailErrno(errno, root);
  os::Fd tree(OpenTree(folder.get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  if (!tree.valid()) return os::FailErrno(errno, "open_tree of the container's root");
  return tree;
}

/// Makes a detached mount this process's only file system. Works on descriptors, so that nobody can exchange a folder
/// on the way.
Result<> EnterRoot(int tree) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return os::FailErrno(errno, "make mounts private");
  const os::Fd top(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.valid()) return os::FailErrno(errno, "/");
  if (MoveMount(tree, top.get()) != 0) return os::FailErrno(errno, "mount the container's root");
  if (::fchdir(tree) != 0) return os::FailErrno(errno, "enter the container's root");
  if (::syscall(SYS_pivot_root, ".", ".") == 0) {
    if (::umount2(".", MNT_DETACH) != 0) return os::FailErrno(errno, "leave the host's root");
  } else if (::chroot(".") != 0) {  // the host's root is an initial ramdisk, which cannot be exchanged
    return os::FailErrno(errno, "make the container's root the only one");
  }
  if (::chdir("/") != 0) return os::FailErrno(errno, "chdir");
  return {};
}

void Limit() {
  const auto set = [](auto what, rlim_t most) {
    const rlimit limit{.rlim_cur = most, .rlim_max = most};
    ::setrlimit(what, &limit);
  };
  set(RLIMIT_CPU, 20);
  set(RLIMIT_FSIZE, 256U << 20U);
  set(RLIMIT_AS, 2UL << 30U);
  set(RLIMIT_NOFILE, 256);
  set(RLIMIT_CORE, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::alarm(30);
}

/// In the child: never returns.
[[noreturn]] void Confine(int tree, int program) {
  const auto fail = [](const Error& error) {
    const std::string text = "nvidia-cdi-hook: update-ldcache: " + error.text + "\n";
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(125);
  };
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (auto entered = EnterRoot(tree); !entered) fail(entered.error());
  // Only its own standard error is left open.
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing >= 0) {
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
  } else {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
  }
  Limit();
  const char* const argv[] = {"ldconfig", "-f", "/etc/ld.so.conf", "-C", "/etc/ld.so.cache", nullptr};
  const char* const envp[] = {nullptr};
  ::syscall(SYS_execveat, program, "", const_cast<char* const*>(argv), const_cast<char* const*>(envp), AT_EMPTY_PATH);
  fail(Error{Code::kIo, std::string("run ldconfig: ") + std::strerror(errno)});
  ::_exit(125);
}

}  // namespace

Result<> RunLdconfig(const std::string& root, std::string ldconfig) {
  if (ldconfig.starts_with('@')) ldconfig.erase(0, 1);
  if (ldconfig.empty())
    ldconfig = ::access("/sbin/ldconfig.real", F_OK) == 0 ? "/sbin/ldconfig.real" : "/sbin/ldconfig";
  ASSIGN(const os::Fd program, SealedCopy(ldconfig));
  ASSIGN(const os::Fd tree, DetachedRoot(root));
  constexpr int kNamespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID;
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, kNamespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (pid < 0) return os::FailErrno(errno, "clone");
  if (pid == 0) Confine(tree.get(), program.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return os::FailErrno(errno, "wait for ldconfig");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status))
    return Fail(Code::kTimeout, "ldconfig was ended by signal " + std::to_string(WTERMSIG(status)));
  return Fail(Code::kIo, "ldconfig ended with status " + std::to_string(WEXITSTATUS(status)));
}

Result<> CoverProcFile(const std::string& root, const std::string& path, std::string_view bytes) {
  const os::Fd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return os::FailErrno(errno, root);
  ASSIGN(const os::Fd target, OpenInRoot(folder.get(), path, O_PATH));
  struct statfs fs{};
  if (::fstatfs(target.get(), &fs) != 0) return os::FailErrno(errno, path);
  if (fs.f_type != PROC_SUPER_MAGIC)
    return Fail(Code::kInvalid, path + " in the container is not on a proc file system");
  const os::Fd context(static_cast<int>(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
  if (!context.valid()) return os::FailErrno(errno, "fsopen tmpfs");
  ::syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, "size", "64k", 0);
  if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return os::FailErrno(errno, "make a tmpfs");
  const os::Fd mount(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                                                MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)));
  if (!mount.valid()) return os::FailErrno(errno, "mount a tmpfs");
  const os::Fd file(::openat(mount.get(), "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (!file.valid()) return os::FailErrno(errno, "make a file in memory");
  TRY(os::WriteAll(file.get(), bytes, path));
  const os::Fd clone(OpenTree(mount.get(), "file", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (!clone.valid()) return os::FailErrno(errno, "open_tree");
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  if (::syscall(SYS_mount_setattr, clone.get(), "", AT_EMPTY_PATH, &read_only, sizeof read_only) != 0)
    return os::FailErrno(errno, "make the cover of " + path + " read-only");
  if (MoveMount(clone.get(), target.get()) != 0) return os::FailErrno(errno, "cover " + path);
  return {};
}

}  // namespace gpuop::container
