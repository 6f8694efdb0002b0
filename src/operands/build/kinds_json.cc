#include <utility>

#include "data/writer.h"
#include "operands/build/kinds.h"
#include "operands/build/object_json.h"
#include "operands/build/rbac_kinds.h"

namespace gpuop::operands {
namespace {

constexpr const char* kRbac = "rbac.authorization.k8s.io";
constexpr const char* kMonitoring = "monitoring.coreos.com";

data::JsonObject AccountSubject(const std::string& name, const std::string& ns) {
  return {{"kind", "ServiceAccount"}, {"name", name}, {"namespace", ns}};
}

}  // namespace

const kube::Resource& RoleKind(bool namespaced) {
  static const kube::Resource kRole{kRbac, "v1", "roles", "Role", true};
  static const kube::Resource kClusterRole{kRbac, "v1", "clusterroles", "ClusterRole", false};
  return namespaced ? kRole : kClusterRole;
}

const kube::Resource& BindingKind(bool namespaced) {
  static const kube::Resource kBinding{kRbac, "v1", "rolebindings", "RoleBinding", true};
  static const kube::Resource kClusterBinding{kRbac, "v1", "clusterrolebindings", "ClusterRoleBinding", false};
  return namespaced ? kBinding : kClusterBinding;
}

std::string_view Object::Meta(std::string_view field) const {
  const auto* meta = body.if_contains("metadata");
  const auto* value = meta != nullptr && meta->is_object() ? meta->get_object().if_contains(field) : nullptr;
  return value != nullptr && value->is_string() ? data::AsView(value->get_string()) : std::string_view();
}

std::string Object::Title() const { return resource.kind + " " + std::string(name()); }

Object MakeObject(kube::Resource resource, const Meta& meta, data::JsonObject rest) {
  data::JsonObject body;
  body["apiVersion"] = resource.ApiVersion();
  body["kind"] = resource.kind;
  body["metadata"] = data::WriteValue(meta);
  for (auto& member : rest) body[member.key()] = std::move(member.value());
  return {.resource = std::move(resource), .body = std::move(body)};
}

Object ToObject(const ServiceAccount& in) {
  return MakeObject({"", "v1", "serviceaccounts", "ServiceAccount", true}, in.meta, {});
}

Object ToObject(const ConfigMap& in) {
  return MakeObject({"", "v1", "configmaps", "ConfigMap", true}, in.meta, {{"data", data::WriteValue(in.data)}});
}

Object ToObject(const Role& in) {
  return MakeObject(RoleKind(!in.meta.ns.empty()), in.meta, {{"rules", data::WriteValue(in.rules)}});
}

Object ToObject(const Binding& in) {
  const bool namespaced = !in.meta.ns.empty();
  return MakeObject(
      BindingKind(namespaced), in.meta,
      {{"roleRef", data::JsonObject{{"apiGroup", kRbac}, {"kind", RoleKind(namespaced).kind}, {"name", in.meta.name}}},
       {"subjects", data::JsonArray{AccountSubject(in.account, in.account_ns)}}});
}

Object ToObject(const Service& in) {
  data::JsonObject spec;
  spec["type"] = in.type;
  spec["selector"] = data::WriteValue(in.selector);
  spec["ports"] = data::WriteValue(in.ports);
  if (!in.internal_traffic.empty()) spec["internalTrafficPolicy"] = in.internal_traffic;
  return MakeObject({"", "v1", "services", "Service", true}, in.meta, {{"spec", std::move(spec)}});
}

Object ToObject(const RuntimeClass& in) {
  return MakeObject({"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false}, in.meta, {{"handler", in.handler}});
}

Object ToObject(const ServiceMonitor& in) {
  data::JsonObject spec;
  spec["jobLabel"] = in.job_label;
  spec["namespaceSelector"] = data::JsonObject{{"matchNames", data::JsonArray{data::Json(in.meta.ns)}}};
  spec["selector"] = data::JsonObject{{"matchLabels", data::JsonObject{{"app", in.app}}}};
  spec["endpoints"] = data::JsonArray{data::WriteValue(in.endpoint)};
  return MakeObject({kMonitoring, "v1", "servicemonitors", "ServiceMonitor", true}, in.meta,
                    {{"spec", std::move(spec)}});
}

Object ToObject(const PrometheusRule& in) {
  data::JsonObject group{{"name", in.group}, {"rules", data::WriteValue(in.rules)}};
  return MakeObject({kMonitoring, "v1", "prometheusrules", "PrometheusRule", true}, in.meta,
                    {{"spec", data::JsonObject{{"groups", data::JsonArray{std::move(group)}}}}});
}

Object ToObject(const SecurityConstraints& in) {
  const data::JsonObject any{{"type", "RunAsAny"}};
  const data::JsonArray all{data::Json("*")};
  return MakeObject(
      {"security.openshift.io", "v1", "securitycontextconstraints", "SecurityContextConstraints", false}, in.meta,
      {{"allowHostDirVolumePlugin", true},
       {"allowHostIPC", in.host_ipc},
       {"allowHostNetwork", in.host_network},
       {"allowHostPID", in.host_pid},
       {"allowHostPorts", in.host_ports},
       {"allowPrivilegeEscalation", true},
       {"allowPrivilegedContainer", true},
       {"allowedCapabilities", all},
       {"allowedUnsafeSysctls", all},
       {"fsGroup", any},
       {"groups", data::JsonArray{}},
       {"readOnlyRootFilesystem", false},
       {"runAsUser", any},
       {"seLinuxContext", any},
       {"seccompProfiles", all},
       {"supplementalGroups", any},
       {"users", data::JsonArray{data::Json("system:serviceaccount:" + in.account_ns + ":" + in.account)}},
       {"volumes", all}});
}

}  // namespace gpuop::operands
