#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "sim/peek.h"
#include "sim/table/human.h"
#include "sim/table/kind_table.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

std::string_view NameOf(const json::object& o) { return PeekString(o, {"metadata", "name"}); }

std::string OrNone(std::string text) { return text.empty() ? "<none>" : std::move(text); }

std::string JoinStrings(const json::array& list) {
  std::vector<std::string> out;
  for (const json::value& v : list) out.emplace_back(AsString(v));
  return Join(out, ",");
}

std::string JoinHostPort(std::string_view host, std::int64_t port) {
  std::string out(host);
  if (out.contains(':')) out = "[" + out + "]";
  return out + ":" + std::to_string(port);
}

std::string LoadBalancerAddresses(const json::object& o) {
  std::vector<std::string> out;
  for (const json::value& ingress : PeekArray(o, {"status", "loadBalancer", "ingress"})) {
    const auto ip = PeekString(ingress, {"ip"});
    out.emplace_back(ip.empty() ? PeekString(ingress, {"hostname"}) : ip);
  }
  return Join(out, ",");
}

std::string ServiceExternalAddress(const json::object& service) {
  const auto type = PeekString(service, {"spec", "type"});
  const std::string external = JoinStrings(PeekArray(service, {"spec", "externalIPs"}));
  if (type == "ExternalName") return std::string(PeekString(service, {"spec", "externalName"}));
  if (type != "LoadBalancer") return OrNone(external);
  std::string balancer = LoadBalancerAddresses(service);
  if (!external.empty()) balancer.append(balancer.empty() ? "" : ",").append(external);
  return balancer.empty() ? "<pending>" : balancer;
}

std::string ServicePorts(const json::object& service) {
  std::vector<std::string> out;
  for (const json::value& p : PeekArray(service, {"spec", "ports"})) {
    std::string port = std::to_string(PeekInt(p, {"port"}));
    if (const auto node = PeekInt(p, {"nodePort"}); node > 0) port += ":" + std::to_string(node);
    out.push_back(port.append("/").append(PeekString(p, {"protocol"})));
  }
  return OrNone(Join(out, ","));
}

void ServiceCells(const json::object& service, WallTime now, json::array& cells) {
  const json::array& ips = PeekArray(service, {"spec", "clusterIPs"});
  cells.emplace_back(NameOf(service));
  cells.emplace_back(PeekString(service, {"spec", "type"}));
  cells.emplace_back(ips.empty() ? "<none>" : AsString(ips[0]));
  cells.emplace_back(ServiceExternalAddress(service));
  cells.emplace_back(ServicePorts(service));
  cells.emplace_back(Age(service, now));
  cells.emplace_back(FormatLabels(PeekObject(service, {"spec", "selector"})));
}

void EndpointsCells(const json::object& endpoints, WallTime now, json::array& cells) {
  std::vector<std::string> all;
  for (const json::value& subset : PeekArray(endpoints, {"subsets"})) {
    const json::array& addresses = PeekArray(subset, {"addresses"});
    const json::array& ports = PeekArray(subset, {"ports"});
    for (const json::value& port : ports)
      for (const json::value& a : addresses)
        all.push_back(JoinHostPort(PeekString(a, {"ip"}), PeekInt(port, {"port"})));
    if (ports.empty())
      for (const json::value& a : addresses) all.emplace_back(PeekString(a, {"ip"}));
  }
  cells.emplace_back(NameOf(endpoints));
  cells.emplace_back(PeekArray(endpoints, {"subsets"}).empty() ? "<none>" : FirstThree(all));
  cells.emplace_back(Age(endpoints, now));
}

std::string SlicePorts(const json::object& slice) {
  std::vector<std::string> out;
  for (const json::value& p : PeekArray(slice, {"ports"})) {
    const json::value* port = Peek(p, {"port"});
    out.push_back(port == nullptr ? "*" : std::to_string(AsInt(port)));
  }
  return out.empty() ? "<unset>" : FirstThree(out);
}

void EndpointSliceCells(const json::object& slice, WallTime now, json::array& cells) {
  std::vector<std::string> all;
  for (const json::value& endpoint : PeekArray(slice, {"endpoints"}))
    for (const json::value& a : PeekArray(endpoint, {"addresses"})) all.emplace_back(AsString(a));
  cells.emplace_back(NameOf(slice));
  cells.emplace_back(PeekString(slice, {"addressType"}));
  cells.emplace_back(SlicePorts(slice));
  cells.emplace_back(all.empty() ? "<unset>" : FirstThree(all));
  cells.emplace_back(Age(slice, now));
}

std::string IngressHosts(const json::object& ingress) {
  std::vector<std::string> hosts;
  for (const json::value& rule : PeekArray(ingress, {"spec", "rules"}))
    if (const auto host = PeekString(rule, {"host"}); !host.empty()) hosts.emplace_back(host);
  return hosts.empty() ? "*" : FirstThree(hosts);
}

void IngressCells(const json::object& ingress, WallTime now, json::array& cells) {
  const auto ingress_class = PeekString(ingress, {"spec", "ingressClassName"});
  cells.emplace_back(NameOf(ingress));
  cells.emplace_back(ingress_class.empty() ? "<none>" : ingress_class);
  cells.emplace_back(IngressHosts(ingress));
  cells.emplace_back(LoadBalancerAddresses(ingress));
  cells.emplace_back(PeekArray(ingress, {"spec", "tls"}).empty() ? "80" : "80, 443");
  cells.emplace_back(Age(ingress, now));
}

void IngressClassCells(const json::object& o, WallTime now, json::array& cells) {
  std::string parameters = "<none>";
  if (const json::value* p = Peek(o, {"spec", "parameters"})) {
    parameters = PeekString(*p, {"kind"});
    if (const auto group = PeekString(*p, {"apiGroup"}); !group.empty()) parameters.append(".").append(group);
    parameters.append("/").append(PeekString(*p, {"name"}));
  }
  cells.emplace_back(NameOf(o));
  cells.emplace_back(PeekString(o, {"spec", "controller"}));
  cells.emplace_back(std::move(parameters));
  cells.emplace_back(Age(o, now));
}

void NetworkPolicyCells(const json::object& o, WallTime now, json::array& cells) {
  cells.emplace_back(NameOf(o));
  cells.emplace_back(FormatSelector(PeekObject(o, {"spec", "podSelector"})));
  cells.emplace_back(Age(o, now));
}

constexpr std::array kTables = {
    KindTable{"", "Service",
              "Name:string:name|Type:string|Cluster-IP:string|External-IP:string|Port(s):string|Age:string|"
              "Selector:string::1",
              ServiceCells},
    KindTable{"", "Endpoints", "Name:string:name|Endpoints:string|Age:string", EndpointsCells},
    KindTable{"discovery.k8s.io", "EndpointSlice",
              "Name:string:name|AddressType:string|Ports:string|Endpoints:string|Age:string", EndpointSliceCells},
    KindTable{"networking.k8s.io", "Ingress",
              "Name:string:name|Class:string|Hosts:string|Address:string|Ports:string|Age:string", IngressCells},
    KindTable{"networking.k8s.io", "IngressClass", "Name:string:name|Controller:string|Parameters:string|Age:string",
              IngressClassCells},
    KindTable{"networking.k8s.io", "NetworkPolicy", "Name:string:name|Pod-Selector:string|Age:string",
              NetworkPolicyCells},
};

}  // namespace

std::span<const KindTable> NetworkTables() { return kTables; }

}  // namespace gpuop::sim
