#include "operands/dcgm/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/waits.h"

namespace gpuop::operands::dcgm {
namespace {

constexpr const char* kName = "nvidia-dcgm";
constexpr std::int32_t kPort = 5555;

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet({.name = kName, .deploy = "dcgm", .scc = "hostmount-anyuid"}, facts);
  PodSpec& pod = ds.pod.spec;
  const Mount run{.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(kHostToContainer)};
  ASSIGN(Container wait, WaitForToolkit(run, false, policy, facts, pod));
  pod.init_containers = {std::move(wait)};
  pod.AddVolume(HostVolume("run-nvidia", "/run/nvidia", kDirectory));
  ASSIGN(std::string image, ResolveImage(policy.dcgm, "DCGM_IMAGE", facts, "spec.dcgm"));
  const Probe listens{.tcp_socket = TcpSocket{.port = kPort}, .initial_delay = 15};
  Container main{.name = "nvidia-dcgm-ctr",
                 .image = std::move(image),
                 .ports = {{.name = "dcgm", .container_port = kPort}},
                 .liveness_probe = listens,
                 .readiness_probe = listens,
                 .security = Privileged()};
  ApplyComponent(policy.dcgm, pod, main);
  pod.containers = {std::move(main)};
  UseGpuRuntime(ds, "nvidia-dcgm-ctr", policy, facts);
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.dcgm.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kName}, facts, out);
  AddConstraints({.account = kName}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  out.push_back(ToObject(Service{.meta = Named(kName, facts, {{"app", kName}}),
                                 .selector = {{"app", kName}},
                                 .ports = {{.name = "dcgm", .port = kPort}},
                                 .internal_traffic = "Local"}));
  return out;
}

}  // namespace gpuop::operands::dcgm
