#include "sim/types/defaults/others.h"

#include <string>

#include "base/text.h"
#include "sim/types/defaults/fill.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

void TcpPorts(Object& holder) {
  EachAt(holder, "ports", [](Object& port) { SetIfMissing(port, "protocol", "TCP"); });
}

void MatchResources(Object& match) {
  SetIfMissing(match, "matchPolicy", "Equivalent");
  SetIfMissing(match, "namespaceSelector", Object());
  SetIfMissing(match, "objectSelector", Object());
  for (const char* rules : {"resourceRules", "excludeResourceRules"})
    EachAt(match, rules, [](Object& rule) { SetIfMissing(rule, "scope", "*"); });
}

void OneWebhook(Object& hook) {
  SetIfMissing(hook, "failurePolicy", "Fail");
  SetIfMissing(hook, "matchPolicy", "Equivalent");
  SetIfMissing(hook, "namespaceSelector", Object());
  SetIfMissing(hook, "objectSelector", Object());
  SetIfMissing(hook, "timeoutSeconds", 10);
  EachAt(hook, "rules", [](Object& rule) { SetIfMissing(rule, "scope", "*"); });
  Object* client = ObjectAt(hook, "clientConfig");
  if (Object* service = client == nullptr ? nullptr : ObjectAt(*client, "service")) SetIfMissing(*service, "port", 443);
}

void DeviceRequests(Object& claim_spec) {
  Object* devices = ObjectAt(claim_spec, "devices");
  if (devices == nullptr) return;
  EachAt(*devices, "requests", [](Object& request) {
    const auto fill = [](Object& one) {
      SetIfMissing(one, "allocationMode", "ExactCount");
      if (TextAt(one, "allocationMode") == "ExactCount") SetIfMissing(one, "count", 1);
      EachAt(one, "tolerations", [](Object& toleration) { SetIfMissing(toleration, "operator", "Equal"); });
    };
    if (Object* exactly = ObjectAt(request, "exactly")) fill(*exactly);
    EachAt(request, "firstAvailable", fill);
  });
}

}  // namespace

void ServiceDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  SetIfMissing(spec, "sessionAffinity", "None");
  if (TextAt(spec, "sessionAffinity") == "ClientIP")
    SetIfMissing(ObjectMade(ObjectMade(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", 10800);
  else
    spec.erase("sessionAffinityConfig");
  SetIfMissing(spec, "type", "ClusterIP");
  EachAt(spec, "ports", [](Object& port) {
    SetIfMissing(port, "protocol", "TCP");
    const json::value* target = port.if_contains("targetPort");
    const bool unset = Missing(port, "targetPort") || (target->is_int64() && target->get_int64() == 0);
    if (unset && port.contains("port")) port["targetPort"] = boost::json::value(port["port"]);
  });
  const std::string type(TextAt(spec, "type"));
  if (type == "NodePort" || type == "LoadBalancer") SetIfMissing(spec, "externalTrafficPolicy", "Cluster");
  if (type != "ExternalName") SetIfMissing(spec, "internalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") SetIfMissing(spec, "allocateLoadBalancerNodePorts", true);
}

void EndpointsDefaults(Object& object) { EachAt(object, "subsets", TcpPorts); }

void EndpointSliceDefaults(Object& object) {
  EachAt(object, "ports", [](Object& port) {
    if (!port.contains("name")) port["name"] = "";
    SetIfMissing(port, "protocol", "TCP");
  });
}

void SecretDefaults(Object& object) {
  if (const Object* plain = ObjectAt(object, "stringData")) {
    Object& data = ObjectMade(object, "data");
    for (const auto& [key, value] : *plain)
      if (value.is_string()) data[key] = Base64Encode({value.get_string().data(), value.get_string().size()});
    object.erase("stringData");
  }
  SetIfMissing(object, "type", "Opaque");
}

void NamespaceDefaults(Object& object) {
  Object& metadata = ObjectMade(object, "metadata");
  if (const std::string name(TextAt(metadata, "name")); !name.empty())
    ObjectMade(metadata, "labels")["kubernetes.io/metadata.name"] = name;
}

void NodeDefaults(Object& object) {
  if (Object* spec = ObjectAt(object, "spec"); spec != nullptr && !spec->contains("podCIDRs"))
    if (const std::string first(TextAt(*spec, "podCIDR")); !first.empty()) (*spec)["podCIDRs"] = json::array{first};
  Object* status = ObjectAt(object, "status");
  const Object* capacity = status == nullptr ? nullptr : ObjectAt(*status, "capacity");
  if (capacity != nullptr && !status->contains("allocatable")) (*status)["allocatable"] = Object(*capacity);
}

void PersistentVolumeDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  SetIfMissing(spec, "persistentVolumeReclaimPolicy", "Retain");
  SetIfMissing(spec, "volumeMode", "Filesystem");
  if (Object* path = ObjectAt(spec, "hostPath"); path != nullptr && !path->contains("type")) (*path)["type"] = "";
  SetIfMissing(ObjectMade(object, "status"), "phase", "Pending");
}

void LimitRangeDefaults(Object& object) {
  EachAt(ObjectMade(object, "spec"), "limits", [](Object& limit) {
    if (TextAt(limit, "type") != "Container") return;
    const auto inherit = [&](std::string_view to, std::string_view from) {
      const Object* source = ObjectAt(limit, from);
      if (source == nullptr) return;
      const Object copy = *source;
      Object& target = ObjectMade(limit, to);
      for (const auto& [name, amount] : copy)
        if (!target.contains(name)) target[name] = amount;
    };
    inherit("default", "max");
    inherit("defaultRequest", "default");
    inherit("defaultRequest", "min");
  });
}

void PriorityClassDefaults(Object& object) { SetIfMissing(object, "preemptionPolicy", "PreemptLowerPriority"); }

void StorageClassDefaults(Object& object) {
  SetIfMissing(object, "reclaimPolicy", "Delete");
  SetIfMissing(object, "volumeBindingMode", "Immediate");
}

void CsiDriverDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  SetIfMissing(spec, "attachRequired", true);
  for (const char* flag : {"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"})
    SetIfMissing(spec, flag, false);
  SetIfMissing(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (!spec.contains("volumeLifecycleModes")) spec["volumeLifecycleModes"] = json::array{"Persistent"};
}

void BindingDefaults(Object& object) {
  SetIfMissing(ObjectMade(object, "roleRef"), "apiGroup", json::value(kRbac));
  EachAt(object, "subjects", [](Object& subject) {
    const std::string_view kind = TextAt(subject, "kind");
    if (kind == "User" || kind == "Group") SetIfMissing(subject, "apiGroup", json::value(kRbac));
  });
}

void WebhookDefaults(Object& object) { EachAt(object, "webhooks", OneWebhook); }

void MutatingWebhookDefaults(Object& object) {
  WebhookDefaults(object);
  EachAt(object, "webhooks", [](Object& hook) { SetIfMissing(hook, "reinvocationPolicy", "Never"); });
}

void AdmissionPolicyDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  SetIfMissing(spec, "failurePolicy", "Fail");
  if (Object* match = ObjectAt(spec, "matchConstraints")) MatchResources(*match);
}

void AdmissionPolicyBindingDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  if (Object* match = ObjectAt(spec, "matchResources")) MatchResources(*match);
}

void ApiServiceDefaults(Object& object) {
  if (Object* service = ObjectAt(ObjectMade(object, "spec"), "service")) SetIfMissing(*service, "port", 443);
}

void CrdDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  Object& names = ObjectMade(spec, "names");
  const std::string kind(TextAt(names, "kind"));
  SetIfMissing(names, "singular", json::value(ToLower(kind)));
  if (!kind.empty()) SetIfMissing(names, "listKind", json::value(kind + "List"));
  Object& conversion = ObjectMade(spec, "conversion");
  SetIfMissing(conversion, "strategy", "None");
  Object* hook = ObjectAt(conversion, "webhook");
  Object* client = hook == nullptr ? nullptr : ObjectAt(*hook, "clientConfig");
  if (Object* service = client == nullptr ? nullptr : ObjectAt(*client, "service")) SetIfMissing(*service, "port", 443);
}

void NetworkPolicyDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  for (const char* direction : {"ingress", "egress"}) EachAt(spec, direction, TcpPorts);
  if (spec.contains("policyTypes")) return;
  json::array types{"Ingress"};
  if (const json::value* egress = spec.if_contains("egress");
      egress != nullptr && egress->is_array() && !egress->get_array().empty())
    types.emplace_back("Egress");
  spec["policyTypes"] = std::move(types);
}

void IngressClassDefaults(Object& object) {
  if (Object* parameters = ObjectAt(ObjectMade(object, "spec"), "parameters"))
    SetIfMissing(*parameters, "scope", "Cluster");
}

namespace {

/// Who says how to scale says it for both ways: up at once, by the more of twice as many and four more; down by all.
void BehaviorDefaults(Object& behavior) {
  const auto policy = [](const char* type, int value) {
    return Object{{"type", type}, {"value", value}, {"periodSeconds", 15}};
  };
  Object& up = ObjectMade(behavior, "scaleUp");
  SetIfMissing(up, "stabilizationWindowSeconds", 0);
  SetIfMissing(up, "policies", json::array{policy("Pods", 4), policy("Percent", 100)});
  SetIfMissing(up, "selectPolicy", "Max");
  Object& down = ObjectMade(behavior, "scaleDown");  // `up` may have moved
  SetIfMissing(down, "policies", json::array{policy("Percent", 100)});
  SetIfMissing(down, "selectPolicy", "Max");
}

}  // namespace

void AutoscalerDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  SetIfMissing(spec, "minReplicas", 1);
  if (TextAt(object, "apiVersion") == "autoscaling/v1") {
    SetIfMissing(spec, "targetCPUUtilizationPercentage", 80);
  } else if (!spec.contains("metrics")) {
    const Object target{{"type", "Utilization"}, {"averageUtilization", 80}};
    spec["metrics"] =
        json::array{Object{{"type", "Resource"}, {"resource", Object{{"name", "cpu"}, {"target", target}}}}};
  }
  if (Object* behavior = ObjectAt(spec, "behavior")) BehaviorDefaults(*behavior);
}

void ResourceClaimDefaults(Object& object) { DeviceRequests(ObjectMade(object, "spec")); }

void ResourceClaimTemplateDefaults(Object& object) { DeviceRequests(ObjectMade(ObjectMade(object, "spec"), "spec")); }

}  // namespace gpuop::sim::types
