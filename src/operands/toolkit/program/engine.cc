#include "operands/toolkit/program/engine.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "base/mutex.h"
#include "base/text.h"
#include "data/json.h"
#include "kube/kubelet/cri.pb.h"
#include "net/grpc/client.h"
#include "operands/toolkit/program/docker.h"
#include "os/real_fs.h"

namespace gpuop::operands::toolkit {
namespace {

namespace cri = kube::cri;

/// By it sandboxes that were only tried are known.
constexpr const char* kProbeLabel = "gpu-operator.dev/probe";
/// Between two looks at an engine that is on its way up.
constexpr auto kPause = std::chrono::milliseconds(100);

/// For an engine's verbose status, which holds its whole configuration, too.
net::GrpcClient ClientOf(const Options& options) {
  constexpr std::size_t kLongestAnswer = 16U << 20U;
  return net::GrpcClient(options.socket, kLongestAnswer);
}

/// Lets a thread sleep until something happens.
struct Bell {
  Mutex mu;
  std::condition_variable_any rung;
  std::uint64_t rings GUARDED_BY(mu) = 0;

  void Ring() {
    Lock l(mu);
    ++rings;
    rung.notify_all();
  }
};

}  // namespace

Result<EngineStatus> ReadEngineStatus(const std::string& response) {
  cri::StatusResponse message;
  if (!message.ParseFromString(response)) return Fail(Code::kInvalid, "the engine's status is no StatusResponse");
  EngineStatus out;
  for (const auto& condition : message.status().conditions()) {
    if (condition.type() != "RuntimeReady") continue;
    out.ready = condition.status();
    out.reason = condition.reason() + ": " + condition.message();
  }
  for (const auto& handler : message.runtime_handlers()) {
    out.lists_handlers = true;
    if (!handler.name().empty()) out.handlers.push_back(handler.name());
  }
  if (out.lists_handlers) return out;
  if (const auto it = message.info().find("config"); it != message.info().end())
    if (const auto config = data::ParseJson(it->second))
      if (const data::JsonObject* runtimes = data::GetObject(*config, "containerd.runtimes")) {
        out.lists_handlers = true;
        for (const auto& member : *runtimes) out.handlers.emplace_back(member.key());
      }
  return out;
}

Result<> CheckEngineStatus(const EngineStatus& status, const container::EngineConfig& expected) {
  if (!status.ready) return Fail(Code::kUnavailable, "the engine is not ready: " + status.reason);
  if (!status.lists_handlers) return {};
  for (const container::EngineRuntime& runtime : expected.runtimes) {
    if (std::ranges::find(status.handlers, runtime.name) == status.handlers.end())
      return Fail(Code::kUnavailable,
                  "the engine does not know the handler " + runtime.name + "; it has " + Join(status.handlers, ", "));
    const auto binary = status.binaries.find(runtime.name);
    if (binary != status.binaries.end() && !runtime.binary.empty() && binary->second != runtime.binary)
      return Fail(Code::kUnavailable, "the engine's handler " + runtime.name + " still runs " + binary->second +
                                          " instead of " + runtime.binary);
  }
  if (!expected.default_runtime.empty() && !status.default_handler.empty() &&
      status.default_handler != expected.default_runtime)
    return Fail(Code::kUnavailable, "the engine's default handler is still " + status.default_handler + " instead of " +
                                        expected.default_runtime);
  return {};
}

Result<int> SocketEngine::AwaitEngine(Duration limit, const std::stop_token& stop) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    auto pid = ProcessBehind(options_.socket, options_.engine);
    if (pid || stop.stop_requested() || std::chrono::steady_clock::now() >= deadline) return pid;
    std::this_thread::sleep_for(kPause);
  }
}

Result<> SocketEngine::CanBeTold() const {
  if (options_.restart_mode != "signal") return {};
  const auto pid = ProcessBehind(options_.socket, options_.engine);
  ASSIGN(const auto host, os::RealFs::Open("/"));
  return pid ? TakesHangup(*host, *pid) : Result<>();
}

Result<> SocketEngine::Remember(Result<> told, EngineProcess process) {
  if (!told) deaf_ = std::move(process);
  return told;
}

bool SocketEngine::RunsOnAsBefore(const EngineProcess& process) const {
  if (!deaf_ || !deaf_->Is(process)) return false;
  log_.Warn("the engine did not follow the change and is not told again: it runs with what its files said before",
            {{"pid", std::to_string(process.pid)}});
  return true;
}

Result<> SocketEngine::Signal() {
  const std::int64_t called = TicksSinceBoot();
  auto pid = ProcessBehind(options_.socket, options_.engine);
  if (!pid) {
    log_.Warn("engine does not answer yet", {{"error", pid.error().text}});
    pid = AwaitEngine(kLimit, {});
  }
  if (!pid) {
    log_.Warn("engine does not answer and is not signalled", {{"error", pid.error().text}});
    return {};
  }
  EngineProcess process = LookAtProcess(*pid);
  if (process.began && *process.began > called) {
    log_.Info("engine began after its files were changed", {{"pid", std::to_string(*pid)}});
    return {};
  }
  if (RunsOnAsBefore(process)) return {};
  log_.Info("engine gets a signal to read its configuration", {{"pid", std::to_string(*pid)}});
  ASSIGN(const auto host, os::RealFs::Open("/"));
  // containerd ends by it and is started again; until it has ended it answers as before.
  const bool ends = options_.engine == container::EngineKind::kContainerd;
  return Remember(SendHangup(*host, process, ends, kLimit), std::move(process));
}

