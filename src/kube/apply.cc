#include "kube/apply.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "kube/builtin/table.h"
#include "kube/take_over.h"

namespace gpuop::kube {

namespace json = boost::json;

data::SchemaPtr Applier::BuiltinSchema(const Resource& r) { return builtin::FindKind(r.group, r.version, r.kind); }

std::vector<Difference> Applier::Compare(const Resource& resource, const json::object& wanted,
                                         const json::object& live) const {
  const data::SchemaPtr schema = options_.schema(resource);
  std::vector<Difference> out = Differences(wanted, live, schema.get());
  std::ranges::move(Leftovers(wanted, live, client_.field_manager(), schema.get()), std::back_inserter(out));
  return out;
}

Applier::Memory Applier::Recall(const std::string& key) const {
  Lock l(mu_);
  const auto it = memory_.find(key);
  return it == memory_.end() ? Memory() : it->second;
}

Result<Applied> Applier::Apply(const Resource& resource, const json::object& wanted, const AnyObject* live) {
  const std::string key = resource.GroupPlural() + "/" + KeyIn(wanted);
  const std::uint64_t hash = Hash64(json::serialize(wanted));
  const Memory last = Recall(key);
  const bool repeats = last.wanted_hash == hash && last.uid == (live == nullptr ? last.uid : live->meta.uid);
  if (live != nullptr) {
    ASSIGN(const json::object tree, ParseObject(live->whole.text));
    const std::vector<Difference> differences = Compare(resource, wanted, tree);
    if (differences.empty() || (repeats && differences == last.accepted)) {
      // Seen in the cache: should it vanish, it was deleted, and not merely too new to be known.
      Lock l(mu_);
      const auto it = memory_.find(key);
      if (it != memory_.end() && it->second.live_version.empty()) it->second.live_version = live->meta.resource_version;
      return Applied::kSame;
    }
    log_.Debug("object differs", {{"object", key}, {"field", differences.front().path}});
  }
  const std::string version = live == nullptr ? std::string() : live->meta.resource_version;
  if (repeats && last.live_version == version && clock_.Now() < last.at + options_.settle) return Applied::kPending;
  if (auto r = Write(resource, wanted, live, key, hash); !r)
    return std::unexpected(std::move(r).error().During("apply " + key));
  log_.Info("applied", {{"object", key}});
  return Applied::kWritten;
}

/// What was written by updates under our name counts as applied from here on.
Result<> Applier::TakeOver(const ObjectRef& ref, const AnyObject& live) {
  ASSIGN(const json::object tree, ParseObject(live.whole.text));
  auto fields = TakenOver(tree, client_.field_manager());
  if (!fields) return {};
  const auto replace = [](std::string_view path, json::value value) {
    return json::object{{"op", "replace"}, {"path", path}, {"value", std::move(value)}};
  };
  const json::array patch{replace("/metadata/managedFields", *std::move(fields)),
                          replace("/metadata/resourceVersion", json::value(live.meta.resource_version))};
  TRY(client_.Patch(ref, PatchType::kJson, patch));
  log_.Info("taken over", {{"object", ref.name}, {"kind", ref.resource.kind}});
  return {};
}

void Applier::Forget(const Resource& resource, std::string_view key) {
  Lock l(mu_);
  memory_.erase(resource.GroupPlural().append("/").append(key));
}

Result<> Applier::Write(const Resource& resource, const json::object& wanted, const AnyObject* live,
                        const std::string& key, std::uint64_t hash) {
  const auto [ns, name] = SplitKey(std::string_view(key).substr(resource.GroupPlural().size() + 1));
  const ObjectRef ref{resource, std::string(ns), std::string(name), {}};
  if (live != nullptr) TRY(TakeOver(ref, *live));
  ASSIGN(const json::object answer, client_.Apply(ref, wanted));
  ASSIGN(AnyObject after, AnyObject::FromJson(answer));
  Memory memory{hash, std::move(after.meta.uid), live == nullptr ? std::string() : live->meta.resource_version,
                Compare(resource, wanted, answer), clock_.Now()};
  Lock l(mu_);
  memory_[key] = std::move(memory);
  return {};
}

}  // namespace gpuop::kube
