#include "sim/types/apply/ownership.h"

#include <algorithm>
#include <boost/json.hpp>

#include "data/json.h"
#include "sim/types/apply/last_applied.h"
#include "sim/types/apply/typed_value.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

/// Fields of metadata and of the type that nobody owns.
const FieldSet& Unowned() {
  static const FieldSet& set = *new FieldSet([] {
    FieldSet out;
    for (const char* field : {"f:apiVersion", "f:kind", "f:metadata"}) out.Insert({field});
    for (const char* field : {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName",
                              "f:generation", "f:managedFields", "f:resourceVersion"})
      out.Insert({"f:metadata", field});
    return out;
  }());
  return set;
}

json::value WithoutManagedFields(const json::object& object) {
  // It is compared and thrown away.
  json::value out(object, json::make_shared_resource<json::monotonic_resource>());
  if (json::value* metadata = out.get_object().if_contains("metadata"); metadata != nullptr && metadata->is_object())
    metadata->get_object().erase("managedFields");
  return out;
}

const json::value* ManagedFieldsOf(const json::object& object) {
  const json::value* metadata = object.if_contains("metadata");
  return metadata == nullptr || !metadata->is_object() ? nullptr : metadata->get_object().if_contains("managedFields");
}

Managers ManagersOf(const json::object& object) {
  const json::value* list = ManagedFieldsOf(object);
  if (list == nullptr) return {};
  return ParseManagers(*list).value_or(Managers{});
}

void StoreManagers(json::object& object, const Managers& managers) {
  json::value& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = json::object();
  if (managers.empty())
    metadata.get_object().erase("managedFields");
  else
    metadata.get_object()["managedFields"] = WriteManagers(managers);
}

/// An empty list, or a list of one empty entry, asks to forget everything.
bool AsksForReset(const json::value* list) {
  if (list == nullptr || !list->is_array()) return false;
  const json::array& entries = list->get_array();
  return entries.empty() || (entries.size() == 1 && entries[0].is_object() && entries[0].get_object().empty());
}

FieldSet Filtered(const Writing& writing, FieldSet set) {
  return writing.reset == nullptr ? set : set.WithoutTrees(*writing.reset);
}

Difference FilteredDifference(const Writing& writing, const json::value& before, const json::value& after) {
  Difference d = Compare(Shape(writing.schema), before, after);
  return {Filtered(writing, std::move(d.added)), Filtered(writing, std::move(d.removed)),
          Filtered(writing, std::move(d.modified))};
}

/// What came or changed.
FieldSet Touched(const Difference& difference) {
  FieldSet out = difference.modified;
  out.Merge(difference.added);
  return out;
}

/// Takes what `difference` touched or removed from everybody but `self`. Those with nothing left go.
void TakeFromOthers(Managers& managers, const ManagerId* self, const Difference& difference) {
  const FieldSet touched = Touched(difference);
  for (auto it = managers.begin(); it != managers.end();) {
    if (self == nullptr || it->first != *self)
      it->second.fields = it->second.fields.Without(touched).Without(difference.removed);
    it = it->second.fields.Empty() ? managers.erase(it) : std::next(it);
  }
}

std::vector<ApplyConflict> FindConflicts(const Managers& managers, const ManagerId& self,
                                         const Difference& difference) {
  std::vector<ApplyConflict> out;
  const FieldSet touched = Touched(difference);
  for (const auto& [id, set] : managers) {
    if (id == self) continue;
    set.fields.Common(touched).ForEach([&](const FieldPath& path) { out.push_back({id, path}); });
  }
  return out;
}

bool Owns(const Managers& managers, const FieldPath& path) {
  return std::ranges::any_of(managers, [&](const auto& entry) { return entry.second.fields.Has(path); });
}

void TrackFrom(const Writing& writing, Managers managers, const json::object& live, json::object& now) {
  const json::value before = WithoutManagedFields(live), after = WithoutManagedFields(now);
  const Difference difference = FilteredDifference(writing, before, after);
  TakeFromOthers(managers, nullptr, difference);
  FieldSet own = Touched(difference).Without(Unowned());
  if (!own.Empty()) {
    const ManagerId id{std::string(writing.manager), Operation::kUpdate, std::string(writing.api_version),
                       std::string(writing.subresource)};
    ManagedSet& entry = managers[id];
    entry.fields.Merge(own);
    entry.api_version = writing.api_version;
    if (!writing.time.empty()) entry.time = writing.time;
  }
  CapUpdaters(managers);
  StoreManagers(now, managers);
}

