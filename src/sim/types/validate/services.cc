#include <boost/json.hpp>
#include <set>
#include <tuple>

#include "data/json.h"
#include "data/names.h"
#include "sim/types/validate/kinds.h"
#include "sim/types/validate/rules.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

/// A port as Go prints it where two are alike: by what makes them so.
std::string PrintedPort(const Object& port) {
  return "{\"Name\":\"\",\"Protocol\":" + data::ToJson(json::value(TextAt(port, "protocol"))) +
         ",\"AppProtocol\":null,\"Port\":" + std::to_string(NumberAt(port, "port").value_or(0)) +
         ",\"TargetPort\":0,\"NodePort\":0}";
}

void CheckPorts(Findings& out, const Object& spec, const Path& at) {
  const json::array* ports = ListAt(spec, "ports");
  const bool many = ports != nullptr && ports->size() > 1, cluster = TextAt(spec, "type") == "ClusterIP";
  std::set<std::string, std::less<>> names;
  std::set<std::tuple<std::string, std::int64_t>> seen;
  std::size_t i = 0;
  EachAt(spec, "ports", [&](const Object& port) {
    const Path here = at.Index(i++);
    const std::string_view name = TextAt(port, "name"), protocol = TextAt(port, "protocol");
    if (many && name.empty()) {
      out.Required(here.Child("name"));
    } else if (!name.empty()) {
      out.Messages(here.Child("name"), name, data::CheckDnsLabel(name));
      if (!names.emplace(name).second) out.Duplicate(here.Child("name"), name);
    }
    PortNumber(out, NumberAt(port, "port").value_or(0), here.Child("port"));
    out.OneOf(here.Child("protocol"), protocol, {"SCTP", "TCP", "UDP"});
    PortReference(out, port, "targetPort", here);
    const std::int64_t node_port = NumberAt(port, "nodePort").value_or(0);
    if (cluster && node_port != 0) out.Forbidden(here.Child("nodePort"), "may not be used when `type` is 'ClusterIP'");
  });
  i = 0;
  EachAt(spec, "ports", [&](const Object& port) {
    const Path here = at.Index(i++);
    const std::tuple key(std::string(TextAt(port, "protocol")), NumberAt(port, "port").value_or(0));
    if (!seen.insert(key).second) out.DuplicateAsPrinted(here, PrintedPort(port));
  });
}

void CheckAddresses(Findings& out, const Object& spec, const Path& at) {
  const std::string_view type = TextAt(spec, "type");
  const json::array* list = ListAt(spec, "clusterIPs");
  const std::string_view single = TextAt(spec, "clusterIP");
  std::vector<std::string> addresses;
  if (list != nullptr) {
    for (const json::value& address : *list)
      if (address.is_string()) addresses.emplace_back(data::AsView(address.get_string()));
  } else if (!single.empty()) {
    addresses.emplace_back(single);
  }
  const Path here = at.Child("clusterIPs");
  if (type == "ExternalName" && !addresses.empty())
    return out.Forbidden(here, "may not be set for ExternalName services");
  if (list != nullptr && !addresses.empty()) {
    if (single.empty())
      out.Invalid(here, *list, "must be empty when `clusterIP` is not specified");
    else if (single != addresses[0])
      out.Invalid(here, *list, "first value must match `clusterIP`");
    if (addresses.size() > 1) out.Invalid(here, *list, "may specify no more than one IP for each IP family");
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] != "None")
      CheckIp(out, addresses[i], here.Index(i));
    else if (type == "NodePort" || type == "LoadBalancer")
      out.Invalid(here.Index(i), "None", "may not be set to 'None' for " + std::string(type) + " services");
  }
}

void CheckExternalName(Findings& out, const Object& spec, const Path& at) {
  const std::string_view name = TextAt(spec, "externalName");
  if (name.empty()) return out.Required(at.Child("externalName"));
  const std::string_view trimmed = name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
  out.Messages(at.Child("externalName"), name, data::CheckDnsSubdomain(trimmed));
}

}  // namespace

void CheckService(Findings& out, const Object& object, const Object* old) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  const std::string_view type = TextAt(spec, "type");
  const bool headless = TextAt(spec, "clusterIP") == "None", external = type == "ExternalName";
  if (ListAt(spec, "ports") == nullptr && !headless && !external) out.Required(at.Child("ports"));
  if (external) CheckExternalName(out, spec, at);
  CheckPorts(out, spec, at.Child("ports"));
  CheckLabelMap(out, ObjectAt(spec, "selector"), at.Child("selector"));
  out.OneOf(at.Child("sessionAffinity"), TextAt(spec, "sessionAffinity"), {"ClientIP", "None"});
  CheckAddresses(out, spec, at);
  out.OneOf(at.Child("type"), type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  if (old == nullptr || external) return;
  const Object& before = SpecOf(*old);
  const std::string_view was = TextAt(before, "clusterIP"), is = TextAt(spec, "clusterIP");
  if (TextAt(before, "type") != "ExternalName" && !was.empty() && was != is) {
    const Path list = at.Child("clusterIPs");
    out.Invalid(list.Index(0), json::array{is}, "may not change once set");
  }
}

