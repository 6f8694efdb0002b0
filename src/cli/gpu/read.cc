#include "cli/gpu/read.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>
#include <thread>

#include "api/cluster_policy.h"
#include "cli/gpu/node_view.h"
#include "data/json.h"
#include "kube/field_mask.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

constexpr std::int64_t kLastLines = 50;

PolicyFacts ReadPolicy(const boost::json::object& object) {
  PolicyFacts out;
  out.name = data::StringOr(object, "metadata.name");
  out.state = data::StringOr(object, "status.state");
  out.driver = data::BoolOr(object, "spec.driver.enabled", true);
  out.toolkit = data::BoolOr(object, "spec.toolkit.enabled", true);
  out.device_plugin = data::BoolOr(object, "spec.devicePlugin.enabled", true);
  out.gfd = data::BoolOr(object, "spec.gfd.enabled", true);
  out.cdi = data::BoolOr(object, "spec.cdi.enabled", true);
  out.nri = data::BoolOr(object, "spec.cdi.nriPluginEnabled", false);
  if (const data::Json* conditions = data::Find(object, "status.conditions")) {
    // A condition that cannot be read is not worth failing for.
    if (!kube::ReadField(*conditions, out.conditions)) out.conditions.clear();
  }
  return out;
}

/// The oldest policy counts; the others are ignored by the operator too. No such kind: no policy.
Result<> ReadPolicies(const kube::Client& client, ClusterFacts& out, std::string& policy_ns) {
  std::string oldest;
  const Result<> listed =
      client.List(api::ClusterPolicy::kResource, {}, [&](const boost::json::object& object) -> Result<> {
        std::string created(data::StringOr(object, "metadata.creationTimestamp"));
        if (out.policy && created >= oldest) return {};
        oldest = std::move(created);
        out.policy = ReadPolicy(object);
        policy_ns = data::StringOr(object, "status.namespace");
        return {};
      });
  if (!listed && listed.error().code != Code::kNotFound)
    return std::unexpected(Error(listed.error()).During("list ClusterPolicies"));
  return {};
}

/// A refusal is no error: it is remembered that this was not seen.
Result<> Allowed(Result<> listed, bool& sees) {
  if (listed || listed.error().code != Code::kForbidden) return listed;
  sees = false;
  return {};
}

/// Calls `each` with the text of every object of a list, page by page.
template <class Each>
Result<> EachText(const kube::Client& client, const kube::Resource& resource, kube::ListOptions options, Each each) {
  do {
    auto page = client.Page(resource, options);
    if (!page) return std::unexpected(std::move(page).error().During("list " + resource.plural));
    for (const std::string_view text : page->text.items) TRY(each(text));
    options.continue_token = std::move(page->text.continue_token);
  } while (!options.continue_token.empty());
  return {};
}

/// All that verdicts about nodes look at: images are most of a Node, and nobody asks for them here.
const kube::FieldMask& OfNodes() {
  static const kube::FieldMask kMask{"metadata.name",
                                     "metadata.labels",
                                     "spec.taints",
                                     "spec.unschedulable",
                                     "status.capacity",
                                     "status.allocatable",
                                     "status.conditions.type",
                                     "status.conditions.status",
                                     "status.conditions.reason",
                                     "status.conditions.message",
                                     "status.nodeInfo"};
  return kMask;
}

/// The same of Pods: what they ask for, where they are and how far they have come.
const kube::FieldMask& OfPods() {
  static const kube::FieldMask kMask{"metadata.name",
                                     "metadata.namespace",
                                     "metadata.labels",
                                     "metadata.deletionTimestamp",
                                     "spec.nodeName",
                                     "spec.overhead",
                                     "spec.containers.name",
                                     "spec.containers.resources",
                                     "spec.initContainers.name",
                                     "spec.initContainers.resources",
                                     "spec.initContainers.restartPolicy",
                                     "status.phase",
                                     "status.reason",
                                     "status.message",
                                     "status.conditions.type",
                                     "status.conditions.status",
                                     "status.initContainerStatuses",
                                     "status.containerStatuses"};
  return kMask;
}

