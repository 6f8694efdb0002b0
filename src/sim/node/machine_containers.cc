#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "data/json.h"
#include "sim/node/engine/log_file.h"
#include "sim/node/machine_state.h"

namespace gpuop::sim::node {
namespace {

using std::chrono::seconds;

/// How soon after a failed pull the Pod is said to wait for the next one.
constexpr Duration kBackOffNotice = seconds(2);
constexpr std::size_t kLastWords = 4096;

std::string RandomId(Rng& rng) {
  std::string out;
  while (out.size() < 64) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(rng.Next()));
    out += digits;
  }
  return out;
}

std::string ReadSome(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string out(most, '\0');
  file.read(out.data(), static_cast<std::streamsize>(most));
  out.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return out;
}

/// The last lines of a log, as the fallback for last words has them: at most 80 lines and 2 kB.
std::string TailOf(const std::string& path) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (LogRecord r; ParseLogRecord(line, r)) {
      lines.emplace_back(r.text);
      if (lines.size() > 80) lines.pop_front();
    }
  std::string out;
  for (const std::string& line : lines) out.append(line).append("\n");
  return out.size() > 2048 ? out.substr(out.size() - 2048) : out;
}

std::string PullPolicy(const ContainerWish& c) {
  if (!c.pull_policy.empty()) return c.pull_policy;
  return c.image.ends_with(":latest") || c.image.find(':', c.image.rfind('/') + 1) == std::string::npos
             ? "Always"
             : "IfNotPresent";
}

}  // namespace

void MachineNode::State::Tell(const HostedPod& pod, const std::string& container, std::string_view type,
                              std::string_view reason, std::string message) {
  const auto known = parts.pods.Get(pod.key);
  if (!known || known->meta.uid != pod.uid) return;
  kube::ObjectReference about = ReferenceTo(*known);
  if (!container.empty()) {
    const bool init =
        std::ranges::any_of(pod.wish.spec.init_containers, [&](const auto& c) { return c.name == container; });
    about.field_path = (init ? "spec.initContainers{" : "spec.containers{") + container + "}";
  }
  parts.events.Emit(about, {type, reason, "", std::move(message)});
}

void MachineNode::State::NotStarted(const HostedPodPtr& pod, const std::string& name, std::string reason,
                                    std::string message, bool tell) {
  if (tell) Tell(*pod, name, "Warning", "Failed", "Error: " + (reason == "ErrImagePull" ? reason : message));
  pod->life->NotStarted(name, std::move(reason), std::move(message), parts.executor.Wall());
  Step(pod);
}

bool MachineNode::State::Pull(const HostedPodPtr& pod, const std::string& name, Pulled& image) {
  const ContainerWish& c = *pod->wish.Find(name);
  HostedContainer& have = pod->containers[name];
  const std::string policy = PullPolicy(c);
  const bool here = pulled.contains(c.image);
  if (!here && policy == "Never") {
    Tell(*pod, name, "Warning", "ErrImageNeverPull",
         "Container image " + Quote(c.image) + " is not present with pull policy of Never");
    NotStarted(pod, name, "ErrImageNeverPull",
               "Container image " + Quote(c.image) + " is not present with pull policy of Never");
    return false;
  }
  const bool asks = policy == "Always" || !here;
  if (asks) Tell(*pod, name, "Normal", "Pulling", "Pulling image " + Quote(c.image));
  auto got = parts.images.Pull(c.image, options.architecture);
  if (got) {
    Tell(*pod, name, "Normal", "Pulled",
         asks ? "Successfully pulled image " + Quote(c.image) + " in 1ms (1ms including waiting). Image size: 0 bytes."
              : "Container image " + Quote(c.image) + " already present on machine and can be accessed by the pod");
    pulled.insert(c.image);
    have.pull_failures = 0;
    image = *got;
    return true;
  }
  if (got.error().code == Code::kInvalid) {
    const std::string why = "Failed to apply default image tag " + Quote(c.image) + ": " + got.error().text;
    Tell(*pod, name, "Warning", "InspectFailed", why);
    NotStarted(pod, name, "InvalidImageName", why);
    return false;
  }
  const std::string why = "rpc error: code = NotFound desc = " + got.error().text;
  Tell(*pod, name, "Warning", "Failed", "Failed to pull image " + Quote(c.image) + ": " + why);
  have.pull_error = "ErrImagePull: " + why;
  NotStarted(pod, name, "ErrImagePull", why);
  After(kBackOffNotice, [this, pod, name, asked = c.image] {
    if (!Alive(pod) || pod->life->Finished()) return;
    if (!pod->life->Rename(name, "ErrImagePull", "ImagePullBackOff",
                           "Back-off pulling image " + Quote(asked) + ": " + pod->containers[name].pull_error))
      return;
    Tell(*pod, name, "Normal", "BackOff", "Back-off pulling image " + Quote(asked));
    Tell(*pod, name, "Warning", "Failed", "Error: ImagePullBackOff");
    Step(pod);
  });
  return false;
}

