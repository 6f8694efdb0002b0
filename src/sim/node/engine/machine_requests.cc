#include "sim/node/engine/machine_requests.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <list>
#include <map>

#include "base/clock.h"
#include "base/text.h"
#include "data/json.h"
#include "data/reader.h"
#include "data/writer.h"
#include "os/pidfd.h"
#include "os/system_error.h"
#include "sim/node/engine/engine_service.h"
#include "sim/node/engine/log_file.h"
#include "sim/node/engine/machine_process.h"
#include "sim/node/engine/sandbox.h"
#include "sim/node/engine/syscalls.h"

namespace gpuop::sim::node {
namespace {

struct Pipe {
  os::Fd read, write;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return os::FailErrno(errno, "pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
}

/// One process that was asked for: a container's, or a neighbour.
struct Running {
  std::string id, sandbox;
  pid_t pid = 0;
  bool shared_pid = false;
  std::int64_t request = 0;  ///< to be answered when it has started, or not
  os::Fd starting;           ///< closes by itself when the program starts, else carries why not
  std::string complaint;
  std::optional<LogFile> log;
  os::Fd out, err, terminal;
  std::size_t keep = 0;  ///< how much of its output is told when it ends
  std::string said;
  std::optional<int> status;  ///< it has ended; its output may not have
};

/// Obeys the other side. One thread; everything is an event of poll(2).
class MachineRequests {
 public:
  MachineRequests(os::Fd socket, os::Fd signals) : socket_(std::move(socket)), signals_(std::move(signals)) {}

  /// `api` listens for the API server on the machine's own network.
  int Run(const os::Fd& api);

 private:
  void Obey(EngineRequest request, std::vector<os::Fd> fds);
  Result<> Do(EngineRequest& request, std::vector<os::Fd>& fds);
  Result<> AddSandbox(const EngineRequest& request);
  Result<> RemoveSandbox(const std::string& id);
  Result<> Start(const EngineRequest& request);
  Result<> StartEngine(const EngineRequest& request);
  Result<> StartBeside(const EngineRequest& request, const std::vector<os::Fd>& fds);
  Result<> Signal(const EngineRequest& request);
  Result<> GiveSocket(const EngineRequest& request);
  /// Forks; in the child `become` says why it could not.
  Result<pid_t> Launch(Running& running, const os::Fd* pid_namespace, unsigned long namespaces,
                       const std::function<Error()>& become);
  void Say(EngineNotice notice, const std::vector<int>& fds = {});
  void Reap();
  void ReadStarting(Running& running);
  void ReadOutput(Running& running, os::Fd& from, std::string_view stream);
  void Settle();
  Running* Find(const std::string& id);

