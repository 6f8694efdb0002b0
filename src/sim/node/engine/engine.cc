#include "sim/node/engine/engine.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "data/json.h"
#include "data/reader.h"
#include "data/writer.h"
#include "os/system_error.h"

extern char** environ;

namespace gpuop::sim::node {

struct Engine::State {
  State(Executor& e, Events ev, os::Fd s) : executor(e), events(std::move(ev)), socket(std::move(s)) {}

  Executor& executor;
  Events events;
  os::Fd socket;
  pid_t starter = 0, machine = 0;
  std::optional<os::Fd> api;  ///< of a machine that has said that it is ready
  bool up = false, over = false;
  std::int64_t asked = 0;
  std::map<std::int64_t, Done> waiting;

  void OnNotice(EngineNotice notice, std::vector<os::Fd> fds) {
    if (over) return;
    // The starter tells the machine's number and the machine itself that it is ready: in either order.
    if (notice.event == "machine") machine = static_cast<pid_t>(notice.pid);
    if (notice.event == "ready") api = fds.empty() ? os::Fd() : std::move(fds.front());
    if (!up && machine != 0 && api) {
      up = true;
      events.ready(*std::move(api));
    }
    if (notice.event == "failed") {
      over = true;
      events.ready(Fail(Code::kIo, "the machine does not start: " + notice.error));
    }
    if (notice.event == "exited")
      events.exited(notice.target, static_cast<int>(notice.status), Base64Decode(notice.output).value_or(""));
    if (notice.event != "done") return;
    auto node = waiting.extract(notice.id);
    if (node.empty()) return;
    if (notice.error.empty())
      node.mapped()(EngineAnswer{std::move(fds), notice.pid});
    else
      node.mapped()(Fail(Code::kInternal, notice.error));
  }

  void OnGone() {
    if (over) return;
    over = true;
    waiting.clear();
    if (up)
      events.gone();
    else
      events.ready(Fail(Code::kIo, "the machine does not start: its process ended"));
  }
};

namespace {

void Reap(pid_t pid) {
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

Result<pid_t> Spawn(const Engine::Options& options, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, socket, 3);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  std::vector<std::string> args = options.program;
  args.insert(args.end(), {"3", options.folder, options.name, options.address});
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return os::FailErrno(error, "run " + args[0]);
  return pid;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Start(Executor& executor, Options options, Events events) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return os::FailErrno(errno, "socketpair");
  auto state = std::make_shared<State>(executor, std::move(events), os::Fd(ends[0]));
  const os::Fd theirs(ends[1]);
  ASSIGN(state->starter, Spawn(options, theirs.get()));
  const std::weak_ptr<State> weak = state;
  std::jthread reader([weak, fd = ends[0], starter = state->starter, &executor] {
    pid_t machine = 0;
    while (true) {
      auto packet = ReceivePacket(fd);
      if (packet && !*packet) continue;
      if (!packet || (*packet)->text.empty()) break;
      auto json = data::ParseJson((*packet)->text);
      auto notice = json ? data::ReadAs<EngineNotice>(*json) : std::unexpected(json.error());
      if (!notice) continue;
      if (notice->event == "machine") {
        machine = static_cast<pid_t>(notice->pid);
        Reap(starter);
      }
      executor.Post([weak, n = *std::move(notice), fds = std::move((*packet)->fds)]() mutable {
        if (const auto self = weak.lock()) self->OnNotice(std::move(n), std::move(fds));
      });
    }
    if (machine == 0)
      Reap(starter);
    else
      Reap(machine);
    executor.Post([weak] {
      if (const auto self = weak.lock()) self->OnGone();
    });
  });
  return std::unique_ptr<Engine>(new Engine(std::move(state), std::move(reader)));
}

Engine::Engine(std::shared_ptr<State> state, std::jthread reader)
    : state_(std::move(state)), reader_(std::move(reader)) {}

Engine::~Engine() {
  state_->over = true;
  // The machine ends when nobody is on the other end; the reader has then seen it go.
  ::shutdown(state_->socket.get(), SHUT_RDWR);
  reader_.join();
}

void Engine::Ask(EngineRequest request, Done done, const std::vector<int>& fds) {
  request.id = ++state_->asked;
  auto sent = state_->over ? Result<>(Fail(Code::kUnavailable, "the machine is off"))
                           : SendPacket(state_->socket.get(), data::ToJson(data::WriteValue(request)), fds);
  if (sent) {
    state_->waiting.emplace(request.id, std::move(done));
    return;
  }
  state_->executor.Post([done = std::move(done), error = sent.error()] { done(std::unexpected(error)); });
}

std::string Engine::view() const {
  return state_->up && !state_->over ? "/proc/" + std::to_string(state_->machine) + "/root" : std::string();
}

}  // namespace gpuop::sim::node
