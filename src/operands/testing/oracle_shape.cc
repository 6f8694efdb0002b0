#include "operands/testing/oracle_shape.h"

#include <algorithm>
#include <vector>

namespace gpuop::operands::testing {
namespace {

std::string Text(const data::Json& object, std::string_view path) { return std::string(data::StringOr(object, path)); }

class Flattening {
 public:
  explicit Flattening(Flat& out) : out_(out) {}

  void Put(const std::string& path, const data::Json& value) { out_[path] = data::ToJson(value); }
  /// Members of an object, each as one fact; nothing when there is none.
  void PutMembers(const std::string& path, const data::Json* object) {
    if (object == nullptr || !object->is_object()) return;
    for (const auto& member : object->get_object()) Put(path + "[" + std::string(member.key()) + "]", member.value());
  }
  /// An object of objects, one fact for each leaf.
  void PutLeaves(const std::string& path, const data::Json& value) {
    if (!value.is_object()) return Put(path, value);
    for (const auto& member : value.get_object()) PutLeaves(path + "." + std::string(member.key()), member.value());
  }
  /// RBAC rules by what they are about.
  void PutRules(const std::string& path, const data::Json* rules) {
    if (rules == nullptr) return;
    for (const data::Json& rule : rules->as_array()) {
      std::string about;
      for (const char* field : {"apiGroups", "resources", "resourceNames"})
        if (const data::Json* list = data::Find(rule, field)) about += data::ToJson(*list);
      std::vector<std::string> verbs;
      for (const data::Json& verb : data::Find(rule, "verbs")->as_array()) verbs.emplace_back(verb.as_string());
      std::ranges::sort(verbs);
      std::string all;
      for (const std::string& verb : verbs) all += (all.empty() ? "" : " ") + verb;
      Put(path + "[" + about + "]", data::Json(all));
    }
  }

