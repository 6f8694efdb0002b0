#include "sim/node/engine/machine_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "data/json.h"
#include "data/writer.h"
#include "os/system_error.h"
#include "sim/node/engine/engine_service.h"
#include "sim/node/engine/machine_requests.h"
#include "sim/node/engine/machine_root.h"
#include "sim/node/engine/sandbox.h"
#include "sim/node/engine/syscalls.h"

namespace gpuop::sim::node {
namespace {

Result<> WriteText(const char* path, const std::string& text) {
  const os::Fd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file.valid() || ::write(file.get(), text.data(), text.size()) < 0) return os::FailErrno(errno, path);
  return {};
}

/// Without privileges: root of a user namespace, who is the user outside.
Result<> TakeUserNamespace() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0) return {};
  TRY(Unshare(CLONE_NEWUSER, "user namespace"));
  TRY(WriteText("/proc/self/setgroups", "deny"));
  TRY(WriteText("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1"));
  return WriteText("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
}

Result<os::Fd> CatchSignals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, SIGTERM);
  sigaddset(&wanted, SIGINT);
  ::sigprocmask(SIG_SETMASK, &wanted, nullptr);
  sigdelset(&wanted, SIGTERM);
  sigdelset(&wanted, SIGINT);
  os::Fd fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return os::FailErrno(errno, "signalfd");
  return fd;
}

/// Runs as the first process of the machine.
Result<int> BeMachine(os::Fd socket, const std::string& folder, const std::string& name, const std::string& address) {
  ::prctl(PR_SET_NAME, "machine", 0, 0, 0);
  ::setsid();
  ::umask(022);
  TRY(Unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET, "namespaces"));
  if (::sethostname(name.data(), name.size()) != 0) return os::FailErrno(errno, "set the host name");
  TRY(BringUpLoopback({kApiAddress, address}));
  ASSIGN(const os::Fd api, ListenHere(kApiAddress, kApiPort));
  TRY(EnterMachineRoot(folder));
  ASSIGN(os::Fd signals, CatchSignals());
  return ServeMachineRequests(std::move(socket), std::move(signals), api);
}

}  // namespace

int RunMachine(std::span<char* const> args) {
  if (args.size() == 1 && std::string_view(args[0]) == kEngineWord) return RunEngine();
  const auto number = args.size() == 4 ? ParseInt(args[0]) : std::nullopt;
  if (!number) {
    std::fputs("sim-machine is run by gpu-operator sim\n", stderr);
    return 2;
  }
  os::Fd socket(static_cast<int>(*number));
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  const auto complain = [&](const Error& error) {
    const EngineNotice notice{.id = 0, .event = "failed", .error = error.text, .target = {}};
    [[maybe_unused]] const auto said = SendPacket(socket.get(), data::ToJson(data::WriteValue(notice)));
    return 1;
  };
  if (auto taken = TakeUserNamespace(); !taken) return complain(taken.error());
  // A sibling, so that the kubelet's side is its parent and this process need not stay.
  auto pid = Fork(CLONE_NEWPID | CLONE_PARENT);
  if (!pid) return complain(pid.error());
  if (*pid != 0) {
    EngineNotice notice{.id = 0, .event = "machine", .error = {}, .target = {}};
    notice.pid = *pid;
    return SendPacket(socket.get(), data::ToJson(data::WriteValue(notice))) ? 0 : 1;
  }
  const os::Fd keep(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 3));
  auto status = BeMachine(std::move(socket), args[1], args[2], args[3]);
  if (status) return *status;
  socket = os::Fd(::fcntl(keep.get(), F_DUPFD_CLOEXEC, 3));
  return complain(status.error());
}

}  // namespace gpuop::sim::node
