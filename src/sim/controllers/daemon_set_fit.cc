#include <algorithm>

#include "kube/list_text.h"
#include "kube/placement.h"
#include "sim/controllers/daemon_set_plan.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

struct TemplateSpec {
  DaemonPlacement place;
  bool host_network = false;

  template <class V>
  void Visit(V& v) {
    place.Visit(v);
    v("hostNetwork", host_network);
  }
};

struct TemplateRoot {
  TemplateSpec spec;

  template <class V>
  void Visit(V& v) {
    v("spec", spec);
  }
};

/// https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations
void AddTolerations(std::vector<kube::Toleration>& to, bool host_network) {
  const auto add = [&](std::string_view condition, std::string_view effect) {
    kube::Toleration t;
    t.key = "node.kubernetes.io/" + std::string(condition);
    t.op = "Exists";
    t.effect = effect;
    std::erase_if(to, [&](const kube::Toleration& have) { return have.key == t.key && have.effect == t.effect; });
    to.push_back(std::move(t));
  };
  add("not-ready", "NoExecute");
  add("unreachable", "NoExecute");
  add("disk-pressure", "NoSchedule");
  add("memory-pressure", "NoSchedule");
  add("pid-pressure", "NoSchedule");
  add("unschedulable", "NoSchedule");
  if (host_network) add("network-unavailable", "NoSchedule");
}

json::object TolerationJson(const kube::Toleration& t) {
  json::object out;
  const auto put = [&](const char* field, const Interned& value) {
    if (!value.empty()) out[field] = value.view();
  };
  put("key", t.key);
  put("operator", t.op);
  put("value", t.value);
  put("effect", t.effect);
  if (t.seconds) out["tolerationSeconds"] = *t.seconds;
  return out;
}

/// One term that only `node` meets stands for all that the template requires: whether the node fits is decided already.
void PinTo(json::object& spec, const std::string& node) {
  const auto object = [](json::value& v) -> json::object& {
    return v.is_object() ? v.get_object() : v.emplace_object();
  };
  json::object& affinity = object(object(spec["affinity"])["nodeAffinity"]);
  const json::object only{{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
  const json::object term{{"matchFields", json::array{only}}};
  affinity["requiredDuringSchedulingIgnoredDuringExecution"] = json::object{{"nodeSelectorTerms", json::array{term}}};
}

}  // namespace

Result<DaemonPlacement> ReadDaemonPlacement(const kube::DaemonSet& set) {
  ASSIGN(const json::object whole, kube::ParseObject(set.spec.pod_template.whole.text));
  ASSIGN(TemplateRoot root, kube::Decode<TemplateRoot>(whole));
  AddTolerations(root.spec.place.tolerations, root.spec.host_network);
  return std::move(root.spec.place);
}

struct DaemonFitter::Parsed {
  DaemonPlacement place;
  kube::Affinity affinity;
};

Result<DaemonFitter> DaemonFitter::For(const kube::DaemonSet& set) {
  DaemonFitter fitter;
  auto parsed = std::make_shared<Parsed>();
  ASSIGN(parsed->place, ReadDaemonPlacement(set));
  ASSIGN(parsed->affinity, ParseAffinity(parsed->place.affinity));
  fitter.parsed_ = std::move(parsed);
  return fitter;
}

DaemonFit DaemonFitter::Check(const kube::Node& node) const {
  const DaemonPlacement& place = parsed_->place;
  if (!place.node_name.empty() && place.node_name != node.meta.name) return {};
  if (!MatchesNode(place.node_selector, parsed_->affinity.node, node.meta.name, node.meta.labels)) return {};
  const auto repels = [&](const kube::Taint& taint, std::string_view effect) {
    return taint.effect == effect && !Tolerated(taint, place.tolerations);
  };
  const auto any = [&](std::string_view effect) {
    return std::ranges::any_of(node.spec.taints, [&](const kube::Taint& t) { return repels(t, effect); });
  };
  const bool evicted = any("NoExecute");
  return {.should_run = !evicted && !any("NoSchedule"), .may_stay = !evicted};
}

std::string TargetNode(const kube::Pod& pod) {
  if (!pod.spec.node_name.empty()) return std::string(pod.spec.node_name.view());
  const auto affinity = ParseAffinity(pod.spec.affinity);
  if (!affinity) return {};
  const auto only = OnlyNodes(affinity->node);
  return only && only->size() == 1 ? only->front() : std::string();
}

Result<json::object> DaemonPod(const kube::DaemonSet& set, const std::string& node, std::string_view hash) {
  ASSIGN(json::object pod, PodFromTemplate(set.spec.pod_template.whole, kube::DaemonSet::kResource, set.meta));
  json::object& meta = pod["metadata"].get_object();
  json::value& labels = meta["labels"];
  if (!labels.is_object()) labels.emplace_object();
  labels.get_object()["controller-revision-hash"] = hash;
  labels.get_object()["pod-template-generation"] = std::to_string(set.meta.generation);
  json::value& spec = pod["spec"];
  if (!spec.is_object()) return Fail(Code::kInvalid, "pod template of " + set.meta.Key() + ": spec is missing");
  PinTo(spec.get_object(), node);
  ASSIGN(const DaemonPlacement place, ReadDaemonPlacement(set));
  json::array tolerations;
  for (const kube::Toleration& t : place.tolerations) tolerations.push_back(TolerationJson(t));
  spec.get_object()["tolerations"] = std::move(tolerations);
  return pod;
}

}  // namespace gpuop::sim
