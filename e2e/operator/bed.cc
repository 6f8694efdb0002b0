#include "e2e/operator/bed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "api/crd.h"
#include "base/testing/source_dir.h"
#include "base/text.h"
#include "data/json.h"
#include "data/patch.h"
#include "data/yaml.h"
#include "kube/resource.h"
#include "net/url.h"

namespace gpuop::e2e {
namespace {

/// As the chart's values make it (v26.7).
constexpr const char* kDefaultPolicy = R"({
"operator": {"runtimeClass": "nvidia", "use_ocp_driver_toolkit": false},
"daemonsets": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
  "priorityClassName": "system-node-critical", "updateStrategy": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "1"}},
"validator": {"repository": "nvcr.io/nvidia", "image": "gpu-operator", "version": "v26.7.0", "imagePullPolicy": "IfNotPresent"},
"mig": {"strategy": "single"}, "psa": {"enabled": false},
"cdi": {"enabled": true, "nriPluginEnabled": false},
"driver": {"enabled": true, "repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07", "imagePullPolicy": "IfNotPresent",
  "kernelModuleType": "auto", "usePrecompiled": false, "useNvidiaDriverCRD": false,
  "startupProbe": {"initialDelaySeconds": 60, "periodSeconds": 10, "timeoutSeconds": 60, "failureThreshold": 120},
  "rdma": {"enabled": false, "useHostMofed": false},
  "upgradePolicy": {"autoUpgrade": true, "maxParallelUpgrades": 1, "maxUnavailable": "25%"},
  "manager": {"repository": "nvcr.io/nvidia/cloud-native", "image": "k8s-driver-manager", "version": "v0.12.0"}},
"toolkit": {"enabled": true, "repository": "nvcr.io/nvidia/k8s", "image": "container-toolkit", "version": "v1.20.0"},
"devicePlugin": {"enabled": true, "repository": "nvcr.io/nvidia", "image": "k8s-device-plugin", "version": "v0.20.0"},
"dcgm": {"enabled": false, "repository": "nvcr.io/nvidia/cloud-native", "image": "dcgm", "version": "4.6.0-1-ubuntu24.04"},
"dcgmExporter": {"enabled": true, "repository": "nvcr.io/nvidia/k8s", "image": "dcgm-exporter", "version": "4.6.0-4.8.3-distroless",
  "serviceMonitor": {"enabled": true, "interval": "15s", "scrapeTimeout": "10s"}, "service": {"internalTrafficPolicy": "Cluster"}},
"gfd": {"enabled": true, "repository": "nvcr.io/nvidia", "image": "k8s-device-plugin", "version": "v0.20.0"},
"migManager": {"enabled": true, "repository": "nvcr.io/nvidia/cloud-native", "image": "k8s-mig-manager", "version": "v0.15.0",
  "config": {"default": "all-disabled"}},
"nodeStatusExporter": {"enabled": false, "repository": "nvcr.io/nvidia", "image": "gpu-operator", "version": "v26.7.0"},
"gds": {"enabled": false, "repository": "nvcr.io/nvidia/cloud-native", "image": "nvidia-fs", "version": "2.29.4"},
"gdrcopy": {"enabled": false, "repository": "nvcr.io/nvidia/cloud-native", "image": "gdrdrv", "version": "v2.6"},
"sandboxWorkloads": {"enabled": false, "defaultWorkload": "container", "mode": "kubevirt"},
"vgpuManager": {"enabled": false, "image": "vgpu-manager"},
"vgpuDeviceManager": {"enabled": true, "repository": "nvcr.io/nvidia/cloud-native", "image": "vgpu-device-manager", "version": "v0.5.0",
  "config": {"default": "default"}},
"vfioManager": {"enabled": true, "repository": "nvcr.io/nvidia/cloud-native", "image": "k8s-driver-manager", "version": "v0.12.0",
  "driverManager": {"repository": "nvcr.io/nvidia/cloud-native", "image": "k8s-driver-manager", "version": "v0.12.0"}},