template <class T>
Result<std::shared_ptr<const T>> DecodeText(const kube::FieldMask& mask, std::string_view text) {
  boost::json::monotonic_resource memory;
  ASSIGN(const boost::json::object object, mask.Parse(text, &memory));
  ASSIGN(T value, kube::Decode<T>(object));
  return std::make_shared<const T>(std::move(value));
}

Result<> ReadNodes(const kube::Client& client, ClusterFacts& out) {
  return EachText(client, kube::Node::kResource, {}, [&out](std::string_view text) -> Result<> {
    ASSIGN(out.nodes.emplace_back(), DecodeText<kube::Node>(OfNodes(), text));
    return {};
  });
}

/// Whether `word` stands in the text; several times as fast as a string's own search where quotes are everywhere.
bool Names(std::string_view text, std::string_view word) {
  return ::memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

/// Whether a name, or the last part of an image's, is that of a program which offers NVIDIA GPUs. Plugins for networks
/// and for virtual machines offer other resources.
bool IsPluginsName(std::string_view name) {
  for (const std::string_view other : {"sandbox", "kubevirt", "kata", "sriov", "rdma"})
    if (name.contains(other)) return false;
  return name.contains("device-plugin") && (name.contains("nvidia") || name.contains("hami"));
}

bool IsPluginsImage(std::string_view image) {
  return image.contains("nvidia/k8s-device-plugin") || IsPluginsName(image.substr(image.rfind('/') + 1));
}

/// A Pod that serves in the kubelet's folder of device plugins, runs, and is called as those of NVIDIA GPUs are; `text`
/// is the whole Pod.
std::optional<Rival> AsRival(std::string_view text, const kube::Pod& pod, std::string_view operands_ns) {
  const bool operand = pod.meta.ns == operands_ns && !OperandOf(pod).empty();
  if (operand || pod.spec.node_name.empty() || pod.finished() || !Names(text, "/device-plugins")) return std::nullopt;
  std::optional<Rival> out;
  for (const kube::ContainerStatus& container : pod.status.containers)
    if (container.state.running && (IsPluginsName(pod.meta.name) || IsPluginsImage(container.image.view())))
      out = Rival{std::string(pod.meta.ns.view()), pod.meta.name, std::string(pod.spec.node_name.view()),
                  std::string(container.image.view())};
  return out;
}

Result<> ReadPods(const kube::Client& client, ClusterFacts& out) {
  const std::string operand = "\"namespace\":\"" + out.ns + "\"";
  const kube::ListOptions live{.field_selector = "status.phase!=Succeeded"};
  return EachText(client, kube::Pod::kResource, live, [&](std::string_view text) -> Result<> {
    // Whoever holds a GPU names the resource.
    if (!Names(text, operand) && !Names(text, "\"nvidia.com/") && !Names(text, "/device-plugins")) return {};
    ASSIGN(auto pod, DecodeText<kube::Pod>(OfPods(), text));
    kube::Amounts gpus = kube::PodRequests(pod->spec);
    std::erase_if(gpus, [](const auto& entry) { return !IsGpuResource(entry.first); });
    if (!gpus.empty() && !pod->finished() && !pod->spec.node_name.empty())
      out.holders.push_back(
          {std::string(pod->meta.ns.view()), pod->meta.name, std::string(pod->spec.node_name.view()), std::move(gpus)});
    if (auto rival = AsRival(text, *pod, out.ns)) out.rivals.push_back(*std::move(rival));
    if (pod->meta.ns == out.ns) out.operands.push_back(std::move(pod));
    return {};
  });
}

bool SetsVisibleDevices(const boost::json::object& pod) {
  const data::JsonArray* containers = data::GetArray(pod, "spec.containers");
  if (containers == nullptr) return false;
  for (const data::Json& container : *containers) {
    const data::JsonArray* env = data::GetArray(container, "env");
    if (env == nullptr) continue;
    for (const data::Json& variable : *env)
      if (data::StringOr(variable, "name") == "NVIDIA_VISIBLE_DEVICES") return true;
  }
  return false;
}

Result<std::vector<kube::Event>> ReadEvents(const kube::Client& client, const kube::Pod& pod) {
  std::string selector = "involvedObject.kind=Pod,involvedObject.name=" + pod.meta.name;
  if (!pod.meta.uid.empty()) selector += ",involvedObject.uid=" + pod.meta.uid;
  ASSIGN(auto events,
         client.List<kube::Event>({.ns = std::string(pod.meta.ns.view()), .field_selector = std::move(selector)}));
  std::ranges::sort(events, {}, &kube::Event::last);
  return events;
}

/// The last words of one container, of the run before if it waits to be started again. Nothing where there are none.
std::string LastWords(const kube::Client& client, const kube::Pod& pod, const kube::ContainerStatus& status) {
  kube::LogOptions options{.container = std::string(status.name.view()), .tail_lines = kLastLines};
  const bool waits = status.state.waiting.has_value() && status.last_state.terminated.has_value();
  for (const bool previous : {waits, true}) {
    options.previous = previous;
    const auto text = client.Logs(pod.meta.ns.view(), pod.meta.name, options);
    if (text && !text->empty()) return *text;
    if (status.restart_count == 0) break;
  }
  return {};
}

}  // namespace

