#pragma once
// A whole controller: every node with an NVIDIA PCI device carries the label nvidia.com/gpu.present=true, every other
// node does not. It follows the nodes, acts only while it leads, and sends nothing when all is right.

#include <boost/json.hpp>
#include <string>

#include "kube/cache.h"
#include "kube/controller.h"
#include "kube/lease.h"
#include "kube/types/node.h"

namespace gpuop::sample {

class GpuLabelController {
 public:
  GpuLabelController(Executor& executor, kube::Door& door, Log& log, std::string identity)
      : client_(door),
        nodes_(executor, client_, {.log = &log}),
        controller_(executor, log, {.name = "gpu-labels", .concurrency = 2},
                    [this](const std::string& node) { return Reconcile(node); }),
        lease_(
            executor, client_, {.ns = "default", .name = "gpu-labels", .identity = std::move(identity), .log = &log},
            [this] { controller_.Start(); }, [this] { controller_.Pause(); }) {
    controller_.Watch<kube::Node>(nodes_, [](const kube::Change<kube::Node>& c) {
      return !c.old || !c.now || kube::DiffersBeyondHeartbeat(*c.old, *c.now);
    });
    nodes_.Start();
    lease_.Start();
  }

  /// Gives the lead to another at once.
  void Stop(std::function<void()> done) { lease_.Stop(std::move(done)); }
  bool Leads() const { return lease_.Leads(); }
  std::uint64_t turns() const { return controller_.turns(); }

 private:
  /// What the label should be: "true", or null for none; nullopt when it is right already.
  static std::optional<boost::json::value> Plan(const kube::Node& node) {
    const bool has = node.meta.labels.Get("feature.node.kubernetes.io/pci-10de.present") == "true";
    const Interned* says = node.meta.labels.Find("nvidia.com/gpu.present");
    if (has ? says != nullptr && *says == "true" : says == nullptr) return std::nullopt;
    return has ? boost::json::value("true") : boost::json::value(nullptr);
  }

  Result<kube::Next> Reconcile(const std::string& name) {
    const auto node = nodes_.Get(name);
    if (!node) return kube::Next{};  // gone meanwhile
    const auto label = Plan(*node);
    if (!label) return kube::Next{};
    // With the resourceVersion, a node that changed meanwhile is a conflict: another turn, after a short wait.
    const boost::json::value patch = {
        {"metadata",
         {{"resourceVersion", node->meta.resource_version}, {"labels", {{"nvidia.com/gpu.present", *label}}}}}};
    TRY(client_.Patch(kube::Ref<kube::Node>(name), kube::PatchType::kMerge, patch));
    return kube::Next{};
  }

  kube::Client client_;
  kube::Cache<kube::Node> nodes_;
  kube::Controller controller_;
  kube::LeaderLease lease_;
};

}  // namespace gpuop::sample