void MachineNode::State::StartContainer(const HostedPodPtr& pod, const std::string& name, int attempt) {
  Pulled image;
  if (!Pull(pod, name, image)) return;
  HostedContainer& have = pod->containers[name];
  have.attempt = attempt;
  have.terminating = have.signalled = false;
  const ContainerParts made_of{pod->wish, *pod->wish.Find(name), *image.image, FactsFor(*pod),
                               devices ? devices->OptionsOf(pod->uid, name) : DeviceOptions()};
  auto oci = PlanOci(made_of, SourcesFor(*pod), attempt);
  if (!oci) return NotStarted(pod, name, "CreateContainerConfigError", oci.error().text);
  const std::string id = RandomId(rng);
  Off<Result<ContainerSpec>>(
      [machine = on, manager = devices, uid = pod->uid, name, attempt, id, handler = pod->handler,
       wish = *pod->wish.Find(name), oci = *std::move(oci), given = made_of.devices]() -> Result<ContainerSpec> {
        if (manager) TRY(manager->PreStart(uid, name));
        TRY(MakeSubPaths(*machine->host, wish, oci));
        TRY(machine->host->WriteAtomic(TerminationFile(uid, name, attempt), "",
                                       os::FileAttributes{0666, ::geteuid(), ::getegid()}));
        Lock l(machine->mu);
        return machine->runtime->Complete(oci, given, handler, id);
      },
      [this, pod, name, image](Result<ContainerSpec> spec) {
        if (Alive(pod)) OnCompleted(pod, name, image, std::move(spec));
      });
}

void MachineNode::State::OnCompleted(const HostedPodPtr& pod, const std::string& name, const Pulled& image,
                                     Result<ContainerSpec> spec) {
  if (!up || pod->boot != boot) return;
  // Asked to end meanwhile: nothing starts any more.
  if (pod->life->stopping()) return NotStarted(pod, name, "ContainerCreating", "", false);
  if (!spec) return NotStarted(pod, name, "CreateContainerError", spec.error().text);
  spec->sandbox = pod->uid;
  spec->root = image.image->Root(parts.program_path, parts.program_names);
  spec->all_devices = pod->wish.Find(name)->security.privileged.value_or(false);
  spec->wrong_architecture = image.wrong_architecture;
  pod->containers[name].process = spec->process;
  spec->log = LogPath(pod->wish, name, pod->containers[name].attempt);
  const std::string& asked = pod->wish.Find(name)->image;
  const std::string id = spec->id, full = FullImageName(asked).value_or(asked);
  const std::string image_id =
      full.substr(0, full.find_first_of(":@", full.rfind('/') + 1)) + "@" + image.image->Digest();
  processes[id] = {pod, name};
  EngineRequest request;
  request.verb = "start";
  request.container = *std::move(spec);
  engine->Ask(std::move(request), [weak = weak_from_this(), pod, name, image_id, id](Result<EngineAnswer> answer) {
    if (const auto self = weak.lock()) self->OnStarted(pod, name, image_id, id, std::move(answer));
  });
}

