#include "sim/node/engine/engine_service.h"

#include <signal.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstdio>

#include "base/text.h"
#include "base/thread_executor.h"
#include "kube/kubelet/cri.pb.h"
#include "os/real_fs.h"
#include "sim/node/host_runtime.h"

namespace gpuop::sim::node {
namespace {

namespace cri = kube::cri;

std::string StatusOf(const std::optional<container::EngineConfig>& config) {
  cri::StatusResponse out;
  for (const char* type : {"RuntimeReady", "NetworkReady"}) {
    auto* condition = out.mutable_status()->add_conditions();
    condition->set_type(type);
    condition->set_status(true);
  }
  out.add_runtime_handlers();  // the default, which has no name
  if (!config) out.add_runtime_handlers()->set_name("runc");
  if (config)
    for (const container::EngineRuntime& runtime : config->runtimes) out.add_runtime_handlers()->set_name(runtime.name);
  return out.SerializeAsString();
}

Result<> CheckSandbox(const std::optional<container::EngineConfig>& config, const os::Fs& host, std::string handler) {
  if (handler.empty() && config) handler = config->default_runtime;
  if (handler.empty() || (!config && handler == "runc")) return {};
  const container::EngineRuntime* runtime = config ? config->Find(handler) : nullptr;
  if (runtime == nullptr)
    return Fail(Code::kNotFound, "failed to get sandbox runtime: no runtime for " + Quote(handler) + " is configured");
  if (!runtime->binary.starts_with('/') || host.Resolve(runtime->binary)) return {};
  return Fail(Code::kInternal,
              "failed to create containerd task: failed to create shim task: OCI runtime create failed: unable to "
              "retrieve OCI runtime error: exec: " +
                  Quote(runtime->binary) + ": stat " + runtime->binary + ": no such file or directory: unknown");
}

Result<> Serve() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, signal);
  // Before any thread: each must leave the signals to this one.
  ::sigprocmask(SIG_SETMASK, &ends, nullptr);
  ASSIGN(const auto host, os::RealFs::Open("/"));
  ASSIGN(const auto config, ReadContainerdConfig(*host));
  TRY(os::MakeFolders(*host, "/run/containerd"));
  ThreadExecutor executor(1);
  ASSIGN(const auto server, net::GrpcServer::Start({.path = kEngineSocket}, EngineMethods(config, *host), executor));
  int signal = 0;
  ::sigwait(&ends, &signal);
  return {};
}

}  // namespace

net::GrpcMethods EngineMethods(const std::optional<container::EngineConfig>& config, const os::Fs& host) {
  const std::string service = "/runtime.v1.RuntimeService/";
  net::GrpcMethods methods;
  methods[service + "Status"] = net::GrpcUnary(
      [&config](const std::string&, std::stop_token) -> Result<std::string> { return StatusOf(config); });
  const auto made = std::make_shared<std::atomic<int>>(0);
  methods[service + "RunPodSandbox"] =
      net::GrpcUnary([&config, &host, made](const std::string& text, std::stop_token) -> Result<std::string> {
        cri::RunPodSandboxRequest request;
        if (!request.ParseFromString(text)) return Fail(Code::kInvalid, "no RunPodSandboxRequest");
        TRY(CheckSandbox(config, host, request.runtime_handler()));
        cri::RunPodSandboxResponse response;
        response.set_pod_sandbox_id("sandbox-" + std::to_string(++*made));
        return response.SerializeAsString();
      });
  for (const char* name : {"StopPodSandbox", "RemovePodSandbox"})
    methods[service + name] =
        net::GrpcUnary([](const std::string&, std::stop_token) -> Result<std::string> { return std::string(); });
  return methods;
}

int RunEngine() {
  ::prctl(PR_SET_NAME, "containerd", 0, 0, 0);
  const auto served = Serve();
  if (served) return 0;
  std::fprintf(stderr, "containerd: %s\n", served.error().text.c_str());
  return 1;
}

}  // namespace gpuop::sim::node
