#include "operator/keeper.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "operands/build/rbac_kinds.h"

namespace gpuop::op {
namespace {

/// How long the cache may take to see what was written.
constexpr std::chrono::seconds kLookAgain{10};

bool IsDaemonSet(const kube::Resource& resource) { return resource.kind == "DaemonSet"; }

/// The kind of a binding's role, or of a role's binding; nullptr of other kinds.
const kube::Resource* CounterpartOf(const kube::Resource& resource) {
  for (const bool namespaced : {true, false}) {
    if (resource == operands::RoleKind(namespaced)) return &operands::BindingKind(namespaced);
    if (resource == operands::BindingKind(namespaced)) return &operands::RoleKind(namespaced);
  }
  return nullptr;
}

/// NVIDIA's own operator does not label what it makes for a ClusterPolicy: its driver DaemonSets are known by name.
std::string StateByName(std::string_view name) {
  if (name.starts_with("nvidia-driver-daemonset")) return "state-driver";
  if (name.starts_with("nvidia-vgpu-manager-daemonset")) return "state-vgpu-manager";
  return {};
}

}  // namespace

std::string Keeper::NameOf(const kube::Resource& resource, std::string_view key) {
  return resource.GroupPlural().append("/").append(key);
}

Keeper::Keeper(Executor& executor, World& world, const kube::Client& client, Log& log, Options options,
               std::function<void(const std::string&)> on_change)
    : executor_(executor),
      world_(world),
      client_(client),
      log_(log),
      options_(std::move(options)),
      on_change_(std::move(on_change)),
      applier_(client, executor, log),
      controller_(executor, log,
                  {.name = "objects",
                   .concurrency = options_.concurrency,
                   .back_off = {std::chrono::milliseconds(100), std::chrono::seconds(30), 0.1},
                   .seed = options_.seed,
                   .metrics = options_.metrics},
                  [this](const std::string& name) { return Turn(name); }) {
  for (const auto kinds : {KindsAlways(), KindsMaybe()})
    for (const kube::Resource& r : kinds) kinds_[r.GroupPlural()] = r;
  world_.OnObject([add = controller_.Adder()](const kube::Resource& r, const kube::Change<OwnObject>& c) {
    if (c.old && c.now && !DiffersInWish(*c.old, *c.now)) return;
    if ((c.now && c.now->ours) || (c.old && c.old->ours)) add(NameOf(r, c.Key()));
    if (const auto* other = CounterpartOf(r); other != nullptr && !c.old && c.now->ours) add(NameOf(*other, c.Key()));
  });
}

void Keeper::Want(const std::string& owner, Wish wish) {
  std::map<std::string, std::uint64_t> before;
  std::vector<std::string> turns;
  {
    Lock l(mu_);
    for (const auto& [name, entry] : entries_)
      if (entry.wanted) before[name] = entry.wanted->hash;
    wishes_[owner] = std::move(wish);
    Merge();
    for (const auto& [name, entry] : entries_) {
      const auto it = before.find(name);
      if (entry.wanted && (it == before.end() || it->second != entry.wanted->hash)) turns.push_back(name);
    }
  }
  // In the order of the kinds, so that accounts exist before the Pods that need them.
  for (const auto& [resource, cache] : world_.AllObjects()) {
    const std::string prefix = resource.GroupPlural() + "/";
    for (const std::string& name : turns)
      if (name.starts_with(prefix)) controller_.Add(name);
  }
  for (const Unwanted& unwanted : AllUnwanted()) controller_.Add(NameOf(unwanted.resource, unwanted.key));
}

std::vector<Keeper::Unwanted> Keeper::AllUnwanted() const {
  std::vector<Unwanted> out;
  for (const auto& [resource, cache] : world_.AllObjects()) {
    for (const auto& live : cache->List()) {
      const Fate fate = live->ours ? FateOf(resource, *live) : Fate::kStays;
      if (fate != Fate::kStays) out.push_back({resource, live->meta.Key(), fate});
    }
  }
  return out;
}

void Keeper::Preview(DryRunText& out) const {
  std::vector<std::shared_ptr<const Wanted>> all;
  {
    Lock l(mu_);
    for (const auto& [name, entry] : entries_) all.push_back(entry.wanted);
  }
  for (const auto& wanted : all) {
    const operands::Object& object = wanted->object;
    const auto* cache = world_.Objects(object.resource);
    const auto live = cache == nullptr ? nullptr : cache->Get(object.ns(), object.name());
    out.AddObject(object, live.get());
  }
  for (const Unwanted& unwanted : AllUnwanted())
    out.AddRemoval(unwanted.resource.kind + " " + std::string(kube::SplitKey(unwanted.key).second),
                   unwanted.fate == Fate::kGoesWithoutItsPods ? " and leave its Pods running" : "");
}

void Keeper::Forget(const std::string& owner) {
  Lock l(mu_);
  wishes_.erase(owner);
  Merge();
}

/// Puts all owners' wishes together. An object that several want belongs to all of them.
void Keeper::Merge() {
  std::map<std::string, std::shared_ptr<Wanted>> merged;
  for (const auto& [owner, wish] : wishes_) {
    for (const operands::Object& object : wish.objects) {
      auto& slot = merged[NameOf(object.resource, kube::KeyOf(object.ns(), object.name()))];
      if (!slot) {
        slot = std::make_shared<Wanted>(Wanted{object, 0, {owner}});
        continue;
      }
      if (!slot->owners.insert(owner).second) continue;  // pools of one driver share accounts
      auto& refs = slot->object.body["metadata"].as_object()["ownerReferences"].as_array();
      for (boost::json::value& ref : refs) ref.as_object()["controller"] = false;
      for (boost::json::value ref : object.body.at("metadata").at("ownerReferences").as_array()) {
        ref.as_object()["controller"] = false;
        refs.push_back(std::move(ref));
      }
    }
  }
  for (auto& [name, wanted] : merged) {
    wanted->hash = Hash64(boost::json::serialize(wanted->object.body));
    Entry& entry = entries_[name];
    if (entry.wanted && entry.wanted->hash == wanted->hash && entry.wanted->owners == wanted->owners) continue;
    if (entry.checked_hash != wanted->hash) entry.state = {};
    entry.wanted = std::move(wanted);
  }
  std::erase_if(entries_, [&merged](const auto& e) { return !merged.contains(e.first); });
}

Keeper::State Keeper::StateOf(const kube::Resource& resource, std::string_view key) const {
  Lock l(mu_);
  const auto it = entries_.find(NameOf(resource, key));
  return it == entries_.end() ? State() : it->second.state;
}

Result<kube::Next> Keeper::Turn(const std::string& name) {
  const std::size_t slash = name.find('/');
  const auto kind = kinds_.find(name.substr(0, slash));
  if (kind == kinds_.end()) return kube::Next{};
  kube::Cache<OwnObject>* cache = world_.Objects(kind->second);
  std::shared_ptr<const Wanted> wanted;
  {
    Lock l(mu_);
    const auto it = entries_.find(name);
    if (it != entries_.end()) wanted = it->second.wanted;
  }
  if (cache == nullptr || !cache->HasSynced()) return kube::Next{};  // its coming gives everything a turn
  const std::string key = name.substr(slash + 1);
  const auto live = cache->Get(key);
  if (wanted) return Make(name, kind->second, wanted, live.get());
  if (live && live->ours) return Remove(kind->second, *live);
  return kube::Next{};
}

Result<kube::Next> Keeper::Make(const std::string& name, const kube::Resource& resource,
                                const std::shared_ptr<const Wanted>& wanted, const OwnObject* live) {
  const std::string version = live == nullptr ? std::string() : live->meta.resource_version;
  {
    Lock l(mu_);
    const auto it = entries_.find(name);
    if (it == entries_.end() || it->second.wanted != wanted) return kube::Next{};  // another turn is on its way
    if (live != nullptr && it->second.checked_hash == wanted->hash && it->second.checked_version == version)
      return kube::Next{};
  }
  // Being deleted: it comes again when it is gone.
  if (live != nullptr && live->meta.deleting()) {
    Settle(name, *wanted, {true, false, "is being deleted"}, {});
    return kube::Next{};
  }
  if (WaitsForRole(*wanted)) return kube::Next{.again = std::chrono::seconds(1)};
  // Of somebody else's object nothing is known here: the server merges.
  const bool known = live != nullptr && live->ours;
  if (known && IsDaemonSet(resource) && MustWait(name, *wanted, *live))
    return kube::Next{.again = std::chrono::seconds(1)};
  auto applied = applier_.Apply(resource, wanted->object.body, known ? live : nullptr);
  if (!applied) {
    Settle(name, *wanted, {true, false, applied.error().text}, {});
    return std::unexpected(std::move(applied).error());
  }
  if (*applied == kube::Applied::kPending) return kube::Next{.again = kLookAgain};
  Settle(name, *wanted, {true, true, {}}, *applied == kube::Applied::kSame ? version : std::string());
  // A role that is as wanted lets its binding be written.
  if (const auto* other = CounterpartOf(resource); other != nullptr && *applied == kube::Applied::kSame)
    controller_.Add(NameOf(*other, kube::KeyOf(wanted->object.ns(), wanted->object.name())));
  // Were it deleted before the cache has seen it, no change would tell.
  if (*applied == kube::Applied::kWritten && live == nullptr) return kube::Next{.again = kLookAgain};
  return kube::Next{};
}

/// Who is no administrator may bind only a role that the API server can look into, and whose rights it has itself: of
/// what another operator has made of the role that need not be so.
bool Keeper::WaitsForRole(const Wanted& wanted) const {
  const boost::json::value* role = wanted.object.body.if_contains("roleRef");
  const auto* kind = CounterpartOf(wanted.object.resource);
  if (role == nullptr || kind == nullptr || data::StringOr(*role, "kind") != kind->kind) return false;
  const auto* cache = world_.Objects(*kind);
  const std::string key = kube::KeyOf(wanted.object.ns(), data::StringOr(*role, "name"));
  const auto live = cache == nullptr ? nullptr : cache->Get(key);
  Lock l(mu_);
  const auto it = entries_.find(NameOf(*kind, key));
  if (it == entries_.end()) return false;
  const Entry& entry = it->second;
  return live == nullptr || entry.checked_hash != entry.wanted->hash ||
         entry.checked_version != live->meta.resource_version;
}

bool Keeper::MustWait(const std::string& name, const Wanted& wanted, const OwnObject& live) {
  const bool waits = options_.must_wait && options_.must_wait(wanted.object.body, live);
  Lock l(mu_);
  const auto it = entries_.find(name);
  if (it == entries_.end()) return false;
  std::optional<TimePoint>& since = it->second.waits_since;
  if (!waits) {
    since = std::nullopt;
  } else if (!since) {
    since = executor_.Now();
  }
  return waits && executor_.Now() < *since + kLongestWait;
}

void Keeper::Settle(const std::string& name, const Wanted& wanted, State state, const std::string& version) {
  {
    Lock l(mu_);
    const auto it = entries_.find(name);
    if (it == entries_.end() || it->second.wanted->hash != wanted.hash) return;
    Entry& entry = it->second;
    const bool same = entry.state.known && entry.state.settled == state.settled && entry.state.error == state.error;
    entry.state = std::move(state);
    entry.checked_version = version;
    entry.checked_hash = wanted.hash;
    if (same) return;
  }
  for (const std::string& owner : wanted.owners) on_change_(owner);
}

Keeper::Fate Keeper::FateOf(const kube::Resource& resource, const OwnObject& live) const {
  if (live.meta.deleting()) return Fate::kStays;
  std::string state(live.State());
  Lock l(mu_);
  if (entries_.contains(NameOf(resource, live.meta.Key()))) return Fate::kStays;
  bool known_owner = false, orphan = false;
  for (const kube::OwnerReference& ref : live.meta.owners) {
    const auto it = wishes_.find(ref.uid);
    if (it == wishes_.end()) continue;
    const Wish& wish = it->second;
    known_owner = true;
    if (wish.held_states.contains(state) || (state.empty() && !wish.held_states.empty())) return Fate::kStays;
    if (IsDaemonSet(resource) && wish.hold_daemon_sets) return Fate::kStays;
    if (state.empty()) state = StateByName(live.meta.name);
    orphan = orphan || (IsDaemonSet(resource) && wish.orphaned_states.contains(state));
  }
  if (!known_owner) return Fate::kStays;
  return orphan ? Fate::kGoesWithoutItsPods : Fate::kGoes;
}

Result<kube::Next> Keeper::Remove(const kube::Resource& resource, const OwnObject& live) {
  const Fate fate = FateOf(resource, live);
  if (fate == Fate::kStays) return kube::Next{};
  kube::DeleteOptions options;
  options.uid = live.meta.uid;
  options.propagation = fate == Fate::kGoesWithoutItsPods ? kube::Propagation::kOrphan : kube::Propagation::kBackground;
  const auto r = client_.Delete({resource, std::string(live.meta.ns), live.meta.name, {}}, options);
  // Gone already, or made anew by somebody else: not ours to delete.
  if (!r && r.error().code != Code::kNotFound && r.error().code != Code::kConflict)
    return std::unexpected(Error(r.error()).During("delete " + NameOf(resource, live.meta.Key())));
  applier_.Forget(resource, live.meta.Key());
  if (r) log_.Info("deleted what is no longer wanted", {{"object", NameOf(resource, live.meta.Key())}});
  return kube::Next{};
}

}  // namespace gpuop::op
