#include "e2e/operator/nvidia_objects.h"

#include <fstream>
#include <iterator>

#include "base/testing/source_dir.h"
#include "data/json.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

constexpr const char* kNs = "gpu-operator";

/// The member, or an empty object.
json::object At(const json::object& in, std::string_view name) {
  const json::value* v = in.if_contains(name);
  return v == nullptr || !v->is_object() ? json::object() : v->get_object();
}

/// Copies members that are called the same in the record and in the object.
void Copy(const json::object& from, json::object& to, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const json::value* v = from.if_contains(name)) to[name] = *v;
}

void Rename(json::object& in, std::string_view from, std::string_view to) {
  const auto it = in.find(from);
  if (it == in.end()) return;
  json::value value = std::move(it->value());
  in.erase(it);
  in[to] = std::move(value);
}

json::array Env(const json::object& in) {
  json::array out;
  for (const auto& [name, value] : in) {
    if (value.is_string()) {
      out.push_back({{"name", name}, {"value", value}});
    } else {
      out.push_back({{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", value.at("fieldPath")}}}}}});
    }
  }
  return out;
}

json::array Containers(const json::object& pod, std::string_view list) {
  json::array out;
  const json::value* in = pod.if_contains(list);
  if (in == nullptr) return out;
  for (const json::value& c : in->as_array()) {
    json::object container = c.as_object();
    container.erase("envOrder");
    container.erase("imageEnvKey");
    container["env"] = Env(At(c.as_object(), "env"));
    Rename(container, "mounts", "volumeMounts");
    if (json::value* mounts = container.if_contains("volumeMounts"))
      for (json::value& mount : mounts->as_array()) {
        Rename(mount.as_object(), "path", "mountPath");
        Rename(mount.as_object(), "propagation", "mountPropagation");
      }
    out.push_back(std::move(container));
  }
  return out;
}

json::array Volumes(const json::object& in) {
  json::array out;
  for (const auto& [name, v] : in) {
    json::object source;
    if (v.at("type") == "configMap") {
      source["name"] = v.at("ref");
      Copy(v.as_object(), source, {"items"});
      if (const json::value* mode = v.as_object().if_contains("mode")) source["defaultMode"] = *mode;
      out.push_back({{"name", name}, {"configMap", std::move(source)}});
    } else {
      source["path"] = v.at("path");
      if (const json::value* type = v.as_object().if_contains("hostPathType")) source["type"] = *type;
      out.push_back({{"name", name}, {"hostPath", std::move(source)}});
    }
  }
  return out;
}

json::object DaemonSetSpec(const json::object& in) {
  const json::object& pod = in.at("pod").as_object();
  json::object spec{{"containers", Containers(pod, "containers")},
                    {"initContainers", Containers(pod, "initContainers")},
                    {"volumes", Volumes(At(pod, "volumes"))}};
  Copy(pod, spec,
       {"affinity", "hostPID", "hostIPC", "automountServiceAccountToken", "priorityClassName", "tolerations",
        "terminationGracePeriodSeconds", "dnsPolicy", "nodeSelector", "runtimeClassName", "restartPolicy"});
  if (const json::value* account = pod.if_contains("serviceAccount")) spec["serviceAccountName"] = *account;
  json::object meta{{"labels", At(pod, "labels")}, {"annotations", At(pod, "annotations")}};
  return {{"selector", {{"matchLabels", At(in, "selector")}}},
          {"updateStrategy", At(in, "updateStrategy")},
          {"template", {{"metadata", std::move(meta)}, {"spec", std::move(spec)}}}};
}

struct Kind {
  const char *kind, *api_version, *collection;
  bool namespaced;
};
constexpr Kind kKinds[] = {
    {"ServiceAccount", "v1", "/api/v1/namespaces/gpu-operator/serviceaccounts", true},
    {"ConfigMap", "v1", "/api/v1/namespaces/gpu-operator/configmaps", true},
    {"RuntimeClass", "node.k8s.io/v1", "/apis/node.k8s.io/v1/runtimeclasses", false},
    {"Role", "rbac.authorization.k8s.io/v1", "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles", true},
    {"ClusterRole", "rbac.authorization.k8s.io/v1", "/apis/rbac.authorization.k8s.io/v1/clusterroles", false},
    {"RoleBinding", "rbac.authorization.k8s.io/v1",
     "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/rolebindings", true},
    {"ClusterRoleBinding", "rbac.authorization.k8s.io/v1", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
     false},
    {"DaemonSet", "apps/v1", "/apis/apps/v1/namespaces/gpu-operator/daemonsets", true},
};

/// The members of the record that are the object's own.
void AddBody(const Kind& kind, const json::object& record, json::object& out) {
  const std::string_view name = kind.kind;
  if (name == "DaemonSet") out["spec"] = DaemonSetSpec(record);
  if (name == "ConfigMap") {
    json::object data;
    for (const auto& [key, what] : At(record, "data")) data[key] = "as NVIDIA's operator wrote it\n";
    out["data"] = std::move(data);
  }
  Copy(record, out, {"rules", "roleRef", "subjects", "handler"});
}

}  // namespace

std::vector<std::pair<std::string, json::object>> NvidiaObjects(const std::string& policy_uid) {
  std::ifstream file(SourceDir() + std::string("/testdata/manifests/oracle_default.json"));
  const json::value oracle = data::ParseJson(std::string{std::istreambuf_iterator<char>(file), {}}).value();
  std::vector<std::pair<std::string, json::object>> out;
  for (const Kind& kind : kKinds) {
    for (const auto& [name, record] : oracle.at(kind.kind).as_object()) {
      json::object meta{{"name", name},
                        {"labels", At(record.as_object(), "labels")},
                        {"annotations", At(record.as_object(), "annotations")},
                        {"ownerReferences",
                         {{{"apiVersion", "nvidia.com/v1"},
                           {"kind", "ClusterPolicy"},
                           {"name", "cluster-policy"},
                           {"uid", policy_uid},
                           {"controller", true},
                           {"blockOwnerDeletion", true}}}}};
      meta["annotations"].as_object()["nvidia.com/last-applied-hash"] = "1234567890";
      if (kind.namespaced) meta["namespace"] = kNs;
      json::object object{{"apiVersion", kind.api_version}, {"kind", kind.kind}, {"metadata", std::move(meta)}};
      AddBody(kind, record.as_object(), object);
      out.emplace_back(kind.collection, std::move(object));
    }
  }
  return out;
}

}  // namespace gpuop::e2e
