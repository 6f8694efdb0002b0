#include "sim/node/engine/sandbox.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/system_error.h"
#include "sim/node/engine/syscalls.h"

namespace gpuop::sim::node {
namespace {

/// Leaves one kind of namespace for another and comes back when it ends.
class Away {
 public:
  static Result<Away> From(const char* path, unsigned long kind) {
    ASSIGN(os::Fd own, OpenNamespace(path));
    return Away(std::move(own), kind);
  }
  Away(Away&&) = default;
  Away& operator=(Away&&) = delete;
  ~Away() {
    // What this process was in it can always be in again.
    if (own_.valid()) [[maybe_unused]]
      const auto back = JoinNamespaces(own_, kind_, "own namespace");
  }

 private:
  Away(os::Fd own, unsigned long kind) : own_(std::move(own)), kind_(kind) {}
  os::Fd own_;
  unsigned long kind_;
};

Result<os::Fd> NewNamespace(const char* path, unsigned long kind, std::string_view what) {
  TRY(Unshare(kind, what));
  return OpenNamespace(path);
}

/// A process that does nothing but be the first of the Pod's pid namespace and reap.
Result<> HoldPids(Sandbox& sandbox) {
  ASSIGN(const pid_t pid, Fork(CLONE_NEWPID));
  if (pid == 0) {
    ::close_range(0, ~0U, 0);
    ::prctl(PR_SET_NAME, "pause", 0, 0, 0);
    sigset_t none;
    sigemptyset(&none);
    ::signal(SIGCHLD, SIG_IGN);  // the kernel reaps
    ::signal(SIGTERM, SIG_IGN);
    while (true) ::sigsuspend(&none);
  }
  sandbox.holder = pid;
  ASSIGN(sandbox.pid, OpenNamespace("/proc/" + std::to_string(pid) + "/ns/pid"));
  return {};
}

}  // namespace

Result<MadeSandbox> MakeSandbox(const SandboxSpec& spec) {
  MadeSandbox out;
  out.sandbox.spec = spec;
  if (!spec.host_network) {
    {
      ASSIGN(const Away network, Away::From("/proc/self/ns/net", CLONE_NEWNET));
      ASSIGN(out.sandbox.network, NewNamespace("/proc/self/ns/net", CLONE_NEWNET, "network"));
      TRY(BringUpLoopback({kApiAddress, spec.address}));
      ASSIGN(out.api, ListenHere(kApiAddress, kApiPort));
    }
    ASSIGN(const Away name, Away::From("/proc/self/ns/uts", CLONE_NEWUTS));
    ASSIGN(out.sandbox.uts, NewNamespace("/proc/self/ns/uts", CLONE_NEWUTS, "host name"));
    if (::sethostname(spec.hostname.data(), spec.hostname.size()) != 0)
      return os::FailErrno(errno, "set the host name");
  }
  if (!spec.host_ipc) {
    ASSIGN(const Away ipc, Away::From("/proc/self/ns/ipc", CLONE_NEWIPC));
    ASSIGN(out.sandbox.ipc, NewNamespace("/proc/self/ns/ipc", CLONE_NEWIPC, "ipc namespace"));
  }
  if (spec.shared_pid && !spec.host_pid) TRY(HoldPids(out.sandbox));
  return out;
}

Result<os::Fd> SocketIn(const Sandbox& sandbox) {
  ASSIGN(const Away network, Away::From("/proc/self/ns/net", CLONE_NEWNET));
  if (sandbox.network.valid()) TRY(JoinNamespaces(sandbox.network, CLONE_NEWNET, "the Pod's network"));
  os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return os::FailErrno(errno, "socket");
  return socket;
}

}  // namespace gpuop::sim::node