Result<ClusterFacts> ReadCluster(const kube::Client& client, std::string ns) {
  ClusterFacts out;
  std::string policy_ns;
  TRY(Allowed(ReadPolicies(client, out, policy_ns), out.sees_policies));
  if (!policy_ns.empty()) out.ns = std::move(policy_ns);
  if (!ns.empty()) out.ns = std::move(ns);
  // Nodes and Pods are large: while one answer is read, the server makes the other.
  Result<> nodes;
  std::jthread reads_nodes([&] { nodes = ReadNodes(client, out); });
  Result<> pods = ReadPods(client, out);
  reads_nodes.join();
  TRY(Allowed(std::move(nodes), out.sees_nodes));
  TRY(Allowed(std::move(pods), out.sees_pods));
  return out;
}

std::string WhereIs(const kube::Client& client, const std::string& ns, const std::string& name) {
  std::string out;
  // Whatever may not be listed tells nothing, and is no error here.
  const auto elsewhere = client.List<kube::Pod>({.field_selector = "metadata.name=" + name});
  if (elsewhere)
    for (const kube::Pod& pod : *elsewhere)
      out += "; a Pod of that name is in namespace " + std::string(pod.meta.ns.view());
  const auto refused = client.List<kube::Event>({.ns = ns, .field_selector = "reason=FailedCreate"});
  const kube::Event* newest = nullptr;
  if (refused)
    for (const kube::Event& event : *refused) {
      const std::string& owner = event.involved.name;
      const bool meant = owner == name || owner.starts_with(name + "-") || name.starts_with(owner + "-");
      if (meant && (newest == nullptr || newest->last <= event.last)) newest = &event;
    }
  if (newest != nullptr)
    out += "; " + std::string(newest->involved.kind.view()) + " " + newest->involved.name +
           " could not make its Pods: " + newest->message;
  return out;
}

Result<PodFacts> ReadPod(const kube::Client& client, const std::string& ns, const std::string& name) {
  ASSIGN(const boost::json::object object, client.Get(kube::Ref<kube::Pod>(ns, name)));
  PodFacts out;
  ASSIGN(out.pod, kube::Decode<kube::Pod>(object));
  out.visible_devices_by_hand = SetsVisibleDevices(object);
  ASSIGN(out.events, ReadEvents(client, out.pod));
  for (const auto* statuses : {&out.pod.status.init_containers, &out.pod.status.containers})
    for (const kube::ContainerStatus& status : *statuses) {
      if (!status.state.running && !status.state.terminated && !status.last_state.terminated) continue;
      if (std::string words = LastWords(client, out.pod, status); !words.empty())
        out.logs.emplace(status.name.view(), std::move(words));
    }
  return out;
}

}  // namespace gpuop::cli::kubectl_gpu
