#include "sim/controllers/garbage_collector.h"

#include <algorithm>

#include "kube/types/read_meta.h"
#include "sim/controllers/pod_control.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

kube::ObjectRef RefTo(const GarbageNode& node) { return {*node.resource, std::string(node.ns.view()), node.name, {}}; }

bool Contains(const std::vector<Interned>& list, std::string_view what) {
  return std::ranges::any_of(list, [&](const Interned& one) { return one == what; });
}

std::string_view UidOf(const json::value& reference) {
  const auto* uid = reference.is_object() ? reference.get_object().if_contains("uid") : nullptr;
  return uid != nullptr && uid->is_string() ? std::string_view(uid->get_string()) : std::string_view();
}

/// What must not stand in the way: the object has gone, or has been replaced.
Result<> Tolerant(Result<> r) {
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

}  // namespace

/// Follows one resource. Keeps UIDs by key, so that a new list shows what has gone.
class GarbageCollector::Monitor final : public kube::Feed::Sink {
 public:
  Monitor(GarbageCollector& owner, kube::Resource resource, std::uint64_t number)
      : owner_(owner),
        resource_(std::make_shared<const kube::Resource>(std::move(resource))),
        feed_(owner.parts_.executor, owner.parts_.client, *resource_, Options(owner, number), *this) {}
  void Start() { feed_.Start(); }

  void OnListBegin() override {
    in_list_ = true;
    listed_.clear();
  }
  Result<> OnObject(const json::object& object) override {
    ASSIGN(const kube::ObjectMeta meta, kube::ReadMeta(object));
    const std::string key = meta.Key();
    if (in_list_) listed_.insert(key);
    Interned& uid = uids_[key];
    if (!uid.empty() && uid != meta.uid) owner_.Gone(uid);
    uid = meta.uid;
    owner_.Seen(resource_, meta);
    return {};
  }
  void OnDeleted(const json::object& object) override {
    if (const auto meta = kube::ReadMeta(object)) Forget(meta->Key());
  }
  void OnListEnd() override {
    in_list_ = false;
    std::vector<std::string> gone;
    for (const auto& [key, uid] : uids_)
      if (!listed_.contains(key)) gone.push_back(key);
    for (const std::string& key : gone) Forget(key);
    listed_.clear();
  }
  /// The resource is served no more: with it go its objects.
  void ForgetAll() {
    for (const auto& [key, uid] : std::exchange(uids_, {})) owner_.Gone(uid);
  }

 private:
  static kube::CacheOptions Options(const GarbageCollector& owner, std::uint64_t number) {
    kube::CacheOptions options;
    options.seed = owner.parts_.seed * 1024 + number;
    options.log = &owner.parts_.log;
    return options;
  }
  void Forget(const std::string& key) {
    const auto it = uids_.find(key);
    if (it == uids_.end()) return;
    const Interned uid = std::move(it->second);
    uids_.erase(it);
    owner_.Gone(uid);
  }

  GarbageCollector& owner_;
  const std::shared_ptr<const kube::Resource> resource_;
  std::map<std::string, Interned> uids_;
  std::set<std::string> listed_;
  bool in_list_ = false;
  kube::Feed feed_;
};

GarbageCollector::GarbageCollector(ControllerParts parts, ResourceList resources)
    : parts_(std::move(parts)),
      resources_(std::move(resources)),
      controller_(parts_.executor, parts_.log, {.name = "garbage-collector", .seed = parts_.seed + 4},
                  [this](const std::string& uid) { return Reconcile(uid); }) {}

GarbageCollector::~GarbageCollector() = default;

void GarbageCollector::Start() {
  Refresh();
  controller_.Start();
}

void GarbageCollector::RefreshSoon() {
  if (std::exchange(refresh_soon_, true)) return;
  parts_.executor.Post([this, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    refresh_soon_ = false;
    Refresh();
  });
}