void MachineNode::State::OnStarted(const HostedPodPtr& pod, const std::string& name, const std::string& image_id,
                                   const std::string& id, Result<EngineAnswer> answer) {
  if (!Alive(pod) || pod->boot != boot) return;
  const std::string full_id = "containerd://" + id;
  const WallTime now = parts.executor.Wall();
  Tell(*pod, name, "Normal", "Created", "Container created");
  if (!answer) {
    processes.erase(id);
    Tell(*pod, name, "Warning", "Failed", "Error: " + answer.error().text);
    pod->life->StartError(name, full_id, answer.error().text, now);
    return Step(pod);
  }
  Tell(*pod, name, "Normal", "Started", "Container started");
  HostedContainer& have = pod->containers[name];
  have.id = id;
  pod->life->Started(name, full_id, image_id, now);
  const ContainerWish& c = *pod->wish.Find(name);
  if (c.lifecycle.post_start)
    Act(pod, name, *c.lifecycle.post_start, std::chrono::minutes(2), [this, pod, name, id](const ProbeAnswer& answer) {
      if (!Alive(pod) || pod->containers[name].id != id || answer.success) return;
      Tell(*pod, name, "Warning", "FailedPostStartHook", "PostStartHook failed");
      Terminate(pod, name, seconds(pod->wish.spec.grace_seconds));
    });
  StartProbes(pod, name);
  Step(pod);
}

void MachineNode::State::StopContainer(const HostedPodPtr& pod, const Order& order) {
  HostedContainer& have = pod->containers[order.container];
  Tell(*pod, order.container, "Normal", "Killing", order.why);
  const ContainerWish& c = *pod->wish.Find(order.container);
  if (!c.lifecycle.pre_stop || have.terminating || order.grace <= Duration{})
    return Terminate(pod, order.container, order.grace);
  have.terminating = true;
  const TimePoint until = parts.executor.Now() + order.grace;
  // The hook's time counts against the container's.
  Act(pod, order.container, *c.lifecycle.pre_stop, order.grace,
      [this, pod, name = order.container, id = have.id, until](const ProbeAnswer& answer) {
        if (!Alive(pod) || pod->containers[name].id != id) return;
        if (!answer.success) Tell(*pod, name, "Warning", "FailedPreStopHook", "PreStopHook failed");
        Terminate(pod, name, std::max<Duration>(until - parts.executor.Now(), seconds(2)));
      });
}

void MachineNode::State::Signal(const std::string& id, int signal) {
  if (!up) return;
  EngineRequest request;
  request.verb = "signal", request.target = id, request.signal = signal;
  engine->Ask(std::move(request), [](const Result<EngineAnswer>&) {});
}

void MachineNode::State::Terminate(const HostedPodPtr& pod, const std::string& name, Duration grace) {
  HostedContainer& have = pod->containers[name];
  // An engine signals once; a second order only changes how long it waits.
  have.terminating = true;
  const bool first = !std::exchange(have.signalled, true);
  const std::uint64_t order = ++have.stop;
  if (grace <= Duration{}) return Signal(have.id, SIGKILL);
  if (first) Signal(have.id, SIGTERM);
  After(grace, [this, pod, name, order, id = have.id] {
    const auto it = pod->containers.find(name);
    if (it != pod->containers.end() && it->second.stop == order && it->second.id == id) Signal(id, SIGKILL);
  });
}

std::string MachineNode::State::LastWords(const HostedPod& pod, const std::string& name, bool failed) const {
  const ContainerWish& c = *pod.wish.Find(name);
  const int attempt = pod.containers.at(name).attempt;
  const std::string root = options.folder + "/root";
  std::string words = ReadSome(root + TerminationFile(pod.uid, name, attempt), kLastWords);
  if (words.empty() && failed && c.termination_policy == "FallbackToLogsOnError")
    words = TailOf(root + LogPath(pod.wish, name, attempt));
  return IsUtf8(words) ? words : std::string();
}

void MachineNode::State::OnExit(const std::string& id, int status, const std::string& output) {
  if (auto neighbour = neighbours.extract(id); !neighbour.empty()) return neighbour.mapped()(status, output);
  auto found = processes.extract(id);
  if (found.empty()) return OnEngineExit(id);
  const auto [pod, name] = found.mapped();
  HostedContainer& have = pod->containers[name];
  for (const auto& probe : have.probes) probe->over = true;
  have.probes.clear();
  ++have.stop;
  TellListeners(id);
  if (!Alive(pod)) return;
  pod->life->Exited(name, status, LastWords(*pod, name, status != 0), parts.executor.Wall());
  Step(pod);
}

}  // namespace gpuop::sim::node
