#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/text.h"
#include "sim/node/machine_state.h"

namespace gpuop::sim::node {
namespace {

using std::chrono::seconds;

/// How much of what a probe's program says is kept.
constexpr std::size_t kMostOutput = 10'240;

/// What was kept as text: a character that was cut at its end goes, and nothing stays of what is no text.
std::string AsText(std::string bytes) {
  for (int i = 0; i < 3 && !bytes.empty() && !IsUtf8(bytes); ++i) bytes.pop_back();
  return IsUtf8(bytes) ? bytes : std::string();
}

}  // namespace

void MachineNode::State::StartProbes(const HostedPodPtr& pod, const std::string& name) {
  const ContainerWish& c = *pod->wish.Find(name);
  HostedContainer& have = pod->containers[name];
  const auto begin = [&](const std::optional<Probe>& probe, ProbeKind kind) {
    if (!probe) return;
    auto run = std::make_shared<ProbeRun>(*probe, kind);
    have.probes.push_back(run);
    ProbeLater(pod, name, run, seconds(probe->initial_delay));
  };
  begin(c.startup, ProbeKind::kStartup);
  if (c.startup) return;  // the others begin when it has succeeded
  begin(c.liveness, ProbeKind::kLiveness);
  begin(c.readiness, ProbeKind::kReadiness);
}

void MachineNode::State::ProbeLater(const HostedPodPtr& pod, const std::string& name,
                                    const std::shared_ptr<ProbeRun>& run, Duration delay) {
  After(delay, [this, pod, name, run] {
    if (run->over || !Alive(pod) || !up) return;
    Act(pod, name, run->probe.action, seconds(std::max(run->probe.timeout, 1)),
        [this, pod, name, run](ProbeAnswer answer) {
          if (!run->over && Alive(pod)) OnProbe(pod, name, run, std::move(answer));
        });
  });
}

void MachineNode::State::OnProbe(const HostedPodPtr& pod, const std::string& name, const std::shared_ptr<ProbeRun>& run,
                                 ProbeAnswer answer) {
  HostedContainer& have = pod->containers[name];
  // A container that is being stopped is not killed again.
  if (have.terminating && run->kind != ProbeKind::kReadiness) return;
  if (!answer.success)
    Tell(*pod, name, "Warning", "Unhealthy", std::string(ProbeName(run->kind)) + " probe failed: " + answer.text);
  const auto verdict = run->count.Add(answer.success);
  if (verdict) pod->life->Probed(name, run->kind, *verdict);
  if (verdict && run->kind == ProbeKind::kStartup) {
    run->over = true;
    const ContainerWish& c = *pod->wish.Find(name);
    for (const auto& [probe, kind] :
         {std::pair(&c.liveness, ProbeKind::kLiveness), {&c.readiness, ProbeKind::kReadiness}}) {
      if (!*verdict || !*probe) continue;
      auto next = std::make_shared<ProbeRun>(**probe, kind);
      have.probes.push_back(next);
      ProbeLater(pod, name, next, Duration{});
    }
  }
  if (!run->over) ProbeLater(pod, name, run, seconds(std::max(run->probe.period, 1)));
  if (verdict) Step(pod);
}

void MachineNode::State::Act(const HostedPodPtr& pod, const std::string& name, const Action& action, Duration limit,
                             std::function<void(ProbeAnswer)> done) {
  if (action.exec) return ActExec(pod, name, *action.exec, limit, std::move(done));
  if (action.sleep)
    return After(std::min<Duration>(limit, seconds(action.sleep->seconds)), [done] { done({true, {}}); });
  if (!action.http && !action.tcp && !action.grpc) return After({}, [done] { done({true, {}}); });
  if (action.http && action.http->scheme == "HTTPS")
    return After({}, [done] { done({false, "simulated machines do not probe over HTTPS"}); });
  Result<std::uint16_t> port = static_cast<std::uint16_t>(action.grpc ? action.grpc->port : 0);
  if (!action.grpc) port = PortOf(*pod->wish.Find(name), action.http ? action.http->port : action.tcp->port);
  if (!port) return After({}, [done, why = port.error().text] { done({false, why}); });
  const std::string& named = action.http ? action.http->host : action.tcp ? action.tcp->host : std::string();
  EngineRequest request;
  request.verb = "socket", request.target = pod->uid;
  engine->Ask(std::move(request), [weak = weak_from_this(), action, port = *port, limit, done,
                                   to = named.empty() ? pod->ip : named](Result<EngineAnswer> answer) {
    const auto self = weak.lock();
    if (!self) return;
    if (!answer || answer->fds.empty()) return done({false, "the Pod's network is gone"});
    auto socket = std::make_shared<os::Fd>(std::move(answer->fds.front()));
    self->Off<ProbeAnswer>(
        [socket, action, port, limit, to] {
          if (action.http) return ProbeHttp(std::move(*socket), *action.http, to, port, limit);
          if (action.tcp) return ProbeTcp(std::move(*socket), to, port, limit);
          return ProbeGrpc(std::move(*socket), *action.grpc, to, limit);
        },
        done);
  });
}

std::string MachineNode::State::AskExec(const HostedPod& pod, const std::string& name, EngineRequest request,
                                        const std::vector<int>& fds, std::function<void(Result<EngineAnswer>)> started,
                                        Ended ended) {
  const auto have = pod.containers.find(name);
  if (have == pod.containers.end() || !pod.life->Runs(name) || !up) {
    started(Fail(Code::kNotFound, "container not found (" + Quote(name) + ")"));
    return {};
  }
  const std::string id = have->second.id + "/" + std::to_string(rng.Next());
  request.verb = "exec", request.target = have->second.id, request.name = id;
  ProcessSpec process = have->second.process;
  process.argv = std::move(request.process->argv);
  process.terminal = request.process->terminal;
  request.process = std::move(process);
  neighbours[id] = std::move(ended);
  engine->Ask(
      std::move(request),
      [weak = weak_from_this(), id, started = std::move(started)](Result<EngineAnswer> answer) {
        if (const auto self = weak.lock(); self && !answer) self->neighbours.erase(id);
        started(std::move(answer));
      },
      fds);
  return id;
}

void MachineNode::State::ActExec(const HostedPodPtr& pod, const std::string& name, const ExecAction& action,
                                 Duration limit, std::function<void(ProbeAnswer)> done) {
  // Whatever comes first is the answer: the end, the limit, or that it cannot start.
  auto answered = std::make_shared<bool>(false);
  const auto once = [answered, done = std::move(done)](ProbeAnswer answer) {
    if (!std::exchange(*answered, true)) done(std::move(answer));
  };
  EngineRequest request;
  request.process = ProcessSpec{.argv = action.command, .env = {}, .user = {}};
  request.keep = kMostOutput;
  const std::string id = AskExec(
      *pod, name, std::move(request), {},
      [once](const Result<EngineAnswer>& started) {
        if (!started)
          once({false, "rpc error: code = Unknown desc = failed to exec in container: " + started.error().text});
      },
      [once](int status, const std::string& output) {
        once({WIFEXITED(status) && WEXITSTATUS(status) == 0, AsText(output)});
      });
  if (id.empty()) return;
  After(limit, [this, answered, once, id, command = Join(action.command, " "), limit] {
    if (*answered) return;
    Signal(id, SIGKILL);
    once({false, "command timed out: " + Quote(command) + " timed out after " +
                     std::to_string(std::chrono::duration_cast<seconds>(limit).count()) + "s"});
  });
}

void MachineNode::State::Exec(ExecWish wish, std::function<void(Result<ExecStart>)> started,
                              std::function<void(int)> ended) {
  const HostedPodPtr pod = Find(kube::KeyOf(wish.ns, wish.pod));
  if (!pod || !pod->life) return started(Fail(Code::kNotFound, "pod not found (" + Quote(wish.pod) + ")"));
  const os::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::vector<int> fds;
  if (!wish.terminal)
    for (const os::Fd* fd : {&wish.in, &wish.out, &wish.err}) fds.push_back(fd->valid() ? fd->get() : nothing.get());
  EngineRequest request;
  request.process = ProcessSpec{.argv = wish.command, .env = {}, .user = {}, .terminal = wish.terminal};
  // The answer comes later, when the id is known.
  auto id = std::make_shared<std::string>();
  *id = AskExec(
      *pod, wish.container, std::move(request), fds,
      [started, id](Result<EngineAnswer> answer) {
        if (!answer) return started(std::unexpected(answer.error()));
        ExecStart start{*id, {}};
        if (!answer->fds.empty()) start.terminal = std::move(answer->fds.front());
        started(std::move(start));
      },
      [ended = std::move(ended)](int status, const std::string&) { ended(status); });
}

}  // namespace gpuop::sim::node