void CheckEndpoints(Findings& out, const Object& object, const Object*) {
  const Path subsets("subsets");
  std::size_t s = 0;
  EachAt(object, "subsets", [&](const Object& subset) {
    const Path here = subsets.Index(s++);
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      const Path addresses = here.Child(list);
      std::size_t i = 0;
      EachAt(subset, list, [&](const Object& address) {
        const Path one = addresses.Index(i++);
        const std::string_view ip = TextAt(address, "ip");
        CheckIp(out, ip, one.Child("ip"));
        if (!IsIp(ip)) out.Invalid(one.Child("ip"), ip, "must be a valid IP address");
      });
    }
    const Path ports = here.Child("ports");
    std::size_t i = 0;
    EachAt(subset, "ports", [&](const Object& port) {
      const Path one = ports.Index(i++);
      PortNumber(out, NumberAt(port, "port").value_or(0), one.Child("port"));
    });
  });
}

void CheckEndpointSlice(Findings& out, const Object& object, const Object* old) {
  const Path root;
  const std::string_view type = TextAt(object, "addressType");
  if (old != nullptr) Immutable(out, object, *old, "addressType", root);
  if (type.empty()) out.Required(root.Child("addressType"));
  out.OneOf(root.Child("addressType"), type, {"FQDN", "IPv4", "IPv6"});
  if (type != "IPv4" && type != "IPv6" && type != "FQDN") return;
  const Path endpoints = root.Child("endpoints");
  std::size_t e = 0;
  EachAt(object, "endpoints", [&](const Object& endpoint) {
    const Path here = endpoints.Index(e++);
    const Path addresses = here.Child("addresses");
    const json::array* list = ListAt(endpoint, "addresses");
    if (list == nullptr) return out.Required(addresses, "must contain at least 1 address");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string_view address =
          (*list)[i].is_string() ? data::AsView((*list)[i].get_string()) : std::string_view();
      if (type == "FQDN")
        out.Messages(addresses.Index(i), address, data::CheckDnsSubdomain(address));
      else
        CheckIp(out, address, addresses.Index(i));
    }
  });
}

void CheckIngress(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  if (!spec.contains("defaultBackend") && ListAt(spec, "rules") == nullptr)
    out.Invalid(at, json::value(), "either `defaultBackend` or `rules` must be specified");
  const Path rules = at.Child("rules");
  std::size_t r = 0;
  EachAt(spec, "rules", [&](const Object& rule) {
    const Path here = rules.Index(r++);
    const Object* http = ObjectAt(rule, "http");
    if (http == nullptr) return;
    const Path http_at = here.Child("http");
    const Path paths = http_at.Child("paths");
    if (ListAt(*http, "paths") == nullptr) out.Required(paths);
    std::size_t i = 0;
    EachAt(*http, "paths", [&](const Object& path) {
      const Path one = paths.Index(i++);
      const std::string_view type = TextAt(path, "pathType"), text = TextAt(path, "path");
      if (type.empty())
        out.Required(one.Child("pathType"), "pathType must be specified");
      else if (type != "ImplementationSpecific" && !text.starts_with('/'))
        out.Invalid(one.Child("path"), text, "must be an absolute path");
      out.OneOf(one.Child("pathType"), type, {"Exact", "ImplementationSpecific", "Prefix"});
    });
  });
}

void CheckNetworkPolicy(Findings& out, const Object& object, const Object*) {
  const Path at("spec");
  const Object& spec = SpecOf(object);
  if (const Object* selector = ObjectAt(spec, "podSelector")) CheckSelector(out, *selector, at.Child("podSelector"));
  const auto peers = [&](const Object& rule, const char* list, const Path& rule_at) {
    const Path peers_at = rule_at.Child(list);
    std::size_t i = 0;
    EachAt(rule, list, [&](const Object& peer) {
      const Path here = peers_at.Index(i++);
      if (const Object* block = ObjectAt(peer, "ipBlock")) {
        const Path block_at = here.Child("ipBlock");
        CheckCidr(out, TextAt(*block, "cidr"), block_at.Child("cidr"));
      } else if (!peer.contains("podSelector") && !peer.contains("namespaceSelector")) {
        out.Required(here, "must specify a peer");
      }
    });
  };
  for (const auto& [direction, list] : {std::pair("ingress", "from"), std::pair("egress", "to")}) {
    const Path rules = at.Child(direction);
    std::size_t i = 0;
    EachAt(spec, direction, [&](const Object& rule) { peers(rule, list, rules.Index(i++)); });
  }
  const Path types = at.Child("policyTypes");
  const json::array* listed = ListAt(spec, "policyTypes");
  for (std::size_t i = 0; listed != nullptr && i < listed->size(); ++i)
    if ((*listed)[i].is_string())
      out.OneOf(types.Index(i), data::AsView((*listed)[i].get_string()), {"Ingress", "Egress"});
}

}  // namespace gpuop::sim::types