"sandboxDevicePlugin": {"enabled": true, "repository": "nvcr.io/nvidia", "image": "kubevirt-gpu-device-plugin", "version": "v1.6.0"},
"kataSandboxDevicePlugin": {"enabled": true, "repository": "nvcr.io/nvidia/cloud-native", "image": "nvidia-sandbox-device-plugin", "version": "v0.0.5"},
"ccManager": {"enabled": true, "defaultMode": "on", "repository": "nvcr.io/nvidia/cloud-native", "image": "k8s-cc-manager", "version": "v0.4.3"},
"hostPaths": {"rootFS": "/", "driverInstallDir": "/run/nvidia/driver"}
})";

std::string Denials(const FakeLog& log) {
  std::string out;
  for (const std::string& line : log.Lines())
    if (line.contains("forbidden")) out += line + "\n";
  return out;
}

/// A door in front of which something may happen.
class HookedDoor final : public kube::Door {
 public:
  HookedDoor(kube::Door& door, std::function<void(const kube::ApiRequest&)> before)
      : door_(door), before_(std::move(before)) {}

  Result<kube::ApiResponse> Call(const kube::ApiRequest& request, Duration limit, std::stop_token stop) override {
    before_(request);
    return door_.Call(request, limit, std::move(stop));
  }
  std::unique_ptr<kube::Stream> Open(const kube::ApiRequest& request, std::shared_ptr<kube::StreamSink> sink) override {
    return door_.Open(request, std::move(sink));
  }

 private:
  kube::Door& door_;
  const std::function<void(const kube::ApiRequest&)> before_;
};

std::string PathFor(const json::object& object) {
  static const std::map<std::string, std::string> kPlurals{{"ClusterPolicy", "clusterpolicies"},
                                                           {"NVIDIADriver", "nvidiadrivers"},
                                                           {"GPUCluster", "gpuclusters"},
                                                           {"Namespace", "namespaces"},
                                                           {"ConfigMap", "configmaps"},
                                                           {"Secret", "secrets"},
                                                           {"Node", "nodes"},
                                                           {"DaemonSet", "daemonsets"},
                                                           {"Pod", "pods"},
                                                           {"PodDisruptionBudget", "poddisruptionbudgets"},
                                                           {"ClusterVersion", "clusterversions"},
                                                           {"Proxy", "proxies"},
                                                           {"ImageStream", "imagestreams"},
                                                           {"CustomResourceDefinition", "customresourcedefinitions"},
                                                           {"ServiceAccount", "serviceaccounts"},
                                                           {"Role", "roles"},
                                                           {"RoleBinding", "rolebindings"},
                                                           {"ClusterRole", "clusterroles"},
                                                           {"ClusterRoleBinding", "clusterrolebindings"}};
  const std::string api_version(object.at("apiVersion").as_string());
  const auto [group, version] = kube::SplitApiVersion(api_version);
  const std::string kind(object.at("kind").as_string());
  const json::value* ns = object.at("metadata").as_object().if_contains("namespace");
  return kube::PathOf({{std::string(group), std::string(version), kPlurals.at(kind), kind, ns != nullptr},
                       ns == nullptr ? std::string() : std::string(ns->as_string()),
                       std::string(object.at("metadata").at("name").as_string()),
                       {}});
}

}  // namespace

sim::HollowPool GpuPool(std::int64_t count, const std::string& name, const std::string& os,
                        const std::string& os_version, const std::string& runtime, const std::string& kernel) {
  sim::HollowPool pool;
  pool.count = count;
  pool.name = name;
  pool.labels = {{"feature.node.kubernetes.io/pci-10de.present", "true"},
                 {"feature.node.kubernetes.io/system-os_release.ID", os},
                 {"feature.node.kubernetes.io/system-os_release.VERSION_ID", os_version},
                 {"feature.node.kubernetes.io/kernel-version.full", kernel},
                 {"kubernetes.io/arch", "amd64"}};
  pool.info.kernel_version = kernel;
  pool.info.container_runtime_version = runtime;
  pool.info.architecture = "amd64";
  pool.info.operating_system = "linux";
  return pool;
}