 private:
  Flat& out_;
};

data::Json Or(const data::Json* value, data::Json otherwise) {
  return value != nullptr ? *value : std::move(otherwise);
}

void FlattenMeta(const std::string& at, const data::Json& meta, Flattening& out) {
  out.PutMembers(at + "labels", data::Find(meta, "labels"));
  out.PutMembers(at + "annotations", data::Find(meta, "annotations"));
}

/// A probe with the API's defaults.
data::Json WithProbeDefaults(data::Json probe) {
  data::JsonObject& object = probe.as_object();
  for (const auto& [field, value] : {std::pair("failureThreshold", 3), std::pair("periodSeconds", 10),
                                     std::pair("successThreshold", 1), std::pair("timeoutSeconds", 1)})
    object.emplace(field, value);
  if (auto* get = object.if_contains("httpGet")) get->as_object().emplace("scheme", "HTTP");
  return probe;
}

void FlattenContainerFields(const std::string& at, const data::Json& c, Flattening& out) {
  for (const char* field : {"image", "imagePullPolicy", "command", "args", "securityContext", "lifecycle", "resources"})
    if (const data::Json* value = data::Find(c, field)) out.PutLeaves(at + field, *value);
  for (const char* field : {"livenessProbe", "readinessProbe", "startupProbe"})
    if (const data::Json* value = data::Find(c, field)) out.PutLeaves(at + field, WithProbeDefaults(*value));
  if (const data::Json* ports = data::Find(c, "ports"))
    for (const data::Json& port : ports->as_array()) out.PutLeaves(at + "ports[" + Text(port, "name") + "]", port);
}

void FlattenContainer(const std::string& at, const data::Json& c, Flattening& out) {
  FlattenContainerFields(at, c, out);
  if (const data::Json* env = data::Find(c, "env"))
    for (const data::Json& var : env->as_array()) {
      const std::string field = Text(var, "valueFrom.fieldRef.fieldPath");
      out.Put(at + "env[" + Text(var, "name") + "]", data::Json(field.empty() ? Text(var, "value") : "field " + field));
    }
  if (const data::Json* mounts = data::Find(c, "volumeMounts"))
    for (const data::Json& mount : mounts->as_array()) {
      const std::string path = at + "mounts[" + Text(mount, "mountPath") + "]";
      out.Put(path + ".volume", data::Json(Text(mount, "name")));
      if (data::BoolOr(mount, "readOnly")) out.Put(path + ".readOnly", true);
      if (const data::Json* sub = data::Find(mount, "subPath")) out.Put(path + ".subPath", *sub);
      if (const data::Json* how = data::Find(mount, "mountPropagation")) out.Put(path + ".propagation", *how);
    }
}

void FlattenVolume(const std::string& at, const data::Json& volume, Flattening& out) {
  const std::string path = at + "volumes[" + Text(volume, "name") + "]";
  if (const data::Json* host = data::Find(volume, "hostPath")) {
    out.Put(path + ".hostPath", *data::Find(*host, "path"));
    if (const data::Json* type = data::Find(*host, "type")) out.Put(path + ".type", *type);
  }
  if (const data::Json* map = data::Find(volume, "configMap")) {
    out.Put(path + ".configMap", *data::Find(*map, "name"));
    out.Put(path + ".mode", Or(data::Find(*map, "defaultMode"), 0644));
    if (const data::Json* items = data::Find(*map, "items")) out.Put(path + ".items", *items);
  }
  if (data::Find(volume, "emptyDir") != nullptr) out.Put(path + ".emptyDir", true);
}

void FlattenPod(const std::string& at, const data::Json& pod, Flattening& out) {
  out.Put(at + "dnsPolicy", Or(data::Find(pod, "dnsPolicy"), "ClusterFirst"));
  out.Put(at + "restartPolicy", Or(data::Find(pod, "restartPolicy"), "Always"));
  out.Put(at + "terminationGracePeriodSeconds", Or(data::Find(pod, "terminationGracePeriodSeconds"), 30));
  out.Put(at + "serviceAccount", Or(data::Find(pod, "serviceAccountName"), ""));
  for (const char* field : {"affinity", "priorityClassName", "runtimeClassName", "hostPID", "hostIPC", "hostNetwork",
                            "automountServiceAccountToken"})
    if (const data::Json* value = data::Find(pod, field)) out.Put(at + field, *value);
  out.PutMembers(at + "nodeSelector", data::Find(pod, "nodeSelector"));
  if (const data::Json* tolerations = data::Find(pod, "tolerations"))
    for (const data::Json& t : tolerations->as_array()) out.PutLeaves(at + "tolerations[" + Text(t, "key") + "]", t);
  for (const char* kind : {"initContainers", "containers"}) {
    const data::Json* containers = data::Find(pod, kind);
    if (containers == nullptr) continue;
    std::string order;
    for (const data::Json& c : containers->as_array()) {
      order += Text(c, "name") + " ";
      FlattenContainer(at + kind + "[" + Text(c, "name") + "].", c, out);
    }
    out.Put(at + kind, data::Json(order));
  }
  if (const data::Json* volumes = data::Find(pod, "volumes"))
    for (const data::Json& volume : volumes->as_array()) FlattenVolume(at, volume, out);
}

void FlattenDaemonSet(const std::string& at, const data::Json& body, Flattening& out) {
  out.PutMembers(at + "selector", data::Find(body, "spec.selector.matchLabels"));
  const std::string type = Text(body, "spec.updateStrategy.type");
  out.Put(at + "updateStrategy", data::Json(type));
  if (type == "RollingUpdate")
    out.Put(at + "maxUnavailable", Or(data::Find(body, "spec.updateStrategy.rollingUpdate.maxUnavailable"), 1));
  FlattenMeta(at + "pod.", *data::Find(body, "spec.template.metadata"), out);
  FlattenPod(at, *data::Find(body, "spec.template.spec"), out);
}

void FlattenService(const std::string& at, const data::Json& spec, Flattening& out) {
  out.PutMembers(at + "selector", data::Find(spec, "selector"));
  out.Put(at + "type", data::Json(Text(spec, "type")));
  out.Put(at + "internalTrafficPolicy", Or(data::Find(spec, "internalTrafficPolicy"), "Cluster"));
  for (const data::Json& port : data::Find(spec, "ports")->as_array())
    out.PutLeaves(at + "ports[" + Text(port, "name") + "]", port);
}

void FlattenRest(const std::string& kind, const std::string& at, const data::Json& body, Flattening& out) {
  if (kind == "ConfigMap")
    if (const data::Json* map = data::Find(body, "data"))
      for (const auto& member : map->as_object()) out.Put(at + "data[" + std::string(member.key()) + "]", true);
  if (kind == "Role" || kind == "ClusterRole") out.PutRules(at + "rules", data::Find(body, "rules"));
  if (kind == "RoleBinding" || kind == "ClusterRoleBinding") {
    out.Put(at + "roleRef", *data::Find(body, "roleRef"));
    out.Put(at + "subjects", *data::Find(body, "subjects"));
  }
  if (kind == "RuntimeClass") out.Put(at + "handler", *data::Find(body, "handler"));
}

/// A container of the record in the API's form.
data::Json RecordedContainer(const data::Json& in) {
  data::JsonObject c = in.as_object();
  data::JsonArray env, mounts;
  if (const auto* vars = c.if_contains("env"))
    for (const auto& var : vars->as_object()) {
      data::JsonObject item{{"name", var.key()}};
      if (var.value().is_string())
        item["value"] = var.value();
      else
        item["valueFrom"] =
            data::JsonObject{{"fieldRef", data::JsonObject{{"fieldPath", var.value().at("fieldPath")}}}};
      env.emplace_back(std::move(item));
    }
  if (const auto* recorded = c.if_contains("mounts"))
    for (data::Json mount : recorded->as_array()) {
      data::JsonObject& m = mount.as_object();
      // Copies: a new member may move those that are there.
      m["mountPath"] = data::Json(m.at("path"));
      if (const auto* how = m.if_contains("propagation")) m["mountPropagation"] = data::Json(*how);
      mounts.push_back(std::move(mount));
    }
  c["env"] = std::move(env);
  c["volumeMounts"] = std::move(mounts);
  return c;
}

data::Json RecordedVolume(std::string_view name, const data::Json& in) {
  data::JsonObject out{{"name", name}};
  const std::string type = Text(in, "type");
  if (type == "hostPath") {
    data::JsonObject host{{"path", in.at("path")}};
    if (const data::Json* kind = data::Find(in, "hostPathType")) host["type"] = *kind;
    out["hostPath"] = std::move(host);
  } else if (type == "configMap") {
    data::JsonObject map{{"name", in.at("ref")}, {"defaultMode", in.at("mode")}};
    if (const data::Json* items = data::Find(in, "items")) map["items"] = *items;
    out["configMap"] = std::move(map);
  }
  return out;
}

/// A DaemonSet of the record in the API's form.
data::Json RecordedDaemonSet(const data::Json& in) {
  data::JsonObject pod = in.at("pod").as_object();
  for (const char* kind : {"containers", "initContainers"}) {
    auto* recorded = pod.if_contains(kind);
    if (recorded == nullptr) continue;
    data::JsonArray containers;
    for (const data::Json& c : recorded->as_array()) containers.push_back(RecordedContainer(c));
    *recorded = std::move(containers);
  }
  data::JsonArray volumes;
  for (const auto& volume : pod["volumes"].as_object()) volumes.push_back(RecordedVolume(volume.key(), volume.value()));
  pod["volumes"] = std::move(volumes);
  pod["serviceAccountName"] = data::Json(pod["serviceAccount"]);
  data::JsonObject meta;
  for (const char* field : {"labels", "annotations"})
    if (const auto* value = pod.if_contains(field)) meta[field] = *value;
  data::JsonObject tmpl{{"metadata", std::move(meta)}, {"spec", std::move(pod)}};
  return data::JsonObject{{"spec", data::JsonObject{{"selector", data::JsonObject{{"matchLabels", in.at("selector")}}},
                                                    {"template", std::move(tmpl)},
                                                    {"updateStrategy", in.at("updateStrategy")}}}};
}

void FlattenOne(const std::string& kind, const std::string& name, const data::Json& meta, const data::Json& body,
                Flat& flat) {
  Flattening out(flat);
  const std::string at = kind + "/" + name + " ";
  out.Put(at + "exists", true);
  FlattenMeta(at, meta, out);
  if (kind == "DaemonSet")
    FlattenDaemonSet(at, body, out);
  else if (kind == "Service")
    FlattenService(at, *data::Find(body, "spec"), out);
  else
    FlattenRest(kind, at, body, out);
}

}  // namespace

Flat FlattenObjects(const Objects& objects) {
  Flat out;
  for (const Object& object : objects) {
    const data::Json body(object.body);
    FlattenOne(object.resource.kind, std::string(object.name()), *data::Find(body, "metadata"), body, out);
    Flattening(out).Put(object.resource.kind + "/" + std::string(object.name()) + " owner",
                        data::Json(Text(body, "metadata.ownerReferences[0].name")));
  }
  return out;
}

Flat FlattenOracle(const data::JsonObject& oracle) {
  Flat out;
  for (const auto& kind : oracle) {
    const std::string name(kind.key());
    if (name == "nodes" || name == "ClusterPolicy") continue;
    for (const auto& entry : kind.value().as_object()) {
      data::Json body = entry.value();
      const data::Json meta = body;
      if (name == "DaemonSet") body = RecordedDaemonSet(body);
      if (name == "Service") body = data::JsonObject{{"spec", body}};
      FlattenOne(name, std::string(entry.key()), meta, body, out);
      Flattening(out).Put(name + "/" + std::string(entry.key()) + " owner", data::Json(Text(meta, "owner.name")));
    }
  }
  return out;
}

}  // namespace gpuop::operands::testing
