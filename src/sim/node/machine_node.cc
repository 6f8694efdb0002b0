#include "sim/node/machine_node.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "data/json.h"
#include "sim/kubelet/kubelets.h"
#include "sim/kubelet/node_api.h"
#include "sim/node/machine_state.h"

namespace gpuop::sim::node {
namespace {

namespace json = boost::json;

constexpr Duration kRetry = std::chrono::seconds(1);
/// The container engine as a process of the machine, and how long it stays away when it ends.
constexpr const char* kEngineProcess = "engine";
/// What the driver's own daemons have in /run is there as long as the driver is; it comes and goes with the machine's
/// files.
constexpr std::array<std::string_view, 2> kDaemonsInRun = {"nvidia-persistenced", "nvidia-fabricmanager"};

/// /run is in memory on a real machine, and empty after a reboot.
void EmptyRun(const std::string& root) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/run", error))
    if (std::ranges::find(kDaemonsInRun, entry.path().filename().string()) == kDaemonsInRun.end())
      std::filesystem::remove_all(entry.path(), error);
}
constexpr Duration kEngineRestart = std::chrono::seconds(1);
constexpr const char* kKubeletFolder = "/var/lib/kubelet";
/// How long a restarted kubelet takes until its Node's status says what it knows; until then the old amounts stand.
constexpr Duration kFirstReport = std::chrono::seconds(2);

}  // namespace

MachineNode::State::State(Parts p, MachineOptions o)
    : parts(std::move(p)), options(std::move(o)), rng(parts.seed ^ Hash64(options.name)) {
  node = {options.name, HostAddress(options.number), NewUuid(rng), NewUuid(rng), options.number, &options.pool};
}

void MachineNode::State::PowerOn() {
  std::error_code error;
  std::filesystem::create_directories(options.folder + "/root", error);
  ++boot;
  auto started = Engine::Start(
      parts.executor,
      {.program = parts.program, .folder = options.folder + "/root", .name = options.name, .address = node.host_ip},
      {.ready =
           [weak = weak_from_this()](Result<os::Fd> api) {
             if (const auto self = weak.lock()) self->OnUp(std::move(api));
           },
       .exited =
           [weak = weak_from_this()](const std::string& id, int status, const std::string& output) {
             if (const auto self = weak.lock()) self->OnExit(id, status, output);
           },
       .gone =
           [weak = weak_from_this()] {
             if (const auto self = weak.lock()) self->OnDown();
           }});
  if (!started)
    return parts.log.Error("machine does not start", {{"node", options.name}, {"error", started.error().text}});
  engine = *std::move(started);
}

void MachineNode::State::OnUp(Result<os::Fd> api) {
  if (!api) return parts.log.Error("machine does not start", {{"node", options.name}, {"error", api.error().text}});
  auto host = os::RealFs::Open(engine->view(), os::RealFs::Durability::kNone);
  if (!host) return parts.log.Error("machine cannot be seen", {{"node", options.name}, {"error", host.error().text}});
  if (options.on_up) options.on_up(engine->view());
  on = std::make_shared<PoweredOn>();
  on->host = *std::move(host);
  {
    Lock l(on->mu);
    on->runtime = std::make_unique<HostRuntime>(*on->host, engine->view());
  }
  StartEngine();
  host_api = ServeApi(*std::move(api));
  up = true;
  StartDevices();
  if (registered) ReportStatus();
  Register();
  for (const auto& [key, pod] : pods)
    if (pod->stage == HostedPod::Stage::kQueued) Queue(pod);
}

/// Lets programs behind that socket reach the API server.
std::shared_ptr<void> MachineNode::State::ServeApi(os::Fd listening) {
  if (!parts.serve_api || !listening.valid()) return nullptr;
  auto served = parts.serve_api(std::move(listening));
  if (served) return *std::move(served);
  parts.log.Error("programs do not reach the API server", {{"node", options.name}, {"error", served.error().text}});
  return nullptr;
}

void MachineNode::State::ReadEngineConfig() {
  Lock l(on->mu);
  const auto read = on->runtime->Reload();
  const std::string trouble = read ? std::string() : read.error().text;
  if (trouble != engine_trouble && !read)
    parts.log.Warn("container engine does not start", {{"node", options.name}, {"error", trouble}});
  engine_trouble = trouble;
}

/// It reads its configuration, and becomes a process that programs on the machine can ask, and signal.
void MachineNode::State::StartEngine() {
  ReadEngineConfig();
  EngineRequest request;
  request.verb = "engine", request.name = kEngineProcess;
  engine->Ask(std::move(request), [this](Result<EngineAnswer> answer) {
    if (!answer) parts.log.Warn("container engine", {{"node", options.name}, {"error", answer.error().text}});
  });
}

/// However it ends, it is started again, as systemd does.
void MachineNode::State::OnEngineExit(const std::string& id) {
  if (id != kEngineProcess) return;
  After(kEngineRestart, [this, life = boot] {
    if (up && boot == life) StartEngine();
  });
}

