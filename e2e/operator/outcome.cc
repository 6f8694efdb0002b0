#include "e2e/operator/outcome.h"

#include <map>

#include "data/json.h"

namespace gpuop::e2e {
namespace {

/// With the members of objects in the order of their names.
json::value Sorted(const json::value& in) {
  if (const json::array* list = in.if_array()) {
    json::array out;
    for (const json::value& item : *list) out.push_back(Sorted(item));
    return out;
  }
  if (!in.is_object()) return in;
  std::map<std::string, json::value> members;
  for (const auto& [key, value] : in.get_object()) members[key] = Sorted(value);
  json::object out;
  for (auto& [key, value] : members) out[key] = std::move(value);
  return out;
}

}  // namespace

std::string Outcome(Bed& bed) {
  std::string out;
  for (const char* path :
       {"/apis/apps/v1/namespaces/gpu-operator/daemonsets", "/api/v1/namespaces/gpu-operator/configmaps",
        "/api/v1/namespaces/gpu-operator/services", "/apis/node.k8s.io/v1/runtimeclasses",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles"}) {
    for (const json::value object : bed.List(path)) {
      json::value copy = object;
      for (const char* field :
           {"status", "metadata.resourceVersion", "metadata.managedFields", "metadata.uid", "metadata.generation",
            "metadata.creationTimestamp", "metadata.ownerReferences", "spec.clusterIP", "spec.clusterIPs"})
        data::Erase(copy, field);
      if (json::value* annotations = data::Find(copy, "metadata.annotations"))
        if (annotations->is_object()) annotations->as_object().erase("deprecated.daemonset.template.generation");
      out.append(json::serialize(Sorted(copy))).append("\n");
    }
  }
  for (const json::value node : bed.List("/api/v1/nodes"))
    out.append(json::serialize(Sorted(*data::Find(node, "metadata.labels")))).append("\n");
  return out;
}

}  // namespace gpuop::e2e
