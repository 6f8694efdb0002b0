#include "operator/node_pods.h"

#include <algorithm>
#include <boost/json.hpp>

#include "kube/string_map.h"
#include "operator/names.h"
#include "operator/object_shape.h"

namespace gpuop::op {
namespace {

struct Resources {
  kube::StringMap requests, limits;
  template <class V>
  void Visit(V& v) {
    v("requests", requests);
    v("limits", limits);
  }
};

struct Container {
  Resources resources;
  template <class V>
  void Visit(V& v) {
    v("resources", resources);
  }
};

struct Spec {
  std::vector<Container> containers;
  kube::StringMap node_selector;
  template <class V>
  void Visit(V& v) {
    v("containers", containers);
    v("nodeSelector", node_selector);
  }
};

using Slim = ObjectShape<Spec, PodPhase>;

bool AsksForGpus(const Spec& spec) {
  const auto asks = [](const kube::StringMap& resources) {
    return std::ranges::any_of(resources, [](const auto& entry) {
      return entry.first.view().starts_with("nvidia.com/") && entry.second != "0";
    });
  };
  return std::ranges::any_of(
      spec.containers, [&asks](const Container& c) { return asks(c.resources.requests) || asks(c.resources.limits); });
}

}  // namespace

Result<NodePod> NodePod::FromJson(const boost::json::object& in) {
  ASSIGN(Slim slim, kube::Decode<Slim>(in));
  NodePod out;
  out.uses_gpus = AsksForGpus(slim.spec) && !slim.status.ended();
  out.of_daemon_set =
      std::ranges::any_of(slim.meta.owners, [](const kube::OwnerReference& o) { return o.kind == "DaemonSet"; });
  for (const auto& [key, value] : slim.spec.node_selector)
    if (key.view().starts_with(kDeployPrefix)) out.operands.emplace_back(key.view().substr(kDeployPrefix.size()));
  out.meta = std::move(slim.meta);
  out.meta.annotations = {};
  out.meta.labels = {};
  return out;
}

std::optional<NodePods::List> NodePods::Follow(const std::string& node) {
  std::shared_ptr<kube::Cache<NodePod>> cache;
  {
    Lock l(mu_);
    auto& slot = caches_[node];
    if (!slot) {
      kube::CacheOptions options;
      options.field_selector = "spec.nodeName=" + node;
      options.log = &log_;
      cache = slot = std::make_shared<kube::Cache<NodePod>>(executor_, client_, NodePod::kResource, std::move(options));
    }
  }
  if (cache) {
    cache->OnChange([tell = on_change_, node](const kube::Change<NodePod>&) { tell(node); });
    cache->OnSynced([tell = on_change_, node] { tell(node); });
    cache->Start();
  }
  return Of(node);
}

std::optional<NodePods::List> NodePods::Of(const std::string& node) const {
  Lock l(mu_);
  const auto it = caches_.find(node);
  if (it == caches_.end() || !it->second->HasSynced()) return std::nullopt;
  return it->second->List();
}

void NodePods::Forget(const std::string& node) {
  std::shared_ptr<kube::Cache<NodePod>> ended;  // ends without the lock: it waits for its handlers
  Lock l(mu_);
  const auto it = caches_.find(node);
  if (it == caches_.end()) return;
  ended = std::move(it->second);
  caches_.erase(it);
}

}  // namespace gpuop::op
