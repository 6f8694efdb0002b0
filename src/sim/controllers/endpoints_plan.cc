#include <algorithm>

#include "data/json.h"
#include "sim/controllers/endpoints_controller.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

std::optional<std::int32_t> TargetPort(const kube::ServicePort& port, const kube::Pod& pod) {
  if (!port.target_port) return port.port;
  if (port.target_port->text.empty()) return static_cast<std::int32_t>(port.target_port->number);
  for (const kube::Container& c : pod.spec.containers)
    for (const kube::ContainerPort& p : c.ports) {
      const std::string_view protocol = p.protocol.empty() ? "TCP" : p.protocol.view();
      const std::string_view wanted = port.protocol.empty() ? "TCP" : port.protocol.view();
      if (p.name == port.target_port->text && protocol == wanted) return p.container_port;
    }
  return std::nullopt;
}

json::array PortsOf(const kube::Service& service, const kube::Pod& pod) {
  json::array out;
  for (const kube::ServicePort& port : service.spec.ports) {
    const auto number = TargetPort(port, pod);
    if (!number) continue;
    json::object o{{"name", port.name.view()},
                   {"port", *number},
                   {"protocol", port.protocol.empty() ? "TCP" : port.protocol.view()}};
    if (!port.app_protocol.empty()) o["appProtocol"] = port.app_protocol.view();
    out.push_back(std::move(o));
  }
  return out;
}

json::object TargetRef(const kube::Pod& pod) {
  return {{"kind", "Pod"}, {"name", pod.meta.name}, {"namespace", pod.meta.ns.view()}, {"uid", pod.meta.uid}};
}

bool Serves(const kube::Service& service, const kube::Pod& pod) {
  return (pod.ready() && !pod.meta.deleting()) || service.spec.publish_not_ready;
}

}  // namespace

std::vector<EndpointGroup> EndpointGroups(const kube::Service& service, const std::vector<PodPtr>& pods) {
  const kube::LabelSelector selector{service.spec.selector, {}};
  std::map<std::string, EndpointGroup> groups;
  for (const PodPtr& pod : pods) {
    if (pod->status.pod_ip.empty() || pod->finished() || !kube::Matches(selector, pod->meta.labels)) continue;
    json::array ports = PortsOf(service, *pod);
    EndpointGroup& group = groups[data::ToJson(ports)];
    group.ports = std::move(ports);
    group.pods.push_back(pod);
  }
  std::vector<EndpointGroup> out;
  for (auto& [text, group] : groups) {
    std::ranges::sort(group.pods, {}, [](const PodPtr& p) { return std::string_view(p->meta.name); });
    out.push_back(std::move(group));
  }
  return out;
}

json::array SliceEndpoints(const kube::Service& service, const std::vector<PodPtr>& pods) {
  json::array out;
  for (const PodPtr& pod : pods) {
    json::object endpoint{{"addresses", json::array{json::value(pod->status.pod_ip)}},
                          {"conditions",
                           {{"ready", Serves(service, *pod)},
                            {"serving", pod->ready() || service.spec.publish_not_ready},
                            {"terminating", pod->meta.deleting()}}},
                          {"targetRef", TargetRef(*pod)}};
    if (!pod->spec.node_name.empty()) endpoint["nodeName"] = pod->spec.node_name.view();
    out.push_back(std::move(endpoint));
  }
  return out;
}

json::array EndpointSubsets(const kube::Service& service, const std::vector<EndpointGroup>& groups) {
  json::array out;
  for (const EndpointGroup& group : groups) {
    json::array ready, waiting;
    for (const PodPtr& pod : group.pods) {
      if (pod->meta.deleting()) continue;
      json::object address{{"ip", pod->status.pod_ip}, {"targetRef", TargetRef(*pod)}};
      if (!pod->spec.node_name.empty()) address["nodeName"] = pod->spec.node_name.view();
      (Serves(service, *pod) ? ready : waiting).push_back(std::move(address));
    }
    if (ready.empty() && waiting.empty()) continue;
    json::object subset{{"ports", group.ports}};
    if (!ready.empty()) subset["addresses"] = std::move(ready);
    if (!waiting.empty()) subset["notReadyAddresses"] = std::move(waiting);
    out.push_back(std::move(subset));
  }
  return out;
}

}  // namespace gpuop::sim
