#include "main/controller.h"

#include <malloc.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>

#include "base/rng.h"
#include "base/text.h"
#include "base/thread_executor.h"
#include "kube/config/config.h"
#include "kube/counting_door.h"
#include "kube/http_door.h"
#include "main/controller_options.h"
#include "net/io_thread.h"
#include "net/server.h"
#include "net/url.h"
#include "operator/operator.h"
#include "os/process.h"
#include "os/real_fs.h"
#include "os/signals.h"

namespace gpuop {
namespace {

/// Most of the time they wait for answers: objects and nodes are written side by side, and however slow the answers
/// are, the caches and the lease have threads left.
constexpr std::size_t kWrites = 8, kWorkers = 2 * kWrites + 8;
constexpr std::chrono::seconds kFarewell{5};

op::Surroundings FindSurroundings() {
  op::Surroundings out;
  static constexpr const char* kImages[] = {"DRIVER_IMAGE",
                                            "VGPU_MANAGER_IMAGE",
                                            "CONTAINER_TOOLKIT_IMAGE",
                                            "DEVICE_PLUGIN_IMAGE",
                                            "SANDBOX_DEVICE_PLUGIN_IMAGE",
                                            "KATA_SANDBOX_DEVICE_PLUGIN_IMAGE",
                                            "DCGM_EXPORTER_IMAGE",
                                            "DCGM_IMAGE",
                                            "VALIDATOR_IMAGE",
                                            "GFD_IMAGE",
                                            "MIG_MANAGER_IMAGE",
                                            "DRIVER_MANAGER_IMAGE",
                                            "GDS_IMAGE",
                                            "GDRCOPY_IMAGE",
                                            "VFIO_MANAGER_IMAGE",
                                            "CC_MANAGER_IMAGE",
                                            "VGPU_DEVICE_MANAGER_IMAGE",
                                            "CUDA_BASE_IMAGE"};
  for (const char* name : kImages)
    if (std::string value = net::ProcessEnv(name); !value.empty()) out.image_env[name] = std::move(value);
  out.operator_image = net::ProcessEnv("OPERATOR_IMAGE");
  const std::string secrets = net::ProcessEnv("OPERATOR_IMAGE_PULL_SECRETS");
  for (const std::string_view secret : Split(secrets, ','))
    if (!secret.empty()) out.operator_pull_secrets.emplace_back(secret);
  return out;
}

/// Unlike any other candidate's: the Pod's name and a random part.
std::string Identity(Rng& rng) {
  char host[256] = "gpu-operator";
  (void)gethostname(host, sizeof(host) - 1);
  return std::string(host) + "_" + std::to_string(rng.Next());
}

/// A flag that a thread can wait for.
class Latch {
 public:
  void Set() {
    Lock l(mu_);
    set_ = true;
    changed_.notify_all();
  }
  bool WaitFor(Duration limit, const std::stop_token& stop) {
    Lock l(mu_);
    return changed_.wait_for(mu_, stop, limit, [this]() REQUIRES(mu_) { return set_; });
  }

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  bool set_ GUARDED_BY(mu_) = false;
};

net::Response Text(int status, std::string text, std::string_view type = "text/plain; charset=utf-8") {
  net::Response out;
  out.status = status;
  out.headers.Add("Content-Type", std::string(type));
  out.body = net::MakeBody(std::move(text));
  return out;
}

/// Everything of a running controller, in the order in which it is made.
struct Running {
  explicit Running(const ControllerOptions& options) : log(workers, options.log_level) {}

