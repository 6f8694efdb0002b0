#include <algorithm>

#include "base/text.h"
#include "data/json.h"
#include "sim/kubelet/admission.h"
#include "sim/kubelet/node_api.h"
#include "sim/node/machine_state.h"
#include "sim/scheduler/read.h"

namespace gpuop::sim::node {
namespace {

namespace json = boost::json;
using Stage = HostedPod::Stage;

constexpr Duration kRetry = std::chrono::seconds(1);

/// What a container asks of its node beyond cpu, memory and disk.
std::vector<std::pair<std::string, std::size_t>> Extended(const ContainerWish& c) {
  std::vector<std::pair<std::string, std::size_t>> out;
  for (const auto& [name, text] : c.resources.limits)
    if (name.view().find('/') != std::string_view::npos)
      if (auto amount = data::Quantity::Parse(text.view()); amount && amount->Value() > 0)
        out.emplace_back(name.view(), static_cast<std::size_t>(amount->Value()));
  return out;
}

}  // namespace

HostedPodPtr MachineNode::State::Find(std::string_view key) const {
  const auto it = pods.find(key);
  return it == pods.end() ? nullptr : it->second;
}

/// Whether it is still the one that its node knows under its name.
bool MachineNode::State::Alive(const HostedPodPtr& pod) const { return Find(pod->key) == pod; }

void MachineNode::State::OnPod(const kube::Change<kube::Pod>& change) {
  const kube::Pod& pod = change.any();
  if (pod.spec.node_name != options.name || !registered || cut) return;
  if (change.now) return Take(*change.now);
  const HostedPodPtr have = Find(change.Key());
  if (have && have->uid == pod.meta.uid) Drop(have);
}

void MachineNode::State::Take(const kube::Pod& pod) {
  HostedPodPtr have = Find(pod.meta.Key());
  if (have && have->uid != pod.meta.uid) {
    Drop(have);
    have.reset();
  }
  if (!have) {
    if (pod.finished()) {
      if (pod.meta.deleting()) [[maybe_unused]]
        const auto gone = LetPodGo(parts.client, pod);
      return;
    }
    have = std::make_shared<HostedPod>();
    have->key = pod.meta.Key();
    have->uid = pod.meta.uid;
    have->ip = pod.spec.host_network ? node.host_ip : PodAddress(node.number, addresses++);
    pods[have->key] = have;
    return Queue(have);
  }
  if (pod.meta.deleting() && have->life && !have->ending) {
    // A shorter time than before counts (Step sees the first one).
    if (have->life->stopping()) have->life->Stop(parts.executor.Wall(), *pod.meta.deleted - parts.executor.Wall());
  }
  Step(have);
}

void MachineNode::State::Queue(HostedPodPtr pod) {
  if (std::ranges::find(queue, pod) == queue.end()) queue.push_back(std::move(pod));
  AdmitNext();
}

void MachineNode::State::AdmitNext() {
  while (!admitting && up && !queue.empty()) {
    const HostedPodPtr pod = queue.front();
    queue.pop_front();
    if (Alive(pod)) Admit(pod);
  }
}

void MachineNode::State::Admit(const HostedPodPtr& pod) {
  const auto known = parts.pods.Get(pod->key);
  if (!known || known->meta.uid != pod->uid) return Drop(pod);
  if (!pod->life) {
    auto object = parts.client.Get(kube::Ref<kube::Pod>(std::string(known->meta.ns.view()), known->meta.name));
    auto wish = object ? kube::Decode<PodWish>(*object) : std::unexpected(object.error());
    auto info = ReadPod(*known);
    if (!wish || !info) {
      parts.log.Error("pod cannot be run",
                      {{"pod", pod->key}, {"error", !wish ? wish.error().text : info.error().text}});
      return;
    }
    pod->wish = *std::move(wish);
    pod->info = *std::move(info);
    pod->life.emplace(pod->wish, parts.executor.Wall());
    TellDevicesOfPods();
  }
  admitting = true;
  struct Need {
    std::string container, resource;
    std::size_t count;
  };
  std::vector<Need> needs;
  for (const auto* list : {&pod->wish.spec.init_containers, &pod->wish.spec.containers})
    for (const ContainerWish& c : *list) {
      // What runs has what it needs, and what an init container needed it needs no more.
      if (pod->life->Runs(c.name) || (list == &pod->wish.spec.init_containers && pod->life->phase() == "Running"))
        continue;
      for (const auto& [resource, count] : Extended(c))
        if (devices->Manages(resource)) needs.push_back({c.name, resource, count});
    }
  if (needs.empty()) {
    admitting = false;
    return OnAllocated(pod, {});
  }
  Off<Result<>>(
      [manager = devices, uid = pod->uid, needs]() -> Result<> {
        for (const Need& n : needs) TRY(manager->Allocate(uid, n.container, n.resource, n.count));
        return {};
      },
      [this, pod](const Result<>& how) {
        admitting = false;
        if (Alive(pod)) OnAllocated(pod, how);
        AdmitNext();
      });
}

std::optional<Refusal> MachineNode::State::Refused(const HostedPod& pod) const {
  const auto known = parts.nodes.Get(options.name);
  if (!known) return std::nullopt;
  kube::Node now = *known;
  // What the devices are now, not what the Node says yet.
  for (const auto& [resource, amounts] : devices->Amounts())
    now.status.allocatable.Set(resource, std::to_string(amounts.allocatable));
  std::vector<PodInfoPtr> others;
  for (const auto& [key, other] : pods)
    if (other->uid != pod.uid && other->life && other->stage != Stage::kOver && other->stage != Stage::kQueued &&
        !other->life->Finished())
      others.push_back(other->info);
  return sim::Admit(*pod.info, now, others);
}

void MachineNode::State::OnAllocated(const HostedPodPtr& pod, const Result<>& how) {
  if (pod->life->Finished() || pod->stage == Stage::kOver) return;
  std::optional<Refusal> refusal;
  const bool again = pod->life->started();
  if (!how)
    refusal = Refusal{"UnexpectedAdmissionError",
                      "Pod was rejected: Allocate failed due to " + how.error().text + ", which is unexpected"};
  else if (!again)
    refusal = Refused(*pod);
  if (refusal) {
    Tell(*pod, "", "Warning", refusal->reason,
         std::string(refusal->message).substr(std::string("Pod was rejected: ").size()));
    pod->life->Reject(refusal->reason, refusal->message);
    Step(pod);
    return CleanUp(pod);
  }
  if (pod->stage == Stage::kReady && pod->boot == boot) return Step(pod);
  pod->stage = Stage::kPreparing;
  Step(pod);
  Prepare(pod);
}

void MachineNode::State::Step(const HostedPodPtr& pod) {
  if (!Alive(pod) || cut || !pod->life) return;
  const auto known = parts.pods.Get(pod->key);
  if (!known || known->meta.uid != pod->uid) return;
  if (known->meta.deleting() && !pod->life->stopping() && !pod->life->Finished())
    pod->life->Stop(parts.executor.Wall(),
                    std::max<Duration>(*known->meta.deleted - parts.executor.Wall(), Duration{}));
  std::optional<WallTime> wake;
  std::vector<Order> orders;
  if (pod->stage == Stage::kReady || pod->life->stopping()) orders = pod->life->Next(parts.executor.Wall(), wake);
  for (const Order& order : orders) {
    if (order.kind == Order::Kind::kStart)
      StartContainer(pod, order.container, order.attempt);
    else
      StopContainer(pod, order);
  }
  if (wake) SetTimer(pod, *wake);
  const bool over = pod->life->Stopped() || (pod->life->Finished() && pod->stage == Stage::kOver);
  if (!WriteStatus(*pod)) return SetTimer(pod, parts.executor.Wall() + kRetry);
  const bool busy = std::ranges::any_of(processes, [&](const auto& p) { return p.second.first == pod; });
  if (pod->life->Finished() && !busy && pod->stage != Stage::kOver) CleanUp(pod);
  if (known->meta.deleting() && (over || pod->life->Finished())) Finish(pod);
}

void MachineNode::State::SetTimer(const HostedPodPtr& pod, WallTime at) {
  const TimePoint due = parts.executor.Now() + std::max<Duration>(at - parts.executor.Wall(), Duration{});
  if (pod->timer && *pod->timer <= due && *pod->timer > parts.executor.Now()) return;
  pod->timer = due;
  After(due - parts.executor.Now(), [this, pod, due] {
    if (pod->timer != due) return;
    pod->timer.reset();
    Step(pod);
  });
}

bool MachineNode::State::WriteStatus(HostedPod& pod) {
  const auto known = parts.pods.Get(pod.key);
  if (!known) return true;
  json::object status = PodStatusObject(*known, pod.life->View(pod.ip, node.host_ip), parts.executor.Wall());
  std::string text = json::serialize(status);
  const bool ready = pod.life->Ready() == known->ready();
  const bool stale = ParseInt(known->meta.resource_version).value_or(0) <= pod.version;
  if (text == pod.written && (ready || stale)) return true;
  auto version = PatchPodStatus(parts.client, *known, std::move(status));
  if (!version) return false;
  if (*version != 0) pod.version = *version;
  pod.written = std::move(text);
  return true;
}

/// Nothing of it runs any more: its namespaces and devices are free.
void MachineNode::State::CleanUp(const HostedPodPtr& pod) {
  pod->stage = Stage::kOver;
  pod->api.reset();
  TellDevicesOfPods();
  if (!up) return;
  EngineRequest request;
  request.verb = "remove", request.target = pod->uid;
  engine->Ask(std::move(request), [](const Result<EngineAnswer>&) {});
}

/// The deletion's last step.
void MachineNode::State::Finish(const HostedPodPtr& pod) {
  if (pod->ending) return;
  pod->ending = true;
  if (pod->stage != Stage::kOver) CleanUp(pod);
  const auto known = parts.pods.Get(pod->key);
  if (!known || LetPodGo(parts.client, *known)) return;
  After(kRetry, [this, pod] {
    pod->ending = false;
    if (Alive(pod)) Step(pod);
  });
}

/// The API knows it no more: whatever is left of it goes at once.
void MachineNode::State::Drop(const HostedPodPtr& pod) {
  pods.erase(pod->key);
  for (auto& [name, c] : pod->containers)
    for (const auto& probe : c.probes) probe->over = true;
  std::erase_if(processes, [&](const auto& p) { return p.second.first == pod; });
  for (const auto& [name, c] : pod->containers) TellListeners(c.id);
  CleanUp(pod);
  if (!on || !pod->life) return;
  auto wish = std::make_shared<const PodWish>(pod->wish);
  Off<Result<>>([machine = on, wish] { return RemovePodFiles(*machine->host, *wish); }, [](const Result<>&) {});
}

}  // namespace gpuop::sim::node
