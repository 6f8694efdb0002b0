#include "sim/node/engine/container_process.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>

#include "base/text.h"
#include "data/json.h"
#include "os/process.h"
#include "os/system_error.h"
#include "sim/node/engine/container_root.h"
#include "sim/node/engine/syscalls.h"

namespace gpuop::sim::node {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

std::string EnvOf(const std::vector<std::string>& env, std::string_view name, std::string_view otherwise) {
  for (const std::string& entry : env)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return std::string(otherwise);
}

Result<> JoinSandbox(const Sandbox& sandbox) {
  if (sandbox.network.valid()) TRY(JoinNamespaces(sandbox.network, CLONE_NEWNET, "the Pod's network"));
  if (sandbox.ipc.valid()) TRY(JoinNamespaces(sandbox.ipc, CLONE_NEWIPC, "the Pod's ipc namespace"));
  if (sandbox.uts.valid()) TRY(JoinNamespaces(sandbox.uts, CLONE_NEWUTS, "the Pod's host name"));
  return {};
}

/// Standard streams in their places; everything else closes when the program starts.
void PlaceStreams(const Streams& streams) {
  // Away from 0 to 2 first, so that none overwrites another.
  std::array<int, 3> from{streams.in, streams.out, streams.err};
  for (int& fd : from) fd = fd >= 0 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 3) : ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3; ++i) ::dup2(from[static_cast<std::size_t>(i)], i);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
}

Result<> TakeUser(const UserSpec& user) {
  std::vector<gid_t> groups(user.groups.begin(), user.groups.end());
  // Without privileges there is one user only, who is root in here.
  const bool one_user = ::setgroups(groups.size(), groups.data()) != 0;
  const std::uint64_t keep = user.uid == 0 || one_user ? user.capabilities : 0;
  if (user.no_new_privileges) ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!one_user) {
    if (user.uid != 0)
      TRY(LimitCapabilities(user.capabilities | (1ULL << 6) | (1ULL << 7)));  // SETGID, SETUID: for now
    if (::setgid(user.gid) != 0) return os::FailErrno(errno, "setgid");
    if (::setuid(user.uid) != 0) return os::FailErrno(errno, "setuid");
    if (user.uid != 0) return {};  // the change took all capabilities away
  }
  return LimitCapabilities(keep);
}

/// Goes to the working folder, made if need be, as the low-level runtime does.
Result<> GoTo(const std::string& folder) {
  if (::chdir(folder.c_str()) == 0) return {};
  if (errno == ENOENT)
    if (auto made = MakePlace("/", folder, true); made && ::chdir(folder.c_str()) == 0) return {};
  return os::FailErrno(errno,
                       "error during container init: chdir to cwd (" + Quote(folder) + ") set in config.json failed");
}

Error NotExecutable(const std::string& program, int error) {
  if (error == ENOENT && program.find('/') == std::string::npos)
    return {Code::kNotFound,
            "error during container init: exec: " + Quote(program) + ": executable file not found in $PATH"};
  const std::string words = os::FailErrno(error, "").error().text;
  const std::string_view why = std::string_view(words).substr(std::min<std::size_t>(2, words.size()));
  if (error == ENOENT)
    return {Code::kNotFound, "error during container init: exec: " + Quote(program) + ": stat " + program +
                                 ": no such file or directory"};
  return {Code::kForbidden, "error during container init: exec: " + Quote(program) + ": " + std::string(why)};
}