/// The machine's process ended by itself: a power loss. It stays off until somebody switches it on.
void MachineNode::State::OnDown() {
  parts.log.Warn("machine is off", {{"node", options.name}});
  up = false;
  host_api.reset();
  CloseDevices();
  ForgetProcesses();
}

void MachineNode::State::StartDevices() {
  devices = std::make_shared<DeviceManager>(DeviceManager::Parts{
      parts.executor, parts.workers, parts.log, options.folder + "/root" + kKubeletFolder, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->ReportStatus();
      }});
  TellDevicesOfPods();
  // Quick: two sockets and a small file.
  if (auto started = devices->Start(); !started)
    parts.log.Error("device manager does not start", {{"node", options.name}, {"error", started.error().text}});
}

void MachineNode::State::TellDevicesOfPods() {
  if (!devices) return;
  std::vector<DeviceManager::PodName> names;
  for (const auto& [key, pod] : pods) {
    if (pod->stage == HostedPod::Stage::kOver) continue;
    DeviceManager::PodName name{pod->uid, std::string(pod->wish.meta.ns.view()), pod->wish.meta.name, {}};
    for (const ContainerWish& c : pod->wish.spec.init_containers)
      if (c.restart_policy == "Always") name.containers.push_back(c.name);
    for (const ContainerWish& c : pod->wish.spec.containers) name.containers.push_back(c.name);
    names.push_back(std::move(name));
  }
  devices->SetPods(std::move(names));
}

void MachineNode::State::Register() {
  if (registered || !up) return;
  auto made = parts.client.Create(kube::Node::kResource, NodeObject(node, 0));
  const bool there = !made && made.error().code == Code::kAlreadyExists;
  if (!made && !there) {
    parts.log.Warn("node not registered", {{"node", options.name}, {"error", made.error().text}});
    return After(kRetry, [this] { Register(); });
  }
  ready_since = parts.executor.Wall();
  registered = true;
  ReportStatus();
  for (const auto& pod : parts.pods.Find("node", options.name)) Take(*pod);
}

json::object MachineNode::State::NodeStatus() const {
  json::object status = NodeStatusObject(node, parts.executor.Wall(), ready_since);
  if (!devices) return status;
  for (const auto& [resource, amounts] : devices->Amounts()) {
    status["capacity"].as_object()[resource] = std::to_string(amounts.capacity);
    status["allocatable"].as_object()[resource] = std::to_string(amounts.allocatable);
  }
  return status;
}

void MachineNode::State::ReportStatus() {
  if (!registered || cut || !up || reporting) return;
  if (auto r = PatchNodeStatus(parts.client, options.name, NodeStatus()); !r) {
    parts.log.Warn("node status not written", {{"node", options.name}, {"error", r.error().text}});
    return After(kRetry, [this] { ReportStatus(); });
  }
  reported = parts.executor.Now();
}

void MachineNode::State::Beat() {
  if (registered && !cut && up) {
    RenewNodeLease(parts.client, parts.nodes, parts.log, options.name, parts.executor.Wall());
    if (parts.executor.Now() - reported >= Kubelets::kStatusReport) ReportStatus();
  }
  After(Kubelets::kLeaseRenewal, [this] { Beat(); });
}

void MachineNode::State::OnNode(const kube::Change<kube::Node>& change) {
  if (change.any().meta.name != options.name || !registered || cut || !up) return;
  if (!change.now) {  // as a kubelet that is restarted: it registers again
    registered = false;
    return After(kRetry, [this] { Register(); });
  }
  if (change.now->ready() || change.now->status.conditions.empty()) return;
  ready_since = parts.executor.Wall();
  ReportStatus();
}

MachineNode::MachineNode(Parts parts, MachineOptions options)
    : state_(std::make_shared<State>(std::move(parts), std::move(options))) {}

MachineNode::~MachineNode() {
  // In this order: what runs on the machine ends, then nobody hears of it.
  state_->CloseDevices();
  state_->engine.reset();
}

void MachineNode::Start() {
  state_->PowerOn();
  state_->Beat();
}

void MachineNode::OnPod(const kube::Change<kube::Pod>& change) { state_->OnPod(change); }
void MachineNode::OnNode(const kube::Change<kube::Node>& change) { state_->OnNode(change); }

void MachineNode::OnObject(std::string_view kind, std::string_view ns, std::string_view name) {
  for (const auto& [key, pod] : state_->pods) {
    if (pod->stage != HostedPod::Stage::kReady || pod->wish.meta.ns != ns) continue;
    if (std::ranges::any_of(pod->wish.spec.volumes, [&](const Volume& v) { return Shows(v, kind, name); }))
      state_->UpdateVolumes(pod);
  }
}

void MachineNode::RestartKubelet() {
  if (!state_->up) return;
  state_->CloseDevices();
  state_->reporting = true;  // until the first report
  state_->StartDevices();
  state_->After(kFirstReport, [s = state_.get()] {
    s->reporting = false;
    s->ReportStatus();
  });
  // Every Pod is admitted anew; what runs runs on.
  for (const auto& [key, pod] : state_->pods) {
    if (pod->life) pod->life->ForgetBackOff(state_->parts.executor.Wall());
    if (pod->stage == HostedPod::Stage::kReady || pod->stage == HostedPod::Stage::kPreparing) state_->Queue(pod);
  }
}

