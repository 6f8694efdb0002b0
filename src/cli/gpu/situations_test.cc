#include "cli/gpu/situations_test.h"

#include <fmt/core.h>

#include <map>

#include "api/cluster_policy.h"
#include "cli/gpu/read.h"
#include "data/yaml.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

boost::json::object Object(const std::string& yaml) {
  auto parsed = data::ParseYaml(yaml);
  if (!parsed) throw std::runtime_error(parsed.error().text + "\n" + yaml);
  return parsed->as_object();
}

void Merge(boost::json::value& into, const boost::json::value& what) {
  if (!into.is_object() || !what.is_object()) {
    into = what;
    return;
  }
  for (const auto& member : what.get_object()) Merge(into.get_object()[member.key()], member.value());
}

void MergeText(boost::json::object& object, const char* member, const std::string& yaml) {
  if (!yaml.empty()) Merge(object[member], Object(yaml));
}

std::string LabelsOf(const NodeSetup& n) {
  if (!n.labelled) return "{feature.node.kubernetes.io/pci-10de.present: 'true'}";
  return fmt::format(
      "{{kubernetes.io/hostname: {}, kubernetes.io/arch: {}, nvidia.com/gpu.present: 'true', "
      "feature.node.kubernetes.io/pci-10de.present: 'true', nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB, "
      "nvidia.com/gpu.count: '{}', nvidia.com/cuda.driver-version.full: 580.95.05}}",
      n.name, n.arch, n.capacity);
}

}  // namespace

Desk::Desk(const Situation& s) {
  if (s.policy) {
    auto policy =
        Object(fmt::format("{{metadata: {{name: cluster-policy, creationTimestamp: '2026-01-01T00:00:00Z'}}, spec: {}, "
                           "status: {{state: {}, namespace: gpu-operator}}}}",
                           s.spec, s.state));
    door_.Put(api::ClusterPolicy::kResource, std::move(policy));
  }
  for (const NodeSetup& n : s.nodes) Put(n);
  for (const OperandSetup& o : s.operands) Put(o);
  for (const PodSetup& p : s.pods) Put(p);
  std::map<std::string, std::string> logs;
  for (const PodSetup& p : s.pods) logs["/api/v1/namespaces/default/pods/" + p.name + "/log"] = p.log;
  door_.Intercept([logs](const kube::ApiRequest& r) -> std::optional<Result<kube::ApiResponse>> {
    const auto log = logs.find(r.path);
    if (log == logs.end()) return std::nullopt;
    return kube::ApiResponse{.status = 200, .content_type = "text/plain", .body = log->second};
  });
}

void Desk::Put(const NodeSetup& n) {
  std::string resources = n.capacity > 0 ? fmt::format("{{{}: '{}'}}", n.resource, n.capacity) : "{}";
  auto node = Object(fmt::format(
      "{{metadata: {{name: {0}, labels: {1}}}, spec: {{unschedulable: {2}}}, status: {{capacity: {3}, allocatable: "
      "{3}, "
      "nodeInfo: {{architecture: {4}}}, conditions: [{{type: Ready, status: '{5}', message: kubelet is posting}}]}}}}",
      n.name, LabelsOf(n), n.cordoned, resources, n.arch, n.ready));
  boost::json::object& status = node["status"].as_object();
  if (n.capacity > 0) status["allocatable"].as_object()[n.resource] = std::to_string(n.allocatable);
  MergeText(status, "capacity", n.more_resources);
  MergeText(status, "allocatable", n.more_resources);
  MergeText(node["metadata"].as_object(), "labels", n.more_labels);
  if (!n.taints.empty()) node["spec"].as_object()["taints"] = *data::ParseYaml(n.taints);
  if (!n.proof.empty())
    status["conditions"].as_array().push_back(
        {{"type", "gpu-operator.dev/GPUReady"}, {"status", n.proof}, {"reason", n.reason}, {"message", n.message}});
  door_.Put(kube::Node::kResource, std::move(node));
}

void Desk::Put(const OperandSetup& o) {
  const bool ready = o.state.empty();
  const std::string done = "{name: driver-validation, state: {terminated: {exitCode: 0}}}";
  const std::string init_name = o.init.empty() ? "driver-validation" : o.init;
  const std::string init =
      o.init.empty() ? done : fmt::format("{{name: {}, restartCount: 2, state: {}}}", o.init, o.state);
  const std::string main = o.init.empty() ? fmt::format("{{name: main, ready: {}, restartCount: {}, state: {}}}", ready,
                                                        ready ? 0 : 2, ready ? "{running: {}}" : o.state)
                                          : "{name: main, ready: false, state: {waiting: {reason: PodInitializing}}}";
  door_.Put(kube::Pod::kResource,
            Object(fmt::format(
                "{{metadata: {{name: {0}-x, namespace: gpu-operator, labels: {{app: {0}}}}}, spec: {{nodeName: {1}, "
                "initContainers: [{{name: {2}}}], containers: [{{name: main}}]}}, status: {{phase: {3}, conditions: "
                "[{{type: Ready, status: '{4}'}}], initContainerStatuses: [{5}], containerStatuses: [{6}]}}}}",
                o.app, o.node, init_name, ready ? "Running" : "Pending", ready ? "True" : "False", init, main)));
}

void Desk::Put(const PodSetup& p) {
  auto pod = Object(fmt::format(
      "{{metadata: {{name: {0}, namespace: default, uid: u-{0}}}, spec: {{containers: [{{name: main, resources: "
      "{1}}}]}}, "
      "status: {{phase: {2}}}}}",
      p.name,
      p.gpus > 0 ? fmt::format("{{limits: {{{0}: '{1}'}}, requests: {{{0}: '{1}'}}}}", p.resource, p.gpus) : "{}",
      p.node.empty() ? "Pending" : "Running"));
  if (!p.node.empty()) pod["spec"].as_object()["nodeName"] = p.node;
  MergeText(pod, "spec", p.spec);
  MergeText(pod, "status", p.status);
  door_.Put(kube::Pod::kResource, std::move(pod));
  if (p.event.empty()) return;
  door_.Put(kube::Event::kResource, {{"metadata", {{"name", p.name + ".1"}, {"namespace", "default"}}},
                                     {"involvedObject", {{"kind", "Pod"}, {"name", p.name}, {"uid", "u-" + p.name}}},
                                     {"type", "Warning"},
                                     {"reason", p.event},
                                     {"message", p.event_message}});
}

Result<ClusterFacts> Desk::Read() { return ReadCluster(client_, ""); }

Result<Report> Desk::Ask(const std::vector<std::string>& words) {
  std::vector<std::string> copy = words;
  std::vector<char*> args;
  for (std::string& word : copy) args.push_back(word.data());
  ASSIGN(const Options options, ParseOptions(args));
  return Answer(client_, options, options.ns.empty() ? "default" : options.ns, Paint(false));
}

}  // namespace gpuop::cli::kubectl_gpu