  ThreadExecutor workers{kWorkers};
  StderrLog log;
  MetricRegistry metrics;
  std::unique_ptr<os::RealFs> fs;
  os::RealProcesses processes;
  net::IoThread io;
  std::unique_ptr<kube::HttpDoor> http;
  std::unique_ptr<kube::CountingDoor> door;
  std::unique_ptr<op::Operator> op;
  std::unique_ptr<net::Server> metrics_server, health_server;
};

Result<> Connect(Running& run, const ControllerOptions& options) {
  ASSIGN(run.fs, os::RealFs::Open("/"));
  kube::ConfigSources sources;
  sources.kubeconfig = options.kubeconfig;
  ASSIGN(kube::ApiConfig config, kube::FindConfig(*run.fs, sources));
  run.log.Info("API found", {{"source", config.source}});
  ASSIGN(run.http, kube::HttpDoor::Make(run.io, run.workers, *run.fs, run.processes, std::move(config)));
  run.door = std::make_unique<kube::CountingDoor>(*run.http, &run.metrics);
  return {};
}

void MakeOperator(Running& run, const ControllerOptions& options, const std::string& ns) {
  Rng rng(RandomSeed());
  op::Operator::Options o;
  o.ns = ns;
  o.identity = Identity(rng);
  o.leader_elect = options.leader_elect && !options.dry_run;
  o.lease_ns = options.lease_namespace;
  if (options.renew_deadline > Duration::zero()) o.renew_deadline = options.renew_deadline;
  o.surroundings = FindSurroundings();
  o.concurrency = kWrites;
  o.seed = rng.Next();
  o.act = !options.dry_run;
  o.wait = kube::BlockingWait;
  run.op = std::make_unique<op::Operator>(run.workers, *run.door, run.log, run.metrics, std::move(o));
}

/// /healthz tells what only a restart helps against, /readyz whether the caches are complete.
net::Response Health(op::Operator& op, std::string_view path) {
  if (path == "/healthz" || path == "/healthz/") {
    const std::vector<std::string> ailments = op.Ailments();
    if (ailments.empty()) return Text(200, "ok");
    std::string text;
    for (const std::string& ailment : ailments) text.append(ailment).append("\n");
    return Text(500, std::move(text));
  }
  if (path == "/readyz" || path == "/readyz/")
    return op.Ready() ? Text(200, "ok") : Text(503, "the state of the cluster is not known yet\n");
  return Text(404, "there are /healthz and /readyz\n");
}

Result<> Serve(Running& run, const ControllerOptions& options) {
  if (options.metrics_address != "0") {
    std::optional<net::TlsServerOptions> tls;
    if (!options.metrics_key.empty())
      tls = net::TlsServerOptions{
          {"", options.metrics_certificate}, {"", options.metrics_key}, {"", options.metrics_client_ca}};
    const bool certified = !options.metrics_client_ca.empty();
    run.metrics_server =
        std::make_unique<net::Server>(run.io, [&run, certified](const net::Request& request, net::Responder answer) {
          if (certified && !request.peer->certificate) return answer.Send(Text(401, "show a client certificate\n"));
          if (request.Path() != "/metrics") return answer.Send(Text(404, "there is /metrics\n"));
          answer.Send(Text(200, run.metrics.Text(), MetricRegistry::kContentType));
        });
    TRY(run.metrics_server->Listen(options.metrics_address, std::move(tls)));
  }
  if (options.health_address != "0") {
    run.health_server = std::make_unique<net::Server>(
        run.io,
        [&run](const net::Request& request, net::Responder answer) { answer.Send(Health(*run.op, request.Path())); });
    TRY(run.health_server->Listen(options.health_address));
  }
  return {};
}

/// What is unsaid in a namespace's place is an error that a person must hear.
Result<std::string> OwnNamespace() {
  std::string ns = net::ProcessEnv("OPERATOR_NAMESPACE");
  if (ns.empty()) return Fail(Code::kInvalid, "the environment variable OPERATOR_NAMESPACE is not set");
  return ns;
}

Result<> PrintDryRun(Running& run, const std::stop_token& stop) {
  Latch known;
  run.op->WhenReady([&known] { known.Set(); });
  run.op->Start();
  if (!known.WaitFor(std::chrono::minutes(1), stop))
    return Fail(Code::kTimeout, "the state of the cluster could not be read within a minute");
  const std::string text = run.op->DryRun();
  std::fputs(text.empty() ? "nothing would be written\n" : text.c_str(), stdout);
  return {};
}

Result<> RunUntil(Running& run, const ControllerOptions& options, const std::stop_token& stop) {
  if (options.dry_run) return PrintDryRun(run, stop);
  TRY(Serve(run, options));
  run.op->Start();
  Latch never;
  (void)never.WaitFor(std::chrono::hours(24 * 365 * 100), stop);
  // Another process can lead at once.
  Latch stopped;
  run.op->Stop([&stopped] { stopped.Set(); });
  (void)stopped.WaitFor(kFarewell, {});
  return {};
}

Result<> Run(const ControllerOptions& options, const std::stop_token& stop) {
  ASSIGN(const std::string ns, OwnNamespace());
  Running run(options);
  TRY(Connect(run, options));
  MakeOperator(run, options, ns);
  run.io.Start();
  auto result = RunUntil(run, options, stop);
  run.metrics_server.reset();
  run.health_server.reset();
  run.op.reset();
  return result;
}

}  // namespace

int RunController(std::span<char* const> args) {
  const auto options = ParseControllerOptions(args);
  if (!options) {
    std::fprintf(stderr, "gpu-operator controller: %s\n", options.error().text.c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(ControllerHelp().c_str(), stdout);
    return 0;
  }
  // Workers mostly wait: a heap for each of them would only hold memory.
  mallopt(M_ARENA_MAX, 2);
  auto signals = os::StopSignals::Catch();
  const Result<> done = signals ? Run(*options, (*signals)->token()) : Result<>(std::unexpected(signals.error()));
  if (done) return 0;
  std::fprintf(stderr, "gpu-operator controller: %s\n", done.error().text.c_str());
  return 1;
}

}  // namespace gpuop