Result<> SocketEngine::RestartUnit() {
  const std::string& unit = options_.unit;
  std::optional<EngineProcess> before;
  if (const auto pid = ProcessBehind(options_.socket, options_.engine)) before = LookAtProcess(*pid);
  if (before && RunsOnAsBefore(*before)) return {};
  log_.Info("engine is restarted", {{"unit", unit}});
  std::vector<std::string> argv = {"systemctl", "restart", unit};
  if (!options_.host_root.empty() && options_.host_root != "/")
    argv.insert(argv.begin(), {"chroot", options_.host_root});
  ASSIGN(const os::Exit exit, processes_.Run({.argv = std::move(argv), .limit = std::chrono::seconds(120)}, {}));
  if (!exit.ok()) return Fail(Code::kUnavailable, "systemctl restart " + unit + ": " + exit.Describe());
  if (!before) return {};
  ASSIGN(const auto host, os::RealFs::Open("/"));
  return Remember(AwaitRestart(*host, *before, unit, kLimit), *std::move(before));
}

Result<> SocketEngine::Reload() {
  if (!Restarts()) return {};
  return options_.restart_mode == "signal" ? Signal() : RestartUnit();
}

std::string SandboxRequest(const std::string& handler, bool systemd) {
  cri::RunPodSandboxRequest request;
  request.set_runtime_handler(handler);
  auto& config = *request.mutable_config();
  (*config.mutable_labels())[kProbeLabel] = "true";
  config.mutable_metadata()->set_name("gpu-operator-probe" + (handler.empty() ? "" : "-" + handler));
  config.mutable_metadata()->set_namespace_("gpu-operator-probe");
  config.mutable_metadata()->set_uid("gpu-operator-probe-" + std::to_string(::getpid()));
  if (systemd) config.mutable_linux()->set_cgroup_parent("/system.slice");
  auto& namespaces = *config.mutable_linux()->mutable_security_context()->mutable_namespace_options();
  namespaces.set_network(cri::NODE);
  return request.SerializeAsString();
}

namespace {

constexpr auto kSandboxLimit = std::chrono::seconds(20);
constexpr auto kTidyLimit = std::chrono::seconds(10);

Result<> EndSandbox(net::GrpcClient& client, const std::string& id, const std::stop_token& stop) {
  cri::StopPodSandboxRequest end;
  end.set_pod_sandbox_id(id);
  cri::RemovePodSandboxRequest remove;
  remove.set_pod_sandbox_id(id);
  ASSIGN(const std::string ended,
         client.Call("/runtime.v1.RuntimeService/StopPodSandbox", end.SerializeAsString(), kSandboxLimit, stop));
  ASSIGN(const std::string gone,
         client.Call("/runtime.v1.RuntimeService/RemovePodSandbox", remove.SerializeAsString(), kSandboxLimit, stop));
  return {};
}

/// Starts a sandbox and takes it away again. The error is the engine's.
Result<> TrySandbox(net::GrpcClient& client, const std::string& handler, bool systemd, const std::stop_token& stop) {
  ASSIGN(const std::string answer, client.Call("/runtime.v1.RuntimeService/RunPodSandbox",
                                               SandboxRequest(handler, systemd), kSandboxLimit, stop));
  cri::RunPodSandboxResponse made;
  if (!made.ParseFromString(answer)) return Fail(Code::kInvalid, "the engine's answer is no RunPodSandboxResponse");
  return EndSandbox(client, made.pod_sandbox_id(), stop);
}

const container::EngineRuntime* DefaultOf(const container::EngineConfig& config) {
  return config.Find(config.default_runtime.empty() ? "runc" : config.default_runtime);
}

bool UsesSystemd(const container::EngineRuntime* runtime) {
  if (runtime == nullptr) return false;
  const data::Json entry(runtime->entry);
  const data::Json* found = data::Find(entry, "options.SystemdCgroup");
  return found != nullptr && found->is_bool() && found->get_bool();
}

}  // namespace

Result<bool> SocketEngine::RemoveSomeLeft() {
  TRY(AwaitEngine(kTidyLimit, stop_));
  net::GrpcClient client = ClientOf(options_);
  cri::ListPodSandboxRequest request;
  (*request.mutable_filter()->mutable_label_selector())[kProbeLabel] = "true";
  ASSIGN(const std::string answer,
         client.Call("/runtime.v1.RuntimeService/ListPodSandbox", request.SerializeAsString(), kSandboxLimit, stop_));
  cri::ListPodSandboxResponse left;
  if (!left.ParseFromString(answer)) return Fail(Code::kInvalid, "the engine's answer is no ListPodSandboxResponse");
  for (const cri::PodSandbox& sandbox : left.items()) {
    TRY(EndSandbox(client, sandbox.id(), stop_));
    log_.Info("a sandbox that a killed toolkit had tried is taken away", {{"sandbox", sandbox.metadata().name()}});
  }
  return left.items().empty();
}

