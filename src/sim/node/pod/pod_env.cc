#include "sim/node/pod/pod_env.h"

#include <algorithm>

#include "base/text.h"
#include "data/names.h"
#include "data/quantity.h"
#include "sim/node/engine/sandbox.h"

namespace gpuop::sim::node {
namespace {

std::string_view ValueOf(const kube::StringMap& map, std::string_view key) {
  const Interned* value = map.Find(key);
  return value == nullptr ? std::string_view() : value->view();
}

/// All of a map as files of the downward API have it: key="value", sorted.
std::string AllOf(const kube::StringMap& map) {
  std::map<std::string, std::string> sorted;
  for (const auto& [key, value] : map) sorted[std::string(key.view())] = value.view();
  std::string out;
  for (const auto& [key, value] : sorted) out.append(key).append("=").append(Quote(value)).append("\n");
  if (!out.empty()) out.pop_back();
  return out;
}

/// Variables in order; a later one of the same name takes the place of an earlier one.
class Variables {
 public:
  void Set(const std::string& name, std::string value) {
    if (!values_.contains(name)) order_.push_back(name);
    values_[name] = std::move(value);
  }
  const std::map<std::string, std::string>& values() const { return values_; }
  std::vector<std::string> Entries() const {
    std::vector<std::string> out;
    for (const std::string& name : order_) out.push_back(name + "=" + values_.at(name));
    return out;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> values_;
};

void AddApiServer(Variables& out) {
  const std::string host = kApiAddress, port = std::to_string(kApiPort), url = "tcp://" + host + ":" + port;
  out.Set("KUBERNETES_SERVICE_HOST", host);
  out.Set("KUBERNETES_SERVICE_PORT", port);
  out.Set("KUBERNETES_SERVICE_PORT_HTTPS", port);
  out.Set("KUBERNETES_PORT", url);
  out.Set("KUBERNETES_PORT_443_TCP", url);
  out.Set("KUBERNETES_PORT_443_TCP_PROTO", "tcp");
  out.Set("KUBERNETES_PORT_443_TCP_PORT", port);
  out.Set("KUBERNETES_PORT_443_TCP_ADDR", host);
}

/// Whether the kubelet takes a key for a variable's name: printable ASCII without '='.
bool IsVariableName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7f && c != '='; });
}

Result<> AddAll(Variables& out, const EnvFrom& from, const KeyRef& ref, const ReadObject& read) {
  auto data = read(ref.name);
  if (!data && data.error().code == Code::kNotFound && ref.optional) return {};
  if (!data) return std::unexpected(std::move(data).error());
  for (const auto& [key, value] : *data)
    if (const std::string name = from.prefix + key; IsVariableName(name)) out.Set(name, value);
  return {};
}

/// nullopt: it is optional and not there.
Result<std::optional<std::string>> KeyValue(const PodWish& pod, const KeyRef& ref, std::string_view kind,
                                            const ReadObject& read) {
  auto data = read(ref.name);
  if (!data && data.error().code == Code::kNotFound && ref.optional) return std::optional<std::string>();
  if (!data) return std::unexpected(std::move(data).error());
  const auto it = data->find(ref.key);
  if (it != data->end()) return std::optional(it->second);
  if (ref.optional) return std::optional<std::string>();
  return Fail(Code::kNotFound, "couldn't find key " + ref.key + " in " + std::string(kind) + " " +
                                   std::string(pod.meta.ns.view()) + "/" + ref.name);
}

Result<std::optional<std::string>> SourceValue(const PodWish& pod, const ContainerWish& container,
                                               const PodFacts& facts, const Sources& sources, const EnvSource& from) {
  if (from.field) return FieldValue(pod, facts, from.field->path);
  if (from.resource) return ResourceValue(pod, container, facts, *from.resource);
  if (from.config_map) return KeyValue(pod, *from.config_map, "ConfigMap", sources.config_map);
  if (from.secret) return KeyValue(pod, *from.secret, "Secret", sources.secret);
  return std::optional<std::string>();
}

std::string_view TextOf(const TextMap& map, std::string_view key) {
  for (const auto& [name, value] : map)
    if (name == key) return value;
  return {};
}

}  // namespace

const ContainerWish* PodWish::Find(std::string_view container) const {
  for (const auto* list : {&spec.containers, &spec.init_containers})
    for (const ContainerWish& c : *list)
      if (c.name == container) return &c;
  return nullptr;
}