  os::Fd socket_, signals_;
  SystemClock clock_;
  std::map<std::string, Sandbox> sandboxes_;
  std::list<Running> running_;
};

void MachineRequests::Say(EngineNotice notice, const std::vector<int>& fds) {
  // Nobody listens any more only when all is about to end.
  [[maybe_unused]] const auto said = SendPacket(socket_.get(), data::ToJson(data::WriteValue(notice)), fds);
}

Running* MachineRequests::Find(const std::string& id) {
  const auto it = std::ranges::find(running_, id, &Running::id);
  return it == running_.end() || it->status ? nullptr : &*it;
}

Result<> MachineRequests::AddSandbox(const EngineRequest& request) {
  if (!request.sandbox) return Fail(Code::kInvalid, "no sandbox");
  ASSIGN(MadeSandbox made, MakeSandbox(*request.sandbox));
  EngineNotice answer{.id = request.id, .event = "done", .error = {}, .target = {}};
  Say(answer, made.api.valid() ? std::vector<int>{made.api.get()} : std::vector<int>{});
  sandboxes_.insert_or_assign(request.sandbox->id, std::move(made.sandbox));
  return {};
}

Result<> MachineRequests::RemoveSandbox(const std::string& id) {
  const auto it = sandboxes_.find(id);
  if (it == sandboxes_.end()) return {};
  for (const Running& r : running_)
    if (r.sandbox == id && !r.status) ::kill(r.pid, SIGKILL);
  if (it->second.holder != 0) ::kill(it->second.holder, SIGKILL);
  sandboxes_.erase(it);
  return {};
}

Result<pid_t> MachineRequests::Launch(Running& running, const os::Fd* pid_namespace, unsigned long namespaces,
                                      const std::function<Error()>& become) {
  ASSIGN(Pipe starting, MakePipe());
  ASSIGN(const os::Fd own, OpenNamespace("/proc/self/ns/pid"));
  if (pid_namespace != nullptr) TRY(JoinNamespaces(*pid_namespace, CLONE_NEWPID, "the container's processes"));
  auto pid = Fork(namespaces);
  if (pid && *pid == 0) {
    const Error why = become();
    [[maybe_unused]] const ssize_t n = ::write(starting.write.get(), why.text.data(), why.text.size());
    ::_exit(127);
  }
  if (pid_namespace != nullptr) TRY(JoinNamespaces(own, CLONE_NEWPID, "own processes"));
  if (!pid) return pid;
  running.pid = *pid;
  running.starting = std::move(starting.read);
  return *pid;
}

Result<> MachineRequests::Start(const EngineRequest& request) {
  if (!request.container) return Fail(Code::kInvalid, "no container");
  const ContainerSpec& spec = *request.container;
  const auto sandbox = sandboxes_.find(spec.sandbox);
  if (sandbox == sandboxes_.end()) return Fail(Code::kNotFound, "no sandbox " + spec.sandbox);
  const Sandbox& in = sandbox->second;
  Running running;
  running.id = spec.id, running.sandbox = spec.sandbox;
  running.request = request.id;
  ASSIGN(Pipe out, MakePipe());
  ASSIGN(Pipe err, MakePipe());
  running.shared_pid = in.pid.valid();
  const unsigned long own_pid = in.spec.host_pid || in.pid.valid() ? 0UL : CLONE_NEWPID;
  TRY(Launch(running, in.pid.valid() ? &in.pid : nullptr, own_pid | CLONE_NEWNS,
             [&] { return BecomeContainer(spec, in, {-1, out.write.get(), err.write.get()}); }));
  if (!spec.log.empty()) running.log.emplace(spec.log);
  running.out = std::move(out.read);
  running.err = std::move(err.read);
  running_.push_back(std::move(running));
  return {};
}

Result<> MachineRequests::StartEngine(const EngineRequest& request) {
  Running running;
  running.id = request.name, running.request = request.id;
  TRY(Launch(running, nullptr, 0, [] {
    const char* const argv[] = {"/proc/self/exe", kMachineApplet, kEngineWord, nullptr};
    ::execv(argv[0], const_cast<char* const*>(argv));
    return Error{Code::kIo, std::string("container engine: ") + ::strerror(errno)};
  }));
  running_.push_back(std::move(running));
  return {};
}

Result<> MachineRequests::StartBeside(const EngineRequest& request, const std::vector<os::Fd>& fds) {
  Running* const container = Find(request.target);
  if (container == nullptr || !request.process) return Fail(Code::kNotFound, "container not found");
  const os::Fd target = os::OpenProcess(container->pid);
  if (!target.valid()) return Fail(Code::kNotFound, "container not found");
  ASSIGN(const os::Fd pid, OpenNamespace("/proc/" + std::to_string(container->pid) + "/ns/pid"));
  Running running;
  running.id = request.name, running.sandbox = container->sandbox;
  running.request = request.id;
  const auto fd = [&](std::size_t i) { return i < fds.size() ? fds[i].get() : -1; };
  int pair[2] = {-1, -1};
  if (request.process->terminal && ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return os::FailErrno(errno, "socketpair");
  const os::Fd ours(pair[0]), theirs(pair[1]);
  Pipe kept;
  if (request.keep > 0) {
    ASSIGN(kept, MakePipe());
  }
  const int out = kept.write.valid() ? kept.write.get() : fd(1), err = kept.write.valid() ? out : fd(2);
  TRY(Launch(running, &pid, 0,
             [&] { return BecomeNeighbour(*request.process, target, {fd(0), out, err}, theirs.get()); }));
  if (request.process->terminal) running.terminal = os::Fd(::fcntl(ours.get(), F_DUPFD_CLOEXEC, 3));
  running.out = std::move(kept.read);
  running.keep = static_cast<std::size_t>(std::clamp<std::int64_t>(request.keep, 0, kMaxPacket / 2));
  running_.push_back(std::move(running));
  return {};
}

Result<> MachineRequests::Signal(const EngineRequest& request) {
  // One that has ended needs no signal.
  if (const Running* r = Find(request.target)) ::kill(r->pid, static_cast<int>(request.signal));
  return {};
}

Result<> MachineRequests::GiveSocket(const EngineRequest& request) {
  const auto sandbox = sandboxes_.find(request.target);
  if (sandbox == sandboxes_.end()) return Fail(Code::kNotFound, "no sandbox " + request.target);
  ASSIGN(const os::Fd socket, SocketIn(sandbox->second));
  Say({.id = request.id, .event = "done", .error = {}, .target = {}}, {socket.get()});
  return {};
}

Result<> MachineRequests::Do(EngineRequest& request, std::vector<os::Fd>& fds) {
  if (request.verb == "sandbox") return AddSandbox(request);
  if (request.verb == "start") return Start(request);
  if (request.verb == "exec") return StartBeside(request, fds);
  if (request.verb == "engine") return StartEngine(request);
  if (request.verb == "socket") return GiveSocket(request);
  if (request.verb == "signal") {
    TRY(Signal(request));
  } else if (request.verb == "remove") {
    TRY(RemoveSandbox(request.target));
  } else {
    return Fail(Code::kUnsupported, "no verb " + request.verb);
  }
  Say({.id = request.id, .event = "done", .error = {}, .target = {}});
  return {};
}

void MachineRequests::Obey(EngineRequest request, std::vector<os::Fd> fds) {
  if (auto done = Do(request, fds); !done)
    Say({.id = request.id, .event = "done", .error = done.error().text, .target = {}});
}

void MachineRequests::Reap() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) > 0) {
  }
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto it = std::ranges::find(running_, pid, &Running::pid);
    if (it != running_.end()) it->status = status;
  }
}