sim::HollowPool RhcosPool(const std::string& name, const std::string& rhcos, const std::string& kubelet_says) {
  sim::HollowPool pool = GpuPool(1, name + "-{i}", "rhcos", "4.19", "cri-o://1.32.7", "5.14.0-570.44.1.el9_6.x86_64");
  pool.labels.emplace_back("feature.node.kubernetes.io/system-os_release.OSTREE_VERSION", rhcos);
  if (!kubelet_says.empty()) pool.info.os_image = "Red Hat Enterprise Linux CoreOS " + kubelet_says + " (Plow)";
  return pool;
}

sim::HollowPool CpuPool(std::int64_t count) {
  sim::HollowPool pool = GpuPool(count, "cpu-{i}");
  pool.labels[0] = {"feature.node.kubernetes.io/cpu-model.family", "6"};
  return pool;
}

sim::TimelineRule Pods(const std::string& name, const std::string& setting, const std::string& value) {
  sim::TimelineRule rule;
  rule.ns = "gpu-operator";
  rule.name = name;
  rule.settings = {{setting, value}};
  return rule;
}

json::object DefaultPolicy(const std::string& patch, const std::string& name) {
  json::value spec = data::ParseJson(kDefaultPolicy).value();
  spec = data::ApplyMergePatch(std::move(spec), data::ParseJson(patch).value());
  return {{"apiVersion", "nvidia.com/v1"},
          {"kind", "ClusterPolicy"},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)}};
}

std::uint64_t SeedOfRun() {
  const char* asked = std::getenv("GPUOP_SEED");
  return static_cast<std::uint64_t>(ParseInt(asked == nullptr ? "1" : asked).value_or(1));
}

Bed::Bed(Options options)
    : metrics_(std::make_unique<MetricRegistry>()),
      ground_(OnRealControlPlane() ? MakeRealGround(net::ProcessEnv("GPUOP_KUBECONFIG"), log_)
                                   : MakeEmbeddedGround(options.seed, log_)) {
  Apply({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "gpu-operator"}}}});
  InstallRights(options.openshift);
  for (const api::Definition& d : api::Definitions()) {
    if (options.install_crds)
      Apply(api::CustomResourceDefinitionOf(d));
    else
      Call("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + d.name());
  }
  if (options.install_crds)
    for (const api::Definition& d : api::Definitions()) IsServed(kube::PathOf({d.resource, {}, {}, {}}));
  if (options.monitoring || options.openshift) AddMonitoring();
  if (options.openshift) AddOpenShift();
  ground_->StartNodes(std::move(options.pools), std::move(options.timelines));
  operator_door_ = ground_->DoorFor("gpu-operator", "gpu-operator");
  if (options.before)
    hooked_door_ = std::make_unique<HookedDoor>(
        *operator_door_, [this, before = options.before](const kube::ApiRequest& r) { before(*this, r); });
  door_ = std::make_unique<kube::CountingDoor>(hooked_door_ ? *hooked_door_ : *operator_door_);
  if (options.start) StartOperator();
}

/// What the chart lets the operator do, as its rendered files say.
void Bed::InstallRights(bool openshift) {
  const std::string file =
      std::string(SourceDir()) + "/testdata/helm/golden/" + (openshift ? "openshift" : "default") + ".yaml";
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::size_t applied = 0;
  for (const data::YamlDocument& document : data::ParseYamlStream(text).value()) {
    const std::string_view kind = data::StringOr(document.value, "kind");
    if (data::StringOr(document.value, "metadata.name") != "gpu-operator") continue;
    if (kind != "ServiceAccount" && !kind.contains("Role")) continue;
    Apply(document.value.as_object());
    ++applied;
  }
  ASSERT_EQ(applied, 5U) << file;
}