Result<std::string> FieldValue(const PodWish& pod, const PodFacts& facts, std::string_view path) {
  const kube::ObjectMeta& m = pod.meta;
  if (path == "metadata.name") return m.name;
  if (path == "metadata.namespace") return std::string(m.ns.view());
  if (path == "metadata.uid") return m.uid;
  if (path == "metadata.labels") return AllOf(m.labels);
  if (path == "metadata.annotations") return AllOf(m.annotations);
  if (path == "spec.nodeName") return pod.spec.node_name;
  if (path == "spec.serviceAccountName") return pod.spec.service_account;
  if (path == "status.podIP" || path == "status.podIPs") return facts.pod_ip;
  if (path == "status.hostIP" || path == "status.hostIPs") return facts.host_ip;
  for (const auto& [prefix, map] : {std::pair<std::string_view, const kube::StringMap*>("metadata.labels['", &m.labels),
                                    {"metadata.annotations['", &m.annotations}})
    if (path.starts_with(prefix) && path.ends_with("']"))
      return std::string(ValueOf(*map, path.substr(prefix.size(), path.size() - prefix.size() - 2)));
  return Fail(Code::kInvalid, "unsupported fieldPath: " + std::string(path));
}

Result<std::string> ResourceValue(const PodWish& pod, const ContainerWish& self, const PodFacts& facts,
                                  const ResourceFieldRef& ref) {
  const ContainerWish* container = ref.container.empty() ? &self : pod.Find(ref.container);
  if (container == nullptr) return Fail(Code::kInvalid, "container " + ref.container + " not found");
  const auto parts = Cut(ref.resource, '.');
  if (!parts || (parts->first != "limits" && parts->first != "requests"))
    return Fail(Code::kInvalid, "unsupported container resource : " + ref.resource);
  const auto& resources = container->resources;
  std::string_view text = ValueOf(parts->first == "limits" ? resources.limits : resources.requests, parts->second);
  if (text.empty() && parts->first == "limits") text = TextOf(facts.allocatable, parts->second);
  ASSIGN(const data::Quantity amount, data::Quantity::Parse(text.empty() ? "0" : text));
  ASSIGN(const data::Quantity divisor,
         data::Quantity::Parse(ref.divisor.empty() || ref.divisor == "0" ? "1" : ref.divisor));
  // Of CPU down to a thousandth, of the rest whole units; rounded up.
  const bool cpu = parts->second == "cpu";
  const std::int64_t a = cpu ? amount.MilliValue() : amount.Value(), d = cpu ? divisor.MilliValue() : divisor.Value();
  if (d <= 0) return Fail(Code::kInvalid, "divisor: must be above 0");
  return std::to_string(a / d + (a % d > 0 ? 1 : 0));
}

std::string Expand(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    const std::size_t end = text[i + 1] == '(' ? text.find(')', i + 2) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += '$';
      continue;
    }
    const std::string name(text.substr(i + 2, end - i - 2));
    const auto it = values.find(name);
    out += it == values.end() ? std::string(text.substr(i, end + 1 - i)) : it->second;
    i = end;
  }
  return out;
}

Result<std::vector<std::string>> PlanEnv(const PodWish& pod, const ContainerWish& container, const PodFacts& facts,
                                         const Sources& sources, const std::vector<std::string>& image) {
  Variables out;
  for (const std::string& entry : image)
    if (const auto parts = Cut(entry, '=')) out.Set(std::string(parts->first), std::string(parts->second));
  if (!out.values().contains("PATH")) out.Set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  AddApiServer(out);
  out.Set("HOSTNAME", pod.spec.host_network       ? pod.spec.node_name
                      : pod.spec.hostname.empty() ? pod.meta.name
                                                  : pod.spec.hostname);
  for (const EnvFrom& from : container.env_from) {
    if (from.config_map) TRY(AddAll(out, from, *from.config_map, sources.config_map));
    if (from.secret) TRY(AddAll(out, from, *from.secret, sources.secret));
  }
  for (const EnvVar& var : container.env) {
    if (!var.from) {
      out.Set(var.name, Expand(var.value, out.values()));
      continue;
    }
    ASSIGN(auto value, SourceValue(pod, container, facts, sources, *var.from));
    if (value) out.Set(var.name, *std::move(value));
  }
  return out.Entries();
}

}  // namespace gpuop::sim::node
