#include <string>

#include "sim/types/defaults/defaults.h"
#include "sim/types/defaults/fill.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

void FieldRef(Object& holder) {
  if (Object* ref = ObjectAt(holder, "fieldRef")) SetIfMissing(*ref, "apiVersion", "v1");
}

void HttpGet(Object& handler) {
  if (Object* get = ObjectAt(handler, "httpGet")) {
    SetIfMissing(*get, "path", "/");
    SetIfMissing(*get, "scheme", "HTTP");
  }
}

void Probe(Object& container, std::string_view name) {
  Object* probe = ObjectAt(container, name);
  if (probe == nullptr) return;
  SetIfMissing(*probe, "timeoutSeconds", 1);
  SetIfMissing(*probe, "periodSeconds", 10);
  SetIfMissing(*probe, "successThreshold", 1);
  SetIfMissing(*probe, "failureThreshold", 3);
  HttpGet(*probe);
  if (Object* grpc = ObjectAt(*probe, "grpc")) {
    if (!grpc->contains("service") || grpc->at("service").is_null()) (*grpc)["service"] = "";
  }
}

/// An image without a tag, or with the tag "latest" and no digest, is pulled always.
bool PulledAlways(std::string_view image) {
  if (image.contains('@')) return false;
  const std::string_view last = image.substr(image.rfind('/') + 1);
  const auto colon = last.find(':');
  return colon == std::string_view::npos || last.substr(colon + 1) == "latest";
}

void Environment(Object& container) {
  EachAt(container, "env", [](Object& env) {
    Object* from = ObjectAt(env, "valueFrom");
    if (from == nullptr) return;
    FieldRef(*from);
    if (Object* file = ObjectAt(*from, "fileKeyRef")) SetIfMissing(*file, "optional", false);
  });
}

void Container(Object& container) {
  SetIfMissing(container, "imagePullPolicy", PulledAlways(TextAt(container, "image")) ? "Always" : "IfNotPresent");
  SetIfMissing(container, "terminationMessagePath", "/dev/termination-log");
  SetIfMissing(container, "terminationMessagePolicy", "File");
  EachAt(container, "ports", [](Object& port) { SetIfMissing(port, "protocol", "TCP"); });
  Environment(container);
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) Probe(container, probe);
  if (Object* lifecycle = ObjectAt(container, "lifecycle"))
    for (const char* hook : {"postStart", "preStop"})
      if (Object* handler = ObjectAt(*lifecycle, hook)) HttpGet(*handler);
}

/// A limit without a request is the request too.
void RequestsFromLimits(Object& container) {
  Object* resources = ObjectAt(container, "resources");
  Object* limits = resources == nullptr ? nullptr : ObjectAt(*resources, "limits");
  if (limits == nullptr) return;
  const Object copy = *limits;
  Object& requests = ObjectMade(*resources, "requests");
  for (const auto& [name, amount] : copy)
    if (!requests.contains(name)) requests[name] = amount;
}

void DownwardItems(Object& source) {
  EachAt(source, "items", [](Object& item) { FieldRef(item); });
}

void Projected(Object& projected) {
  SetIfMissing(projected, "defaultMode", 420);
  EachAt(projected, "sources", [](Object& source) {
    if (Object* token = ObjectAt(source, "serviceAccountToken")) SetIfMissing(*token, "expirationSeconds", 3600);
    if (Object* downward = ObjectAt(source, "downwardAPI")) DownwardItems(*downward);
  });
}

/// Sources whose fields have fixed defaults.
struct FixedDefault {
  const char *source, *field, *value;
};
constexpr FixedDefault kFixed[] = {
    {"iscsi", "iscsiInterface", "default"},
    {"rbd", "pool", "rbd"},
    {"rbd", "user", "admin"},
    {"rbd", "keyring", "/etc/ceph/keyring"},
    {"azureDisk", "cachingMode", "ReadWrite"},
    {"azureDisk", "fsType", "ext4"},
    {"azureDisk", "kind", "Shared"},
    {"scaleIO", "storageMode", "ThinProvisioned"},
    {"scaleIO", "fsType", "xfs"},
};

void Volume(Object& volume) {
  if (volume.size() == (volume.contains("name") ? 1U : 0U)) volume["emptyDir"] = Object();
  for (const char* source : {"secret", "configMap", "downwardAPI"})
    if (Object* files = ObjectAt(volume, source)) SetIfMissing(*files, "defaultMode", 420);
  if (Object* downward = ObjectAt(volume, "downwardAPI")) DownwardItems(*downward);
  if (Object* projected = ObjectAt(volume, "projected")) Projected(*projected);
  if (Object* path = ObjectAt(volume, "hostPath"); path != nullptr && !path->contains("type")) (*path)["type"] = "";
  for (const FixedDefault& fixed : kFixed)
    if (Object* source = ObjectAt(volume, fixed.source)) SetIfMissing(*source, fixed.field, fixed.value);
  if (Object* disk = ObjectAt(volume, "azureDisk"); disk != nullptr && !disk->contains("readOnly"))
    (*disk)["readOnly"] = false;
  if (Object* image = ObjectAt(volume, "image"))
    SetIfMissing(*image, "pullPolicy", PulledAlways(TextAt(*image, "reference")) ? "Always" : "IfNotPresent");
  Object* ephemeral = ObjectAt(volume, "ephemeral");
  Object* claim = ephemeral == nullptr ? nullptr : ObjectAt(*ephemeral, "volumeClaimTemplate");
  if (claim != nullptr) SetIfMissing(ObjectMade(*claim, "spec"), "volumeMode", "Filesystem");
}

/// On the host's network a container port is the host's port.
void HostPorts(Object& spec) {
  if (!TrueAt(spec, "hostNetwork")) return;
  for (const char* list : {"containers", "initContainers"})
    EachAt(spec, list, [](Object& container) {
      EachAt(container, "ports", [](Object& port) {
        if (!port.contains("hostPort") && port.contains("containerPort"))
          port["hostPort"] = boost::json::value(port["containerPort"]);
      });
    });
}

/// Two names of one field.
void ServiceAccount(Object& spec) {
  if (Missing(spec, "serviceAccountName") && !Missing(spec, "serviceAccount"))
    spec["serviceAccountName"] = boost::json::value(spec["serviceAccount"]);
  if (!Missing(spec, "serviceAccountName")) spec["serviceAccount"] = boost::json::value(spec["serviceAccountName"]);
}

}  // namespace

void SetPodSpecDefaults(Object& spec, bool in_pod) {
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) EachAt(spec, list, Container);
  EachAt(spec, "volumes", Volume);
  SetIfMissing(spec, "restartPolicy", "Always");
  SetIfMissing(spec, "terminationGracePeriodSeconds", 30);
  SetIfMissing(spec, "dnsPolicy", "ClusterFirst");
  SetIfMissing(spec, "securityContext", Object());
  SetIfMissing(spec, "schedulerName", "default-scheduler");
  ServiceAccount(spec);
  if (!in_pod) return;
  SetIfMissing(spec, "enableServiceLinks", true);
  HostPorts(spec);
  for (const char* list : {"containers", "initContainers"}) EachAt(spec, list, RequestsFromLimits);
}

}  // namespace gpuop::sim::types