void SocketEngine::RemoveLeftSandboxes() {
  if (!TriesSandboxes()) return;
  // An engine that was told to begin anew may still answer, or answers already and cannot do it yet.
  const auto deadline = std::chrono::steady_clock::now() + kTidyLimit;
  for (;;) {
    const auto none = RemoveSomeLeft();
    if (none && *none) return;
    if (!none && none.error().code == Code::kUnsupported) return;
    if (stop_.stop_requested() || std::chrono::steady_clock::now() >= deadline) {
      log_.Warn("sandboxes that were tried may be left", {{"error", none ? "more come" : none.error().text}});
      return;
    }
    if (!none) std::this_thread::sleep_for(kPause);
  }
}

void SocketEngine::LookBefore(const container::EngineConfig& before) {
  starts_sandboxes_ = false;
  if (!TriesSandboxes()) return;
  if (ProcessBehind(options_.socket, options_.engine)) RemoveLeftSandboxes();
  net::GrpcClient client = ClientOf(options_);
  const auto tried = TrySandbox(client, "", UsesSystemd(DefaultOf(before)), stop_);
  starts_sandboxes_ = tried.has_value();
  if (!tried)
    log_.Warn("the engine starts no sandbox even before the change; afterwards it is not asked to",
              {{"error", tried.error().text}});
}

Result<> SocketEngine::TrySandboxes(const container::EngineConfig& expected) {
  if (!starts_sandboxes_) return {};
  net::GrpcClient client = ClientOf(options_);
  const std::string ours = options_.install_dir + "/toolkit/";
  TRY(TrySandbox(client, "", UsesSystemd(DefaultOf(expected)), stop_));
  for (const container::EngineRuntime& runtime : expected.runtimes) {
    if (!runtime.binary.starts_with(ours)) continue;
    if (auto done = TrySandbox(client, runtime.name, UsesSystemd(&runtime), stop_); !done)
      return std::unexpected(std::move(done).error().During("handler " + runtime.name));
  }
  return {};
}

Result<> SocketEngine::AskDockerd(const container::EngineConfig& expected) {
  ASSIGN(const EngineStatus status, AskDocker(options_.socket, stop_));
  if (auto known = CheckEngineStatus(status, expected); !known) {
    // It reads its file while it answers; one that it refuses it forgets at once, and would not start with again.
    if (--docker_answers_left_ > 0) return known;
    return std::unexpected(std::move(known).error().During(
        "docker refused its configuration, and its log (journalctl -u " + options_.unit + ") says why"));
  }
  if (expected.cdi && !status.cdi)
    log_.Warn("docker gives containers no CDI devices: since Docker 25 it does once it is restarted, before that never",
              {});
  return {};
}

Result<> SocketEngine::Ask(const container::EngineConfig& expected) {
  if (options_.engine == container::EngineKind::kDocker) return AskDockerd(expected);
  cri::StatusRequest request;
  request.set_verbose(true);
  net::GrpcClient client = ClientOf(options_);
  ASSIGN(const std::string response, client.Call("/runtime.v1.RuntimeService/Status", request.SerializeAsString(),
                                                 std::chrono::seconds(10), stop_));
  ASSIGN(const EngineStatus status, ReadEngineStatus(response));
  return CheckEngineStatus(status, expected);
}

Result<> SocketEngine::Verify(const container::EngineConfig& expected) {
  if (!Restarts()) return {};
  const auto bell = std::make_shared<Bell>();
  ASSIGN(const auto watch, watcher_.Start({options_.socket}, [bell](const auto&) { bell->Ring(); }));
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  // An engine that answers while it still ends itself would be believed too early: one quiet second is asked for.
  constexpr auto kQuiet = std::chrono::seconds(1);
  // A sandbox may fail because the engine has only just begun; what fails this often fails.
  int sandboxes_left = 3;
  docker_answers_left_ = 20;
  Result<> last = Fail(Code::kTimeout, "no answer");
  for (;;) {
    std::uint64_t seen = 0;
    {
      Lock l(bell->mu);
      seen = bell->rings;
      const auto until = std::min(deadline, std::chrono::steady_clock::now() + kQuiet);
      bell->rung.wait_until(bell->mu, stop_, until, [&]() REQUIRES(bell->mu) { return bell->rings != seen; });
      if (bell->rings != seen && std::chrono::steady_clock::now() < deadline) continue;
    }
    if (stop_.stop_requested()) return Fail(Code::kCancelled, "stopping");
    last = Ask(expected);
    if (last) {
      last = TrySandboxes(expected);
      if (!last && --sandboxes_left == 0) return last;
    }
    if (last || docker_answers_left_ == 0 || std::chrono::steady_clock::now() >= deadline) return last;
  }
}

}  // namespace gpuop::operands::toolkit
