// What a Pod needs before its containers start: volumes and namespaces.

#include <algorithm>

#include "base/text.h"
#include "data/json.h"
#include "kube/types/core.h"
#include "sim/node/machine_state.h"

namespace gpuop::sim::node {
namespace {

namespace json = boost::json;
using Stage = HostedPod::Stage;

/// Tokens are made anew before they end.
constexpr Duration kTokenRefresh = std::chrono::minutes(40);

const kube::Resource kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false};

template <class T>
Result<T> GetOr(const kube::Client& client, std::string_view ns, const std::string& name, std::string_view kind) {
  auto object = client.Get<T>(std::string(ns), name);
  if (!object && object.error().code == Code::kNotFound)
    return Fail(Code::kNotFound, std::string(kind) + " " + Quote(name) + " not found");
  return object;
}

}  // namespace

Sources MachineNode::State::SourcesFor(const HostedPod& pod) {
  const std::string ns(pod.wish.meta.ns.view());
  Sources out;
  out.config_map = [this, ns](const std::string& name) -> Result<ObjectData> {
    ASSIGN(const kube::ConfigMap map, GetOr<kube::ConfigMap>(parts.client, ns, name, "configmap"));
    ObjectData data(map.data.begin(), map.data.end());
    for (const auto& [key, value] : map.binary_data)
      data[std::string(key.view())] = Base64Decode(value.view()).value_or("");
    return data;
  };
  out.secret = [this, ns](const std::string& name) -> Result<ObjectData> {
    ASSIGN(const kube::Secret secret, GetOr<kube::Secret>(parts.client, ns, name, "secret"));
    ObjectData data;
    for (const auto& [key, value] : secret.data) data[key] = Base64Decode(value).value_or("");
    return data;
  };
  out.token = [this, ns, account = pod.wish.spec.service_account, name = pod.wish.meta.name,
               uid = pod.uid](const TokenProjection& wish) -> Result<std::string> {
    kube::ObjectRef ref = kube::Ref<kube::ServiceAccount>(ns, account.empty() ? "default" : account);
    ref.subresource = "token";
    json::object spec{{"expirationSeconds", wish.lifetime},
                      {"boundObjectRef", {{"kind", "Pod"}, {"apiVersion", "v1"}, {"name", name}, {"uid", uid}}}};
    if (!wish.audience.empty()) spec["audiences"] = json::array{json::string(wish.audience)};
    ASSIGN(
        const json::object answer,
        parts.client.Post(ref, {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", spec}}));
    return data::RequireString(answer, "status.token");
  };
  return out;
}

PodFacts MachineNode::State::FactsFor(const HostedPod& pod) const {
  PodFacts facts{.pod_ip = pod.ip, .host_ip = node.host_ip, .allocatable = options.pool.allocatable};
  for (const auto& [name, amount] : options.pool.capacity) facts.allocatable.emplace_back(name, amount);
  return facts;
}

Result<PodFiles> MachineNode::State::PlanFiles(const HostedPod& pod) {
  const PodFacts facts = FactsFor(pod);
  const Sources sources = SourcesFor(pod);
  PodFiles out = PlanPodFiles(pod.wish, facts);
  for (const Volume& volume : pod.wish.spec.volumes) {
    auto files = PlanVolume(pod.wish, volume, facts, sources);
    if (!files)
      return Fail(files.error().code,
                  "MountVolume.SetUp failed for volume " + Quote(volume.name) + " : " + files.error().text);
    out.volumes.emplace_back(volume, *std::move(files));
  }
  return out;
}

void MachineNode::State::Prepare(const HostedPodPtr& pod) {
  if (!Alive(pod) || pod->stage != Stage::kPreparing || pod->life->stopping() || !up) return;
  auto files = PlanFiles(*pod);
  if (!files) return OnFiles(pod, std::unexpected(files.error()));
  // A copy for the worker: the Pod's own wish stays here.
  auto wish = std::make_shared<const PodWish>(pod->wish);
  Off<Result<>>([machine = on, wish, f = *std::move(files),
                 v = ++pod->volume_version] { return WritePodFiles(*machine->host, *wish, f, v); },
                [this, pod](const Result<>& how) {
                  if (Alive(pod)) OnFiles(pod, how);
                });
}

void MachineNode::State::PrepareLater(const HostedPodPtr& pod) {
  After(TryBackOff(++pod->failures, false), [this, pod] { Prepare(pod); });
}

void MachineNode::State::OnFiles(const HostedPodPtr& pod, const Result<>& how) {
  if (how) return MakeSandbox(pod);
  Tell(*pod, "", "Warning", "FailedMount", how.error().text);
  PrepareLater(pod);
}

std::string MachineNode::State::HandlerOf(const HostedPod& pod, Result<>& how) {
  if (pod.wish.spec.runtime_class.empty()) return {};
  auto found = parts.client.Get({kRuntimeClasses, {}, pod.wish.spec.runtime_class, {}});
  if (!found) {
    how = Fail(found.error().code, "failed to get sandbox runtime handler: RuntimeClass.node.k8s.io " +
                                       Quote(pod.wish.spec.runtime_class) + " not found");
    return {};
  }
  return std::string(data::StringOr(*found, "handler"));
}

void MachineNode::State::MakeSandbox(const HostedPodPtr& pod) {
  if (!up || pod->life->stopping()) return;
  Result<> how;
  pod->handler = HandlerOf(*pod, how);
  if (how) {
    Lock l(on->mu);
    how = on->runtime->CheckHandler(pod->handler);
    // The words of containerd 1.7, and of 2.
    const bool old = options.pool.info.container_runtime_version.view().starts_with("containerd://1.");
    const std::string words = old ? "failed to get sandbox runtime"
                                  : "unable to get OCI runtime for sandbox " + Quote(Hex(NewUuid(rng)).substr(0, 64));
    if (!how) how = Fail(how.error().code, words + ": " + how.error().text);
  }
  if (!how) {
    Tell(*pod, "", "Warning", "FailedCreatePodSandBox",
         "Failed to create pod sandbox: rpc error: code = Unknown desc = " + how.error().text);
    return PrepareLater(pod);
  }
  EngineRequest request;
  request.verb = "sandbox";
  const PodWishSpec& spec = pod->wish.spec;
  request.sandbox = SandboxSpec{.id = pod->uid,
                                .hostname = PlanPodFiles(pod->wish, FactsFor(*pod)).hostname,
                                .address = pod->ip,
                                .host_network = spec.host_network,
                                .host_ipc = spec.host_ipc,
                                .host_pid = spec.host_pid,
                                .shared_pid = spec.shared_pid};
  engine->Ask(std::move(request), [weak = weak_from_this(), pod](Result<EngineAnswer> answer) {
    if (const auto self = weak.lock(); self && self->Alive(pod)) self->OnSandbox(pod, std::move(answer));
  });
}

void MachineNode::State::OnSandbox(const HostedPodPtr& pod, Result<EngineAnswer> answer) {
  if (!answer) {
    Tell(*pod, "", "Warning", "FailedCreatePodSandBox",
         "Failed to create pod sandbox: rpc error: code = Unknown desc = " + answer.error().text);
    return PrepareLater(pod);
  }
  if (!answer->fds.empty()) pod->api = ServeApi(std::move(answer->fds.front()));
  pod->stage = Stage::kReady;
  pod->boot = boot;
  pod->failures = 0;
  pod->life->SetSandbox(true);
  const auto& volumes = pod->wish.spec.volumes;
  if (std::ranges::any_of(volumes, [](const Volume& v) { return v.projected.has_value(); }))
    After(kTokenRefresh, [this, pod] { UpdateVolumes(pod); });
  if (const auto limit = pod->wish.spec.active_deadline_seconds)
    After(std::chrono::seconds(*limit), [this, pod] {
      if (!Alive(pod) || pod->life->Finished() || pod->life->stopping()) return;
      pod->life->Stop(parts.executor.Wall(), std::chrono::seconds(pod->wish.spec.grace_seconds), "DeadlineExceeded",
                      "Pod was active on the node longer than the specified deadline");
      Step(pod);
    });
  Step(pod);
}

void MachineNode::State::UpdateVolumes(const HostedPodPtr& pod) {
  if (!Alive(pod) || pod->stage != Stage::kReady || !up) return;
  auto files = PlanFiles(*pod);
  if (!files) return;  // what it has stays
  auto wish = std::make_shared<const PodWish>(pod->wish);
  Off<Result<>>([machine = on, wish, f = *std::move(files),
                 v = ++pod->volume_version] { return WritePodFiles(*machine->host, *wish, f, v); },
                [this, pod](const Result<>& how) {
                  if (!how) parts.log.Warn("volume not updated", {{"pod", pod->key}, {"error", how.error().text}});
                });
}

}  // namespace gpuop::sim::node