/// Takes out of `merged` what the applier set last time, does not set now, and nobody else owns.
json::value Pruned(const Writing& writing, const json::value& merged, const Managers& managers, const FieldSet& last) {
  if (last.Empty()) return merged;
  const Shape shape(writing.schema);
  const FieldSet last_named = WithNamedFields(shape, last);
  json::value pruned = RemoveFields(shape, merged, last_named);
  FieldSet owned;
  for (const auto& [id, set] : managers) owned.Merge(set.fields);
  const FieldSet all = WithNamedFields(shape, FieldsOf(shape, merged));
  FieldSet keep = WithNamedFields(shape, FieldsOf(shape, pruned));
  keep.Merge(WithNamedFields(shape, owned));
  pruned = RemoveFields(shape, merged, all.Without(keep));
  const FieldSet left = WithNamedFields(shape, FieldsOf(shape, pruned));
  return RemoveFields(shape, merged, all.Without(left).Common(last_named));
}

std::string ConflictMessage(const std::vector<ApplyConflict>& conflicts) {
  if (conflicts.size() == 1)
    return "Apply failed with 1 conflict: conflict with " + conflicts[0].manager.Text() + ": " +
           PathText(conflicts[0].path);
  std::string out = "Apply failed with " + std::to_string(conflicts.size()) + " conflicts: ";
  const ManagerId* said = nullptr;
  for (const ApplyConflict& conflict : conflicts) {
    if (said == nullptr || *said != conflict.manager) {
      if (said != nullptr) out += '\n';
      out += "conflicts with " + conflict.manager.Text() + ":";
      said = &conflict.manager;
    }
    out += "\n- " + PathText(conflict.path);
  }
  return out;
}

}  // namespace

void TrackUpdate(const Writing& writing, const json::object& live, json::object& now) {
  const json::value* sent = ManagedFieldsOf(now);
  Managers managers;
  if (!writing.subresource.empty()) {
    managers = ManagersOf(live);
  } else if (!AsksForReset(sent)) {
    managers = ManagersOf(now);
    if (managers.empty()) managers = ManagersOf(live);
  }
  if (writing.only != nullptr && !Owns(managers, *writing.only)) return StoreManagers(now, managers);
  const json::value* metadata = live.if_contains("metadata");
  const bool create = metadata == nullptr || !metadata->is_object() || !metadata->get_object().contains("uid");
  if (managers.empty() && !create) return StoreManagers(now, managers);  // not tracked so far: stays so
  TrackFrom(writing, std::move(managers), live, now);
}

std::expected<json::object, ApplyFailure> ApplyConfig(const Writing& writing, const json::object& empty,
                                                      const json::object& live, const json::object& config,
                                                      bool force) {
  Managers managers = ManagersOf(live);
  json::object tracked = live;
  if (managers.empty()) {  // what was there before the first apply belongs to nobody in particular
    Writing before = writing;
    before.manager = "before-first-apply";
    TrackFrom(before, {}, empty, tracked);
    managers = ManagersOf(tracked);
  }
  const Shape shape(writing.schema);
  const json::value before = WithoutManagedFields(live), wanted = WithoutManagedFields(config);
  json::value merged = MergeTyped(shape, before, wanted);
  const ManagerId self{std::string(writing.manager), Operation::kApply, {}, std::string(writing.subresource)};
  ManagedSet& own = managers[self];
  const FieldSet last = std::move(own.fields);
  own.fields = Filtered(writing, FieldsOf(shape, wanted));
  own.api_version = writing.api_version;
  merged = Pruned(writing, merged, managers, last);
  const Difference difference = FilteredDifference(writing, before, merged);
  auto conflicts = FindConflicts(managers, self, difference);
  if (!force && writing.manager == "kubectl" && !conflicts.empty())
    DropAllowedByLastApplied(shape, before, writing.api_version, conflicts);
  if (!force && !conflicts.empty()) {
    std::string message = ConflictMessage(conflicts);
    return std::unexpected(ApplyFailure{std::move(conflicts), std::move(message)});
  }
  TakeFromOthers(managers, &self, difference);
  if (const auto it = managers.find(self); it != managers.end()) {
    it->second.fields = it->second.fields.Without(Unowned());
    if (it->second.fields.Empty())
      managers.erase(it);
    else if (!data::JsonEqual(before, merged))  // who changes nothing gets no time
      it->second.time = writing.time;
  }
  json::object out = merged.is_object() ? std::move(merged.get_object()) : json::object();
  if (writing.manager == "kubectl") RefreshLastApplied(out, config);
  StoreManagers(out, managers);
  return out;
}

}  // namespace gpuop::sim::types