/// The program's path by the container's own PATH.
Result<std::string> FindProgram(const ProcessSpec& process) {
  if (process.argv.empty()) return Fail(Code::kInvalid, "no command specified");
  const std::string& name = process.argv.front();
  if (name.find('/') != std::string::npos) return name;
  const std::string path = EnvOf(process.env, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  for (const std::string_view folder : Split(path, ':')) {
    std::string candidate = std::string(folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::unexpected(NotExecutable(name, ENOENT));
}

/// Says why on the standard error, as the low-level runtime's own process does once the container counts as started.
[[noreturn]] void FailLate(const std::string& program, std::string_view why) {
  const std::string text = "exec " + program + ": " + std::string(why) + "\n";
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(255);
}

Result<> Execute(const ProcessSpec& process, bool wrong_architecture) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int s = 1; s < 32; ++s) ::signal(s, SIG_DFL);
  ASSIGN(const std::string program, FindProgram(process));
  struct stat st{};
  if (::stat(program.c_str(), &st) != 0) return std::unexpected(NotExecutable(program, errno));
  if (S_ISDIR(st.st_mode)) return std::unexpected(NotExecutable(program, EISDIR));
  if (::access(program.c_str(), X_OK) != 0) return std::unexpected(NotExecutable(program, errno));
  if (wrong_architecture) FailLate(program, "exec format error");
  const std::vector<char*> argv = Pointers(process.argv), env = Pointers(process.env);
  ::execve(program.c_str(), argv.data(), env.data());
  if (errno == ENOEXEC) FailLate(program, "exec format error");
  if (errno == ENOENT) FailLate(program, "no such file or directory");  // its loader
  return std::unexpected(NotExecutable(program, errno));
}

/// Runs what is to run while the container's root is ready and not yet entered.
Result<> RunHooks(const ContainerSpec& spec, const ContainerRoot& root) {
  const std::string state = data::ToJson(data::JsonObject{{"ociVersion", "1.2.0"},
                                                          {"id", spec.id},
                                                          {"status", "creating"},
                                                          {"pid", ::getpid()},
                                                          {"bundle", root.bundle()}});
  os::RealProcesses processes;
  std::map<std::string_view, int> seen;
  for (const HookSpec& hook : spec.hooks) {
    const int number = seen[hook.stage]++;
    if (hook.stage != "createRuntime" && hook.stage != "createContainer" && hook.stage != "prestart") continue;
    os::Command command{.argv = hook.args.empty() ? std::vector<std::string>{hook.path} : hook.args};
    command.argv[0] = hook.path;
    command.env.emplace();
    for (const std::string& entry : hook.env)
      if (const auto parts = Cut(entry, '=')) command.env->emplace(parts->first, parts->second);
    command.input = state;
    if (hook.timeout > 0) command.limit = std::chrono::seconds(hook.timeout);
    auto run = processes.Run(command, {});
    std::string why = run ? run->Describe() : run.error().text;
    if (run && run->ok()) continue;
    return Fail(Code::kIo, "error during container init: error running " + hook.stage + " hook #" +
                               std::to_string(number) + ": " + why);
  }
  return {};
}

Result<> TakeTerminal(int terminal_to) {
  os::Fd master(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master.valid() || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0)
    return os::FailErrno(errno, "open a terminal");
  int number = 0;
  ::ioctl(master.get(), TIOCGPTN, &number);
  os::Fd slave(::open(("/dev/pts/" + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC));
  if (!slave.valid()) return os::FailErrno(errno, "open a terminal");
  TRY(SendPacket(terminal_to, "terminal", {master.get()}));
  ::ioctl(slave.get(), TIOCSCTTY, 0);
  PlaceStreams({slave.get(), slave.get(), slave.get()});
  return {};
}

Result<> StartContainer(const ContainerSpec& spec, const Sandbox& sandbox, const Streams& streams) {
  ::setsid();
  TRY(JoinSandbox(sandbox));
  ASSIGN(ContainerRoot root, ContainerRoot::Begin(spec));
  TRY(root.Build());
  TRY(RunHooks(spec, root));
  TRY(root.Enter());
  PlaceStreams(streams);
  TRY(GoTo(spec.process.folder.empty() ? "/" : spec.process.folder));
  TRY(TakeUser(spec.process.user));
  return Execute(spec.process, spec.wrong_architecture);
}

Result<> StartNeighbour(const ProcessSpec& process, const os::Fd& target, const Streams& streams, int terminal_to) {
  ::setsid();
  TRY(JoinNamespaces(target, CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS, "the container"));
  if (process.terminal) {
    TRY(TakeTerminal(terminal_to));
  } else {
    PlaceStreams(streams);
  }
  TRY(GoTo(process.folder.empty() ? "/" : process.folder));
  TRY(TakeUser(process.user));
  return Execute(process, false);
}

}  // namespace

Error BecomeContainer(const ContainerSpec& spec, const Sandbox& sandbox, const Streams& streams) {
  Error error = StartContainer(spec, sandbox, streams).error();
  return {error.code, kStartFailed + error.text + ": unknown"};
}

Error BecomeNeighbour(const ProcessSpec& process, const os::Fd& target, const Streams& streams, int terminal_to) {
  Error error = StartNeighbour(process, target, streams, terminal_to).error();
  // A neighbour joins what is made already: the runtime has no words for its init.
  if (constexpr std::string_view kInit = "error during container init: "; error.text.starts_with(kInit))
    error.text.erase(0, kInit.size());
  return {error.code,
          "OCI runtime exec failed: exec failed: unable to start container process: " + error.text + ": unknown"};
}

}  // namespace gpuop::sim::node