void GarbageCollector::Refresh() {
  std::set<kube::Resource> served;
  for (kube::Resource& resource : resources_()) served.insert(std::move(resource));
  for (auto it = monitors_.begin(); it != monitors_.end();) {
    if (served.contains(it->first)) {
      ++it;
      continue;
    }
    it->second->ForgetAll();
    it = monitors_.erase(it);
  }
  for (const kube::Resource& resource : served) {
    auto& monitor = monitors_[resource];
    if (monitor != nullptr) continue;
    monitor = std::make_unique<Monitor>(*this, resource, monitors_.size());
    monitor->Start();
  }
}

void GarbageCollector::Seen(const std::shared_ptr<const kube::Resource>& resource, const kube::ObjectMeta& meta) {
  GarbageNode node{.resource = resource,
                   .ns = meta.ns,
                   .uid = meta.uid,
                   .name = meta.name,
                   .owners = {},
                   .deleting = meta.deleting(),
                   .waits_for_dependents = false,
                   .orphans_dependents = false};
  node.owners.reserve(meta.owners.size());
  for (const kube::OwnerReference& o : meta.owners)
    node.owners.push_back({o.api_version, o.kind, o.name, o.uid, o.block_owner_deletion});
  for (const Interned& f : meta.finalizers) {
    node.waits_for_dependents |= f == kForegroundDeletion;
    node.orphans_dependents |= f == kOrphan;
  }
  // Most writes, heartbeats above all, change nothing that matters here.
  if (const GarbageNode* known = graph_.Find(node.uid); known != nullptr && *known == node) return;
  LookAt(graph_.Put(std::move(node)));
}

void GarbageCollector::Gone(const Interned& uid) { LookAt(graph_.Remove(uid)); }

void GarbageCollector::LookAt(const std::vector<Interned>& uids) {
  for (const Interned& uid : uids) {
    const GarbageNode* node = graph_.Find(uid);
    if (node != nullptr && (!node->owners.empty() || node->deleting)) controller_.Add(std::string(uid.view()));
  }
}

Result<GarbageAction> GarbageCollector::Plan(const std::string& uid) {
  return PlanGarbage(graph_, uid,
                     [this](const GarbageNode& item, const GarbageOwner& owner) { return OwnerExists(item, owner); });
}

Result<kube::Next> GarbageCollector::Reconcile(const std::string& uid) {
  ASSIGN(GarbageAction action, Plan(uid));
  if (action.kind == GarbageAction::Kind::kNothing) return kube::Next{};
  const GarbageNode node = *graph_.Find(uid);
  if (!node.deleting) {
    // The watch may lag behind: nothing is deleted for owners that it has lost meanwhile.
    const auto live = parts_.client.Get(RefTo(node));
    if (!live && live.error().code == Code::kNotFound) return kube::Next{};
    if (!live) return std::unexpected(live.error());
    ASSIGN(const kube::ObjectMeta meta, kube::ReadMeta(*live));
    if (meta.uid != uid) return kube::Next{};
    Seen(node.resource, meta);
    ASSIGN(action, Plan(uid));
  }
  if (auto r = Act(node, action); !r)
    return std::unexpected(
        std::move(r).error().During(node.resource->GroupPlural() + " " + kube::KeyOf(node.ns.view(), node.name)));
  return kube::Next{};
}

Result<> GarbageCollector::Act(const GarbageNode& node, const GarbageAction& action) {
  using Kind = GarbageAction::Kind;
  switch (action.kind) {
    case Kind::kNothing: return {};
    case Kind::kOrphanDependents:
      for (const GarbageNode* d : graph_.Dependents(node.uid)) TRY(DropOwners(GarbageNode(*d), action.uids));
      return DropFinalizer(node, kOrphan);
    case Kind::kDropForeground: return DropFinalizer(node, kForegroundDeletion);
    case Kind::kLookAtDependents: LookAt(action.uids); return {};
    case Kind::kDropOwners: return DropOwners(node, action.uids);
    case Kind::kDeleteBackground: return Delete(node, kube::Propagation::kBackground);
    case Kind::kDeleteOrphaning: return Delete(node, kube::Propagation::kOrphan);
    case Kind::kDeleteForeground:
      if (!action.unblock.empty())
        for (const GarbageOwner& o : node.owners) TRY(Unblock(node, o.uid));
      return Delete(node, kube::Propagation::kForeground);
  }
  return {};
}

