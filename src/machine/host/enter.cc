#include "machine/host/enter.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "os/fd.h"
#include "os/system_error.h"

namespace gpuop::machine {
namespace {

namespace fs = std::filesystem;

Result<> Mount(const std::string& source, const std::string& target, const char* type, unsigned long flags,
               const std::string& data = {}) {
  if (::mount(source.c_str(), target.c_str(), type, flags, data.empty() ? nullptr : data.c_str()) == 0) return {};
  return os::FailErrno(errno, "mount " + source + " at " + target);
}
Result<> Bind(const std::string& source, const std::string& target) {
  return Mount(source, target, nullptr, MS_BIND | MS_REC);
}

bool IsThere(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

Result<> WriteFile(const char* path, const std::string& text) {
  const os::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return os::FailErrno(errno, std::string("write ") + path);
  return {};
}

/// A mount namespace, and for those who are not root a user namespace in which they are.
Result<> Unshare() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const int spaces = CLONE_NEWNS | (uid == 0 ? 0 : CLONE_NEWUSER);
  if (::unshare(spaces) != 0) return os::FailErrno(errno, "make a mount namespace");
  if (uid != 0) {
    TRY(WriteFile("/proc/self/setgroups", "deny"));
    TRY(WriteFile("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1"));
    TRY(WriteFile("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1"));
  }
  return Mount("none", "/", nullptr, MS_REC | MS_PRIVATE);
}

/// `own` over `real`, changes in memory.
Result<> Overlay(const std::string& own, const std::string& real, const std::string& target,
                 const std::string& scratch) {
  for (const char* part : {"", "/upper", "/work"}) ::mkdir((scratch + part).c_str(), 0755);
  const std::string options =
      "lowerdir=" + own + ":" + real + ",upperdir=" + scratch + "/upper,workdir=" + scratch + "/work";
  if (Mount("overlay", target, "overlay", 0, options)) return {};
  return Mount("overlay", target, "overlay", 0, options + ",userxattr");
}

/// Takes away from `target`/NAME what the machine's own /NAME does not have: the real machine's engines and drivers are
/// not this one's.
void Hide(const std::string& own, const std::string& target) {
  std::error_code error;
  if (!IsThere(own)) {
    fs::remove_all(target, error);
    return;
  }
  if (!fs::is_directory(own, error)) return;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(target, error)) names.push_back(entry.path().filename());
  for (const std::string& name : names) Hide(own + "/" + name, target + "/" + name);
}

Result<> MountDev(const std::string& own, const std::string& target) {
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "fuse"}) {
    if (!IsThere(std::string("/dev/") + name)) continue;
    const os::Fd made(::open((own + "/" + name).c_str(), O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  }
  for (const char* name : {"pts", "shm", "mqueue"}) ::mkdir((own + "/" + name).c_str(), 0755);
  for (const auto& [name, to] : {std::pair("fd", "/proc/self/fd"),
                                 {"stdin", "/proc/self/fd/0"},
                                 {"stdout", "/proc/self/fd/1"},
                                 {"stderr", "/proc/self/fd/2"}})
    (void)!::symlink(to, (own + "/" + name).c_str());
  TRY(Bind(own, target));
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "fuse", "pts", "shm", "mqueue"})
    if (const std::string from = std::string("/dev/") + name; IsThere(from)) TRY(Bind(from, target + "/" + name));
  return {};
}

Result<> MountProc(const std::string& own, const std::string& target) {
  TRY(Bind("/proc", target));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(own, error)) {
    const std::string at = target + "/" + entry.path().filename().string();
    if (IsThere(at)) TRY(Bind(entry.path(), at));
  }
  return {};
}

Result<> MountSys(const std::string& own, const std::string& target) {
  TRY(Bind(own, target));
  if (IsThere("/sys/fs/cgroup")) TRY(Bind("/sys/fs/cgroup", target + "/fs/cgroup"));
  return {};
}

/// One name of the root folder.
Result<> Place(const std::string& name, const std::string& own, const std::string& view, const std::string& scratch) {
  const std::string real = "/" + name, target = view + "/" + name;
  if (fs::is_symlink(real)) {
    if (::symlink(fs::read_symlink(real).c_str(), target.c_str()) != 0) return os::FailErrno(errno, "link " + target);
    return {};
  }
  if (!fs::is_directory(real)) return {};
  ::mkdir(target.c_str(), 0755);
  if (name == "dev") return MountDev(own + "/dev", target);
  if (name == "proc") return MountProc(own + "/proc", target);
  if (name == "sys") return MountSys(own + "/sys", target);
  if (name == "run" || name == "var") return Bind(own + "/" + name, target);
  if ((name == "usr" || name == "etc" || name == "lib") && IsThere(own + "/" + name)) {
    TRY(Overlay(own + "/" + name, real, target, scratch + "/" + name));
    if (name == "etc")
      for (const char* of : {"cdi", "containerd", "crio", "dgx-release", "docker", "nvidia-container-runtime"})
        if (const std::string at = target + "/" + of; IsThere(at)) Hide(own + "/etc/" + of, at);
    return {};
  }
  return Bind(real, target);
}

Result<> Pivot(const std::string& view) {
  std::error_code error;
  const auto here = fs::current_path(error);
  if (::chdir(view.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0)
    return os::FailErrno(errno, "make " + view + " the root");
  if (::umount2(".", MNT_DETACH) != 0) return os::FailErrno(errno, "leave the old root");
  if (::chdir("/") != 0) return os::FailErrno(errno, "enter the root");
  if (!error && !here.empty()) (void)!::chdir(here.c_str());
  return {};
}

}  // namespace

Result<> EnterMachine(const std::string& folder) {
  std::error_code error;
  const std::string base = fs::canonical(folder, error);
  if (error) return os::FailErrno(error.value(), "find " + folder);
  const std::string own = base + "/root", stage = base + "/view";
  TRY(Unshare());
  ::mkdir(stage.c_str(), 0755);
  TRY(Mount("tmpfs", stage, "tmpfs", 0, "mode=0755"));
  const std::string view = stage + "/root", scratch = stage + "/scratch";
  for (const std::string& path : {view, scratch}) ::mkdir(path.c_str(), 0755);
  // A root must be a mount of its own.
  TRY(Bind(view, view));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("/", error)) names.push_back(entry.path().filename());
  for (const std::string& name : names) TRY(Place(name, own, view, scratch));
  return Pivot(view);
}

int RunOnMachine(const std::string& folder, const std::vector<std::string>& argv) {
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return 126;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);
    if (auto entered = EnterMachine(folder); !entered) {
      std::fprintf(stderr, "gpu-operator machine: %s\n", entered.error().text.c_str());
      ::_exit(126);
    }
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    const int why = errno;
    std::fprintf(stderr, "gpu-operator machine: %s\n", os::FailErrno(why, argv[0]).error().text.c_str());
    ::_exit(why == ENOENT ? 127 : 126);
  }
  struct sigaction ignore{}, interrupt{}, terminate{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &interrupt);
  ::sigaction(SIGTERM, &ignore, &terminate);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGINT, &interrupt, nullptr);
  ::sigaction(SIGTERM, &terminate, nullptr);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace gpuop::machine
