#include "sim/scheduler/read.h"

#include "data/json.h"

namespace gpuop::sim {

namespace {

void AddPorts(const kube::Container& c, std::vector<HostPort>& out) {
  for (const kube::ContainerPort& p : c.ports) {
    if (p.host_port <= 0) continue;
    out.push_back(
        {std::string(p.host_ip.view()), p.protocol.empty() ? "TCP" : std::string(p.protocol.view()), p.host_port});
  }
}

}  // namespace

Result<PodInfoPtr> ReadPod(const kube::Pod& pod) {
  auto info = std::make_shared<PodInfo>();
  info->ns = pod.meta.ns;
  info->name = pod.meta.name;
  info->uid = pod.meta.uid;
  info->node = pod.spec.node_name;
  info->scheduler_name = pod.spec.scheduler_name;
  info->labels = pod.meta.labels;
  if (const auto* owner = pod.meta.Controller()) info->controller_uid = owner->uid;
  info->priority = pod.spec.priority;
  info->never_preempts = pod.spec.preemption_policy == "Never";
  info->terminal = pod.finished();
  info->deleting = pod.meta.deleting();
  info->gated = !pod.spec.scheduling_gates.empty();
  info->generation = pod.meta.generation;
  if (const auto* c = kube::FindCondition(pod.status.conditions, "PodScheduled")) info->scheduled = *c;
  info->node_selector = pod.spec.node_selector;
  info->tolerations = pod.spec.tolerations;
  ASSIGN(info->affinity, ParseAffinity(pod.spec.affinity));
  if (!pod.spec.spread.text.empty()) {
    ASSIGN(const data::Json spread, data::ParseJson(pod.spec.spread.text));
    TRY(kube::ReadField(spread, info->spread));
  }
  for (const kube::Container& c : pod.spec.init_containers)
    if (c.restart_policy == "Always") AddPorts(c, info->ports);
  for (const kube::Container& c : pod.spec.containers) AddPorts(c, info->ports);
  info->requests = PodRequests(pod.spec);
  return info;
}

NodeInfo ReadNode(const kube::Node& node) {
  NodeInfo info;
  info.name = node.meta.name;
  info.labels = node.meta.labels;
  info.taints = node.spec.taints;
  info.unschedulable = node.spec.unschedulable;
  info.allocatable = AmountsOf(node.status.allocatable);
  return info;
}

}  // namespace gpuop::sim
