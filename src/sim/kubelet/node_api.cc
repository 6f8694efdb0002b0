#include "sim/kubelet/node_api.h"

#include "base/text.h"
#include "data/json.h"
#include "kube/types/cluster.h"

namespace gpuop::sim {

namespace json = boost::json;

Result<> PatchNodeStatus(const kube::Client& client, const std::string& node, json::object status) {
  kube::ObjectRef ref = kube::Ref<kube::Node>(node);
  ref.subresource = "status";
  TRY(client.Patch(ref, kube::PatchType::kStrategic, json::object{{"status", std::move(status)}}));
  return {};
}

void RenewNodeLease(const kube::Client& client, const kube::Cache<kube::Node>& nodes, Log& log, const std::string& name,
                    WallTime wall) {
  const std::string now = FormatMicroTime(wall);
  auto r = client.Patch(kube::Ref<kube::Lease>("kube-node-lease", name), kube::PatchType::kMerge,
                        json::object{{"spec", {{"renewTime", now}}}});
  if (r || r.error().code != Code::kNotFound) return;
  const auto node = nodes.Get(name);
  if (node == nullptr) return;
  const json::object lease{
      {"apiVersion", "coordination.k8s.io/v1"},
      {"kind", "Lease"},
      {"metadata",
       {{"name", name},
        {"namespace", "kube-node-lease"},
        {"ownerReferences",
         json::array{{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node->meta.name}, {"uid", node->meta.uid}}}}}},
      {"spec", {{"holderIdentity", name}, {"leaseDurationSeconds", 40}, {"renewTime", now}}}};
  if (auto made = client.Create(kube::Lease::kResource, lease); !made && made.error().code != Code::kAlreadyExists)
    log.Warn("lease not made", {{"node", name}, {"error", made.error().text}});
}

Result<std::int64_t> PatchPodStatus(const kube::Client& client, const kube::Pod& pod, json::object status) {
  kube::ObjectRef ref = kube::Ref<kube::Pod>(std::string(pod.meta.ns.view()), pod.meta.name);
  ref.subresource = "status";
  const json::object patch{{"metadata", {{"uid", pod.meta.uid}}}, {"status", std::move(status)}};
  auto r = client.Patch(ref, kube::PatchType::kMerge, patch);
  if (!r && r.error().code == Code::kNotFound) return 0;
  if (!r) return std::unexpected(std::move(r).error());
  const auto* meta = r->if_contains("metadata");
  return meta == nullptr ? 0 : ParseInt(data::StringOr(*meta, "resourceVersion")).value_or(0);
}

Result<> LetPodGo(const kube::Client& client, const kube::Pod& pod) {
  kube::DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = pod.meta.uid;
  auto r = client.Delete(kube::Ref<kube::Pod>(std::string(pod.meta.ns.view()), pod.meta.name), options);
  if (r || r.error().code == Code::kNotFound || r.error().code == Code::kConflict) return {};
  return std::unexpected(std::move(r).error());
}

}  // namespace gpuop::sim