Result<> GarbageCollector::Delete(const GarbageNode& node, kube::Propagation propagation) {
  auto r = parts_.client.Delete(RefTo(node), {.propagation = propagation, .uid = std::string(node.uid.view())});
  if (!r && r.error().code != Code::kNotFound && r.error().code != Code::kConflict)
    return std::unexpected(std::move(r).error());
  return {};
}

Result<> GarbageCollector::DropOwners(const GarbageNode& node, const std::vector<Interned>& uids) {
  const auto live = parts_.client.Get(RefTo(node));
  if (!live && live.error().code == Code::kNotFound) return {};
  if (!live) return std::unexpected(live.error());
  ASSIGN(const kube::ObjectMeta meta, kube::ReadMeta(*live));
  if (meta.uid != node.uid || meta.owners.empty()) return {};
  json::array rest;
  for (const json::value& o : live->at("metadata").at("ownerReferences").as_array())
    if (!Contains(uids, UidOf(o))) rest.push_back(o);
  return Tolerant(MergePatch(parts_.client, RefTo(node),
                             {{"metadata", {{"uid", node.uid.view()}, {"ownerReferences", std::move(rest)}}}},
                             meta.resource_version));
}

Result<> GarbageCollector::Unblock(const GarbageNode& node, const Interned& owner) {
  const auto live = parts_.client.Get(RefTo(node));
  if (!live && live.error().code == Code::kNotFound) return {};
  if (!live) return std::unexpected(live.error());
  ASSIGN(const kube::ObjectMeta meta, kube::ReadMeta(*live));
  if (meta.uid != node.uid || meta.owners.empty()) return {};
  json::array all = live->at("metadata").at("ownerReferences").as_array();
  for (json::value& o : all)
    if (UidOf(o) == owner) o.as_object()["blockOwnerDeletion"] = false;
  return Tolerant(MergePatch(parts_.client, RefTo(node),
                             {{"metadata", {{"uid", node.uid.view()}, {"ownerReferences", std::move(all)}}}},
                             meta.resource_version));
}

Result<> GarbageCollector::DropFinalizer(const GarbageNode& node, std::string_view finalizer) {
  const auto live = parts_.client.Get(RefTo(node));
  if (!live && live.error().code == Code::kNotFound) return {};
  if (!live) return std::unexpected(live.error());
  ASSIGN(const kube::ObjectMeta meta, kube::ReadMeta(*live));
  if (meta.uid != node.uid) return {};
  json::array rest;
  for (const Interned& f : meta.finalizers)
    if (f != finalizer) rest.emplace_back(f.view());
  if (rest.size() == meta.finalizers.size()) return {};
  return Tolerant(MergePatch(parts_.client, RefTo(node),
                             {{"metadata", {{"uid", node.uid.view()}, {"finalizers", std::move(rest)}}}},
                             meta.resource_version));
}

Result<bool> GarbageCollector::OwnerExists(const GarbageNode& item, const GarbageOwner& owner) {
  const auto [group, version] = kube::SplitApiVersion(owner.api_version);
  for (const kube::Resource& resource : resources_()) {
    if (resource.group != group || resource.kind != owner.kind) continue;
    const auto live = parts_.client.Get(
        {resource, std::string(resource.namespaced ? item.ns.view() : ""), std::string(owner.name.view()), {}});
    if (!live && live.error().code == Code::kNotFound) return false;
    if (!live) return std::unexpected(live.error());
    ASSIGN(const kube::ObjectMeta meta, kube::ReadMeta(*live));
    return meta.uid == owner.uid;
  }
  // A kind that nobody serves now may be served again: nothing is deleted on its account.
  return Fail(Code::kUnavailable,
              "owner of unknown kind " + std::string(owner.api_version.view()) + "/" + std::string(owner.kind.view()));
}

}  // namespace gpuop::sim