void MachineNode::RestartEngine() {
  if (!state_->on) return;
  state_->ReadEngineConfig();
  state_->Signal(kEngineProcess, SIGTERM);
}

void MachineNode::Reboot() {
  State& s = *state_;
  s.up = false;
  s.CloseDevices();
  s.host_api.reset();
  s.engine.reset();
  EmptyRun(root());
  s.node.boot_id = NewUuid(s.rng);
  s.ForgetProcesses();
  const WallTime now = s.parts.executor.Wall();
  for (const auto& [key, pod] : s.pods) {
    pod->api.reset();
    for (auto& [name, c] : pod->containers)
      for (const auto& probe : c.probes) probe->over = true;
    if (pod->stage == HostedPod::Stage::kOver || !pod->life) continue;
    pod->life->Reboot(now);
    pod->stage = HostedPod::Stage::kQueued;
  }
  s.queue.clear();
  s.admitting = false;
  s.PowerOn();
}

void MachineNode::SetPartitioned(bool cut) {
  State& s = *state_;
  if (s.cut == cut) return;
  s.cut = cut;
  if (cut || !s.registered) return;
  s.ready_since = s.parts.executor.Wall();
  RenewNodeLease(s.parts.client, s.parts.nodes, s.parts.log, s.options.name, s.ready_since);
  s.ReportStatus();
  std::set<std::string> known;
  for (const auto& pod : s.parts.pods.Find("node", s.options.name)) {
    known.insert(pod->meta.Key());
    s.Take(*pod);
  }
  const auto all = s.pods;
  for (const auto& [key, pod] : all)
    if (!known.contains(key))
      s.Drop(pod);
    else
      s.Step(pod);
}

const std::string& MachineNode::name() const { return state_->options.name; }
std::string MachineNode::root() const { return state_->options.folder + "/root"; }
std::string MachineNode::view() const { return state_->engine ? state_->engine->view() : std::string(); }

Result<std::string> MachineNode::LogFileOf(const std::string& ns, const std::string& name, const std::string& container,
                                           bool previous) const {
  const HostedPodPtr pod = state_->Find(kube::KeyOf(ns, name));
  if (!pod || !pod->life) return Fail(Code::kNotFound, "pod " + name + " is not known to the kubelet");
  const int attempt = pod->life->Attempt(container) - (previous ? 1 : 0);
  const std::string path = root() + LogPath(pod->wish, container, std::max(attempt, 0));
  std::error_code error;
  if (attempt < 0)
    return Fail(Code::kNotFound,
                "previous terminated container " + Quote(container) + " in pod " + Quote(name) + " not found");
  // A container that waits for its next run shows the last one.
  for (int a = attempt; a >= 0 && a >= attempt - 1; --a)
    if (const std::string file = root() + LogPath(pod->wish, container, a); std::filesystem::exists(file, error))
      return file;
  return Fail(Code::kNotFound, path + ": no such file");
}

bool MachineNode::Runs(const std::string& ns, const std::string& name, const std::string& container) const {
  const HostedPodPtr pod = state_->Find(kube::KeyOf(ns, name));
  return pod && pod->life && pod->life->Runs(container);
}

void MachineNode::WhenStopped(const std::string& ns, const std::string& name, const std::string& container,
                              std::function<void()> then) {
  const HostedPodPtr pod = state_->Find(kube::KeyOf(ns, name));
  if (!pod || !pod->life || !pod->life->Runs(container)) return then();
  state_->listeners.emplace(pod->containers[container].id, std::move(then));
}

void MachineNode::Exec(ExecWish wish, std::function<void(Result<ExecStart>)> started, std::function<void(int)> ended) {
  state_->Exec(std::move(wish), std::move(started), std::move(ended));
}

void MachineNode::Socket(const std::string& ns, const std::string& name, std::function<void(Result<os::Fd>)> done) {
  const HostedPodPtr pod = state_->Find(kube::KeyOf(ns, name));
  if (!pod || !state_->up) return done(Fail(Code::kNotFound, "pod " + name + " does not run"));
  EngineRequest request;
  request.verb = "socket", request.target = pod->uid;
  state_->engine->Ask(std::move(request), [done = std::move(done)](Result<EngineAnswer> answer) {
    if (!answer) return done(std::unexpected(answer.error()));
    done(answer->fds.empty() ? Result<os::Fd>(Fail(Code::kInternal, "no socket")) : std::move(answer->fds.front()));
  });
}

std::pair<std::size_t, std::size_t> MachineNode::Counts() const {
  std::size_t running = 0;
  for (const auto& [key, pod] : state_->pods) running += pod->life && pod->life->Ready() ? 1 : 0;
  return {state_->pods.size(), running};
}

}  // namespace gpuop::sim::node
