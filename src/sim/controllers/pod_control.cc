#include "sim/controllers/pod_control.h"

#include <algorithm>

#include "kube/types/read_meta.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

constexpr Duration kLongestWait = std::chrono::minutes(5);

}  // namespace

PodControl::PodControl(ControllerParts parts, SharedCaches& caches, EventWriter& events)
    : parts_(std::move(parts)), caches_(caches), events_(events) {
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) { See(change); });
}

void PodControl::See(const kube::Change<kube::Pod>& change) {
  const std::string& uid = change.any().meta.uid;
  const auto owner = owner_of_.find(uid);
  if (owner == owner_of_.end()) return;
  Pending& pending = pending_[owner->second];
  pending.created.erase(uid);
  if (!change.now || change.now->meta.deleting()) pending.deleted.erase(uid);
  if (pending.deleted.contains(uid)) return;
  if (pending.created.empty() && pending.deleted.empty()) pending_.erase(owner->second);
  owner_of_.erase(owner);
}

bool PodControl::Settled(const std::string& owner_uid) {
  const auto it = pending_.find(owner_uid);
  if (it == pending_.end()) return true;
  const TimePoint now = parts_.executor.Now();
  const auto too_old = [&](const auto& e) {
    if (now - e.second < kLongestWait) return false;
    owner_of_.erase(e.first);
    return true;
  };
  std::erase_if(it->second.created, too_old);
  std::erase_if(it->second.deleted, too_old);
  if (!it->second.created.empty() || !it->second.deleted.empty()) return false;
  pending_.erase(it);
  return true;
}

Result<> PodControl::CreateFor(const kube::ObjectReference& owner, const json::object& pod) {
  auto created = parts_.client.Create(kube::Pod::kResource, pod);
  if (!created) {
    // A namespace that is going away takes no more pods; that is no news.
    if (created.error().text.find("because it is being terminated") == std::string::npos)
      events_.Emit(owner, {"Warning", "FailedCreate", {}, "Error creating: " + created.error().text});
    return std::unexpected(std::move(created).error().During("create pod"));
  }
  ASSIGN(const kube::Pod made, kube::Decode<kube::Pod>(*created));
  const auto known = caches_.pods.Get(made.meta.Key());
  if (known == nullptr || known->meta.uid != made.meta.uid) {
    pending_[owner.uid].created[made.meta.uid] = parts_.executor.Now();
    owner_of_[made.meta.uid] = owner.uid;
  }
  events_.Emit(owner, {"Normal", "SuccessfulCreate", {}, "Created pod: " + made.meta.name});
  return {};
}

Result<> PodControl::DeleteFor(const kube::ObjectReference& owner, const kube::Pod& pod) {
  kube::DeleteOptions options;
  options.uid = pod.meta.uid;
  auto r = parts_.client.Delete(kube::Ref<kube::Pod>(std::string(pod.meta.ns.view()), pod.meta.name), options);
  if (!r && r.error().code != Code::kNotFound && r.error().code != Code::kConflict) {
    events_.Emit(owner, {"Warning", "FailedDelete", {}, "Error deleting: " + r.error().text});
    return std::unexpected(std::move(r).error().During("delete pod " + pod.meta.Key()));
  }
  const auto known = caches_.pods.Get(pod.meta.Key());
  if (known != nullptr && known->meta.uid == pod.meta.uid && !known->meta.deleting()) {
    pending_[owner.uid].deleted[pod.meta.uid] = parts_.executor.Now();
    owner_of_[pod.meta.uid] = owner.uid;
  }
  if (r) events_.Emit(owner, {"Normal", "SuccessfulDelete", {}, "Deleted pod: " + pod.meta.name});
  return {};
}

Result<> PodControl::SetOwners(const kube::Pod& pod, json::array owners) {
  return MergePatch(parts_.client, kube::Ref<kube::Pod>(std::string(pod.meta.ns.view()), pod.meta.name),
                    {{"metadata", {{"uid", pod.meta.uid}, {"ownerReferences", std::move(owners)}}}},
                    pod.meta.resource_version);
}

Result<bool> MayAdopt(const kube::Client& client, const kube::ObjectRef& owner, std::string_view uid) {
  const auto live = client.Get(owner);
  if (!live && live.error().code == Code::kNotFound) return false;
  if (!live) return std::unexpected(live.error());
  ASSIGN(const kube::ObjectMeta meta, kube::ReadMeta(*live));
  return meta.uid == uid && !meta.deleting();
}

Result<std::vector<PodPtr>> PodControl::ClaimFor(const kube::Resource& kind, const kube::ObjectMeta& owner,
                                                 const kube::LabelSelector& selector) {
  std::vector<PodPtr> out;
  for (const PodPtr& pod : caches_.pods.Find(kByController, owner.uid)) {
    if (kube::Matches(selector, pod->meta.labels) || owner.deleting() || pod->meta.deleting()) {
      out.push_back(pod);
      continue;
    }
    TRY(SetOwners(*pod, OwnersJson(pod->meta, owner.uid)));
  }
  if (owner.deleting()) return out;
  for (const PodPtr& pod : caches_.pods.Find(kByNamespace, std::string(owner.ns.view()) + "/orphan")) {
    if (pod->meta.deleting() || !kube::Matches(selector, pod->meta.labels)) continue;
    ASSIGN(const bool may, MayAdopt(parts_.client, {kind, std::string(owner.ns.view()), owner.name, {}}, owner.uid));
    if (!may) return out;
    json::array all = OwnersJson(pod->meta, {});
    all.push_back(ControllerReference(kind, owner));
    TRY(SetOwners(*pod, std::move(all)));
    out.push_back(pod);
  }
  return out;
}

Result<> MergePatch(const kube::Client& client, kube::ObjectRef ref, json::object patch,
                    std::string_view resource_version) {
  if (!resource_version.empty()) {
    json::value& meta = patch["metadata"];
    if (!meta.is_object()) meta.emplace_object();
    meta.get_object()["resourceVersion"] = resource_version;
  }
  TRY(client.Patch(ref, kube::PatchType::kMerge, patch));
  return {};
}

json::value OrNull(std::int64_t number) { return number == 0 ? json::value(nullptr) : json::value(number); }

}  // namespace gpuop::sim
