#include "operator/mark_pods.h"

#include <boost/json.hpp>

#include "operator/names.h"
#include "operator/object_shape.h"

namespace gpuop::op {
namespace {

constexpr const char* kNodeIndex = "node";

struct Variable {
  Interned name, value;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("value", value);
  }
};

struct Container {
  std::vector<Variable> env;
  template <class V>
  void Visit(V& v) {
    v("env", env);
  }
};

struct Spec {
  Interned node;
  std::vector<Container> containers;
  template <class V>
  void Visit(V& v) {
    v("nodeName", node);
    v("containers", containers);
  }
};

using Slim = ObjectShape<Spec, PodPhase>;

NodeMarks MarksOf(const Slim& pod) {
  if (pod.status.ended()) return {};
  if (pod.meta.labels.Get(kAppLabel) == kValidatorApp) return ValidatorMarks();
  PluginMarks plugin;
  for (const Container& container : pod.spec.containers)
    for (const Variable& variable : container.env) plugin.Add(variable.name, variable.value);
  return plugin.Marks();
}

}  // namespace

Result<MarkingPod> MarkingPod::FromJson(const boost::json::object& in) {
  ASSIGN(Slim slim, kube::Decode<Slim>(in));
  MarkingPod out;
  out.marks = TextOf(MarksOf(slim));
  out.node = slim.spec.node;
  out.meta = std::move(slim.meta);
  out.meta.annotations = {};
  out.meta.labels = {};
  return out;
}

std::optional<NodeMarks> MarkPods::Follow(const std::string& node) {
  std::shared_ptr<kube::Cache<MarkingPod>> fresh;
  {
    Lock l(mu_);
    waiting_.insert(node);
    if (!cache_) {
      kube::CacheOptions options;
      options.ns = ns_;
      options.label_selector = kMarkingPodsSelector;
      options.log = &log_;
      fresh = cache_ =
          std::make_shared<kube::Cache<MarkingPod>>(executor_, client_, MarkingPod::kResource, std::move(options));
    }
  }
  if (fresh) {
    fresh->AddIndex(kNodeIndex, [](const MarkingPod& pod, const auto& emit) { emit(pod.node); });
    fresh->OnChange([tell = on_change_](const kube::Change<MarkingPod>& c) { tell(c.any().node); });
    fresh->OnSynced([this] { TellAll(); });
    fresh->Start();
  }
  return Of(node);
}

void MarkPods::TellAll() const {
  std::set<std::string> all;
  {
    Lock l(mu_);
    all = waiting_;
  }
  for (const std::string& node : all) on_change_(node);
}

std::optional<NodeMarks> MarkPods::Of(const std::string& node) const {
  Lock l(mu_);
  if (!cache_ || !waiting_.contains(node) || !cache_->HasSynced()) return std::nullopt;
  NodeMarks out;
  for (const auto& pod : cache_->Find(kNodeIndex, node)) out.merge(ParseMarks(pod->marks));
  return out;
}

void MarkPods::Forget(const std::string& node) {
  std::shared_ptr<kube::Cache<MarkingPod>> ended;  // ends without the lock: it waits for its handlers
  Lock l(mu_);
  if (waiting_.erase(node) == 0 || !waiting_.empty()) return;
  ended = std::move(cache_);
}

}  // namespace gpuop::op
