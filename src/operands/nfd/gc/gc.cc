#include "operands/nfd/gc/gc.h"

#include "base/text.h"

namespace gpuop::operands::nfd {
namespace {

/// Of node feature discovery's topology updater; the definition is rarely there.
const kube::Resource kTopology{"topology.node.k8s.io", "v1alpha2", "noderesourcetopologies", "NodeResourceTopology",
                               false};
/// The turn that looks at all objects; no node is called so.
constexpr std::string_view kAll = "*";

kube::CacheOptions CacheFor(int page, std::uint64_t seed, Log& log, MetricRegistry& metrics) {
  kube::CacheOptions out;
  out.page = page;
  out.seed = seed;
  out.log = &log;
  out.metrics = &metrics;
  return out;
}

}  // namespace

GarbageCollector::GarbageCollector(Executor& executor, const kube::Client& client, Options options, Log& log,
                                   MetricRegistry& metrics)
    : executor_(executor),
      client_(client),
      options_(options),
      log_(log),
      deleted_(metrics.counter("nfd_gc_objects_deleted_total", "Objects of nodes that are gone.")),
      nodes_(executor, client, CacheFor(options.page, options.seed, log, metrics)),
      controller_(executor, log,
                  {.name = "nfd-gc",
                   .back_off = {std::chrono::seconds(1), std::chrono::minutes(10), 0.5},
                   .seed = options.seed,
                   .metrics = &metrics},
                  [this](const std::string& key) { return Reconcile(key); }) {
  add_ = controller_.Adder();
  controller_.Needs(nodes_);
  nodes_.OnChange([this](const kube::Change<NodeName>& change) {
    if (change.now) return;
    executor_.PostAfter(options_.grace, [add = add_, key = change.Key()] { add(key); });
  });
}

void GarbageCollector::Start() {
  controller_.Add(kAll);
  controller_.Start();
  nodes_.Start();
}

Result<kube::Next> GarbageCollector::Reconcile(const std::string& key) {
  if (key != kAll) {
    TRY(Collect(key));
    return kube::Next{};
  }
  TRY(LookAtAll());
  return kube::Next{.again = options_.interval};
}

Result<bool> GarbageCollector::IsGone(const std::string& node) const {
  if (nodes_.Get(node) != nullptr) return false;
  const auto live = client_.Get({NodeRecord::kResource, {}, node, {}});
  if (live) return false;
  if (live.error().code != Code::kNotFound) return std::unexpected(live.error());
  return true;
}

Result<> GarbageCollector::Delete(const kube::Resource& resource, const RecordMeta& object) {
  const auto deleted = client_.Delete({resource, std::string(object.ns.view()), object.name, {}}, {.uid = object.uid});
  if (!deleted && deleted.error().code != Code::kNotFound && deleted.error().code != Code::kConflict)
    return std::unexpected(deleted.error());
  if (!deleted) return {};
  deleted_.Add();
  log_.Info("an object of a node that is gone was deleted", {{"kind", resource.kind}, {"object", object.Key()}});
  return {};
}

Result<> GarbageCollector::Collect(const std::string& node) {
  ASSIGN(const bool gone, IsGone(node));
  if (!gone) return {};
  std::vector<RecordMeta> objects;
  kube::ListOptions of_node;
  of_node.label_selector = std::string(api::kNodeNameLabel) + "=" + node;
  TRY(client_.List(api::kNodeFeature, of_node, [&](const data::JsonObject& object) -> Result<> {
    objects.push_back(RecordMeta::FromJson(object));
    return {};
  }));
  for (const RecordMeta& object : objects) TRY(Delete(api::kNodeFeature, object));
  const auto topology = client_.Delete({kTopology, {}, node, {}});
  if (!topology && topology.error().code != Code::kNotFound && topology.error().code != Code::kForbidden)
    return std::unexpected(topology.error());
  return {};
}

Result<> GarbageCollector::LookAtAll() {
  std::set<std::string> missing;
  kube::ListOptions all;
  all.limit = options_.page;
  TRY(client_.List(api::kNodeFeature, all, [&](const data::JsonObject& object) -> Result<> {
    const std::string_view node = NodeOf(object);
    if (!node.empty() && nodes_.Get(node) == nullptr) missing.emplace(node);
    return {};
  }));
  for (const std::string& node : missing) TRY(Collect(node));
  return {};
}

}  // namespace gpuop::operands::nfd