void MachineRequests::ReadStarting(Running& r) {
  char buffer[4096];
  const ssize_t n = ::read(r.starting.get(), buffer, sizeof buffer);
  if (n < 0) return;
  if (n > 0) {
    r.complaint.append(buffer, static_cast<std::size_t>(n));
    return;
  }
  r.starting.Close();
  EngineNotice answer{.id = r.request, .event = "done", .error = r.complaint, .target = r.id};
  answer.pid = r.pid;
  std::vector<os::Fd> terminal;
  if (r.terminal.valid()) {
    if (auto packet = ReceivePacket(r.terminal.get()); packet && *packet) terminal = std::move((*packet)->fds);
    r.terminal.Close();
  }
  Say(std::move(answer), terminal.empty() ? std::vector<int>{} : std::vector<int>{terminal.front().get()});
}

void MachineRequests::ReadOutput(Running& r, os::Fd& from, std::string_view stream) {
  char buffer[16384];
  const ssize_t n = ::read(from.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return from.Close();
  const std::string_view bytes(buffer, static_cast<std::size_t>(n));
  if (r.log) r.log->Take(stream, bytes, clock_.Wall());
  r.said.append(bytes.substr(0, r.keep - r.said.size()));
}

/// Tells of those that have ended and said all they had to say. A process that ended may have left its output to
/// another that goes on: what is there counts, more is not waited for.
void MachineRequests::Settle() {
  for (auto it = running_.begin(); it != running_.end();) {
    Running& r = *it;
    if (!r.status || r.starting.valid()) {
      ++it;
      continue;
    }
    for (os::Fd* from : {&r.out, &r.err}) {
      pollfd ready{from->get(), POLLIN, 0};
      while (from->valid() && ::poll(&ready, 1, 0) > 0) ReadOutput(r, *from, from == &r.out ? "stdout" : "stderr");
    }
    if (r.log) r.log->Finish(clock_.Wall());
    // One that never started was answered so.
    if (r.complaint.empty()) {
      EngineNotice notice{.id = 0, .event = "exited", .error = {}, .target = r.id};
      notice.status = *r.status;
      notice.output = Base64Encode(r.said);
      Say(std::move(notice));
    }
    it = running_.erase(it);
  }
}

int MachineRequests::Run(const os::Fd& api) {
  Say({.id = 0, .event = "ready", .error = {}, .target = {}}, {api.get()});
  while (true) {
    std::vector<pollfd> fds{{socket_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    std::vector<std::pair<Running*, os::Fd*>> owners;
    for (Running& r : running_)
      for (os::Fd* fd : {&r.starting, &r.out, &r.err})
        if (fd->valid()) {
          fds.push_back({fd->get(), POLLIN, 0});
          owners.emplace_back(&r, fd);
        }
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return 1;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (fds[i + 2].revents == 0) continue;
      const auto [r, fd] = owners[i];
      if (fd == &r->starting)
        ReadStarting(*r);
      else
        ReadOutput(*r, *fd, fd == &r->out ? "stdout" : "stderr");
    }
    if (fds[1].revents != 0) Reap();
    Settle();
    if (fds[0].revents == 0) continue;
    auto packet = ReceivePacket(socket_.get());
    if (!packet || (*packet && (*packet)->text.empty())) return 0;  // the kubelet's side has gone: so has the machine
    if (!*packet) continue;
    auto json = data::ParseJson((*packet)->text);
    auto request = json ? data::ReadAs<EngineRequest>(*json) : std::unexpected(json.error());
    if (request)
      Obey(*std::move(request), std::move((*packet)->fds));
    else if (json)
      Say({.id = data::IntOr(*json, "id"), .event = "done", .error = request.error().text, .target = {}});
  }
}

}  // namespace

int ServeMachineRequests(os::Fd socket, os::Fd signals, const os::Fd& api) {
  return MachineRequests(std::move(socket), std::move(signals)).Run(api);
}

}  // namespace gpuop::sim::node