/// A definition that accepts anything, of somebody else's kind.
void Bed::Define(const std::string& group, const std::string& plural, const std::string& kind,
                 const std::string& scope) {
  const json::object schema{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  Apply({{"apiVersion", "apiextensions.k8s.io/v1"},
         {"kind", "CustomResourceDefinition"},
         {"metadata", {{"name", plural + "." + group}}},
         {"spec",
          {{"group", group},
           {"scope", scope},
           {"names",
            {{"plural", plural},
             {"kind", kind},
             {"singular", plural.substr(0, plural.size() - 1)},
             {"listKind", kind + "List"}}},
           {"versions",
            json::array{
                {{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}});
  IsServed("/apis/" + group + "/v1/" + plural);
}

void Bed::IsServed(const std::string& path) {
  EXPECT_TRUE(Until([&] { return Call("GET", path).status == 200; })) << path;
}

void Bed::AddMonitoring() {
  Define("monitoring.coreos.com", "servicemonitors", "ServiceMonitor");
  Define("monitoring.coreos.com", "prometheusrules", "PrometheusRule");
}

/// OpenShift 4.19 with a Driver Toolkit for two versions of RHCOS and a proxy.
void Bed::AddOpenShift() {
  Define("config.openshift.io", "clusterversions", "ClusterVersion", "Cluster");
  Define("config.openshift.io", "proxies", "Proxy", "Cluster");
  Define("image.openshift.io", "imagestreams", "ImageStream");
  Define("security.openshift.io", "securitycontextconstraints", "SecurityContextConstraints", "Cluster");
  Apply({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "openshift"}}}});
  Apply({{"apiVersion", "config.openshift.io/v1"},
         {"kind", "ClusterVersion"},
         {"metadata", {{"name", "version"}}},
         {"status",
          {{"history", json::array{{{"state", "Partial"}, {"version", "4.20.1"}},
                                   {{"state", "Completed"}, {"version", "4.19.12"}}}}}}});
  Apply({{"apiVersion", "config.openshift.io/v1"},
         {"kind", "Proxy"},
         {"metadata", {{"name", "cluster"}}},
         {"spec", {{"trustedCA", {{"name", "user-ca-bundle"}}}}},
         {"status", {{"httpProxy", "http://proxy.example:3128"}, {"noProxy", ".cluster.local"}}}});
  json::array tags{{{"name", "latest"}, {"from", {{"name", "quay.example/dtk:latest"}}}}};
  for (const char* version : {kOldRhcos, kNewRhcos})
    tags.push_back({{"name", version}, {"from", {{"name", std::string("quay.example/dtk:") + version}}}});
  Apply({{"apiVersion", "image.openshift.io/v1"},
         {"kind", "ImageStream"},
         {"metadata", {{"name", "driver-toolkit"}, {"namespace", "openshift"}}},
         {"spec", {{"tags", std::move(tags)}}}});
}

std::string Bed::Refused() const {
  std::string out;
  for (const auto& [kind, times] : door_->Sent())
    for (int code = 400; code < 430; ++code)
      if (const auto n = door_->Answered(kind, std::to_string(code)); n > 0)
        out += std::to_string(code) + " " + kind.verb + " " + kind.resource + "\n";
  return out;
}

Bed::~Bed() {
  operator_.reset();
  for (const auto& [kind, times] : door_->Sent()) {
    EXPECT_EQ(door_->Answered(kind, "403"), 0U) << "denied: " << kind.verb << " " << kind.resource << "\n"
                                                << Denials(log_);
  }
}

std::unique_ptr<op::Operator> Bed::MakeOperator(op::Operator::Options options) {
  options.surroundings.operator_image = "registry.example.com/gpu-operator:v1";
  options.seed = static_cast<std::uint64_t>(++started_);
  return std::make_unique<op::Operator>(ground_->executor(), *door_, log_, *metrics_, std::move(options));
}

void Bed::StartOperator() {
  operator_.reset();
  operator_ = MakeOperator({.identity = "operator-" + std::to_string(started_), .leader_elect = false});
  operator_->Start();
}

void Bed::SetCapacity(const std::string& node, const std::string& resource, const std::string& quantity) {
  ground_->WithKubelets([&](sim::Kubelets& all) { EXPECT_TRUE(all.SetCapacity(node, resource, quantity)); });
}

void Bed::Partition(const std::string& node) {
  ground_->WithKubelets([&](sim::Kubelets& all) { EXPECT_TRUE(all.SetPartitioned(node, true)); });
}

bool Bed::Until(const std::function<bool()>& done, Duration limit) {
  for (Duration spent{}; spent < limit; spent += std::chrono::milliseconds(250)) {
    if (done()) return true;
    RunFor(std::chrono::milliseconds(250));
  }
  return done();
}

void Bed::Apply(const json::object& object) {
  const auto answer = Call("PATCH", PathFor(object) + "?fieldManager=test&force=true", json::serialize(object),
                           "application/apply-patch+yaml");
  if (answer.status < 300) return;
  const std::string path = PathFor(object);
  const auto created = Call("POST", path.substr(0, path.rfind('/')), json::serialize(object));
  EXPECT_LT(created.status, 300) << path << " " << created.body;
}

void Bed::Delete(const std::string& path) {
  const auto answer = Call("DELETE", path);
  EXPECT_LT(answer.status, 300) << path << " " << answer.body;
}

void Bed::Patch(const std::string& path, const std::string& merge_patch, bool status) {
  const auto answer = Call("PATCH", path + (status ? "/status" : "") + "?fieldManager=test", merge_patch,
                           "application/merge-patch+json");
  EXPECT_LT(answer.status, 300) << path << " " << answer.body;
}

json::value Bed::Get(const std::string& path) {
  const auto answer = Call("GET", path);
  return answer.status == 200 ? json::parse(answer.body) : json::value();
}

std::vector<json::object> Bed::List(const std::string& path) {
  std::vector<json::object> out;
  const json::value list = Get(path);
  if (list.is_null()) return out;
  for (const json::value& item : list.at("items").as_array()) out.push_back(item.as_object());
  return out;
}

std::string Bed::State(const std::string& name) { return std::string(data::StringOr(Policy(name), "status.state")); }

std::string Bed::Condition(const json::value& object, const std::string& type) {
  const json::array* list = data::GetArray(object, "status.conditions");
  if (list == nullptr) return {};
  for (const json::value& c : *list)
    if (data::StringOr(c, "type") == type)
      return std::string(data::StringOr(c, "status")) + " " + std::string(data::StringOr(c, "reason")) + ": " +
             std::string(data::StringOr(c, "message"));
  return {};
}

std::optional<double> Bed::Metric(const std::string& name) {
  const std::string text = metrics_->Text(), line = "\n" + name + " ";
  const std::size_t at = text.find(line);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + at + line.size(), nullptr);
}

std::vector<std::string> Bed::DaemonSets() {
  std::vector<std::string> out;
  for (const json::object& ds : List("/apis/apps/v1/namespaces/gpu-operator/daemonsets"))
    out.emplace_back(ds.at("metadata").at("name").as_string());
  return out;
}

std::string Bed::Label(const std::string& node, const std::string& key) {
  const json::value object = Get("/api/v1/nodes/" + node);
  const json::object* labels = data::GetObject(object, "metadata.labels");
  const json::value* value = labels == nullptr ? nullptr : labels->if_contains(key);
  return value == nullptr ? std::string() : std::string(value->as_string());
}

void Bed::SetLabel(const std::string& node, const std::string& key, const std::string& value) {
  Patch("/api/v1/nodes/" + node, json::serialize(json::object{{"metadata", {{"labels", {{key, value}}}}}}));
}

void Bed::RemoveLabel(const std::string& node, const std::string& key) {
  Patch("/api/v1/nodes/" + node, json::serialize(json::object{{"metadata", {{"labels", {{key, nullptr}}}}}}));
}

std::vector<std::string> Bed::PodImages(const std::string& node, const std::string& daemon_set) {
  std::vector<std::string> out;
  for (const json::value pod : List("/api/v1/namespaces/gpu-operator/pods")) {
    if (data::StringOr(pod, "spec.nodeName") != node) continue;
    const json::array* owners = data::GetArray(pod, "metadata.ownerReferences");
    if (owners == nullptr || !data::StringOr(owners->at(0), "name").starts_with(daemon_set)) continue;
    out.emplace_back(data::StringOr(pod, "spec.containers[0].image"));
  }
  return out;
}

std::vector<std::string> Bed::Events(const std::string& reason) {
  std::vector<std::string> out;
  for (const json::object& event : List("/api/v1/events"))
    if (data::StringOr(event, "reason") == reason) out.emplace_back(data::StringOr(event, "message"));
  return out;
}

}  // namespace gpuop::e2e
