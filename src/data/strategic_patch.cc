// Kubernetes' strategic merge patch. The API server applies it to Go structs; here data::Schema takes their place.

#include <boost/json.hpp>

#include "base/text.h"
#include "data/patch.h"

namespace gpuop::data {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList";
constexpr std::string_view kElementOrder = "$setElementOrder";
constexpr const char* kBadOrder = "invalid patch format of setElementOrder list";
constexpr const char* kBadRetain = "invalid patch format of retainKeys";
constexpr const char* kBadDelete = "invalid patch format of primitive list";

Result<> MergeObject(Json& doc, JsonObject& patch, const Schema* schema);

/// The schema of an object's member, from its fields or from the map's values; null when unknown.
const Schema* Member(const Schema* schema, std::string_view name) {
  if (schema == nullptr) return nullptr;
  if (const Property* property = schema->Find(name)) return property->schema.get();
  return schema->values.get();
}

std::unexpected<Error> NoMergeKey(const Json& item, std::string_view key) {
  return Fail(Code::kInternal, "map: " + GoText(item) + " does not contain declared merge key: " + std::string(key));
}

/// A list's field name from "$setElementOrder/containers".
Result<std::string> ListName(std::string_view member, const char* otherwise) {
  const auto parts = Cut(member, '/');
  if (!parts) return Fail(Code::kInvalid, otherwise);
  return std::string(parts->second);
}

void DiscardNulls(Json& value) {
  if (JsonObject* object = value.if_object()) {
    for (auto it = object->begin(); it != object->end();) {
      if (it->value().is_null()) {
        it = object->stable_erase(it);
      } else {
        DiscardNulls(it->value());
        ++it;
      }
    }
  } else if (JsonArray* array = value.if_array()) {
    for (Json& item : *array) DiscardNulls(item);
  }
}

/// Drops every object that carries $patch; false when `value` itself does.
bool RemoveDirectives(Json& value) {
  if (JsonObject* object = value.if_object()) {
    if (object->contains(kDirective)) return false;
    for (auto it = object->begin(); it != object->end();) {
      it = RemoveDirectives(it->value()) ? std::next(it) : object->stable_erase(it);
    }
  } else if (JsonArray* array = value.if_array()) {
    JsonArray kept;
    for (Json& item : *array)
      if (RemoveDirectives(item)) kept.push_back(std::move(item));
    *array = std::move(kept);
  }
  return true;
}

/// A list as the merge sees it: items are told apart by `key`, or by themselves when it is empty.
class Items {
 public:
  explicit Items(std::string_view key) : key_(key) {}

  /// What tells `item` from the others, as text that is equal for equal values.
  Result<std::string> Id(const Json& item) const {
    if (key_.empty()) return ToJson(item);
    const JsonObject* object = item.if_object();
    if (object == nullptr) return Fail(Code::kInternal, "expected a map, but received " + std::string(KindName(item)));
    const Json* id = object->if_contains(key_);
    if (id == nullptr) return NoMergeKey(item, key_);
    return ToJson(*id);
  }

  /// The place of each id in `list`, the first one counting.
  Result<std::unordered_map<std::string, std::size_t>> Rank(const JsonArray& list) const {
    std::unordered_map<std::string, std::size_t> rank;
    for (std::size_t i = 0; i < list.size(); ++i) {
      ASSIGN(std::string id, Id(list[i]));
      rank.emplace(std::move(id), i);
    }
    return rank;
  }

  /// Puts `merged` in order: items named in `order` as it has them, the others as in `before`, interleaved so that an
  /// item of the second sort stands before the first named one that it preceded in `before`.
  Result<JsonArray> Arrange(JsonArray merged, const JsonArray& order, const JsonArray& before) const;

 private:
  std::string_view key_;
};

Result<JsonArray> Items::Arrange(JsonArray merged, const JsonArray& order, const JsonArray& before) const {
  struct Ranked {
    std::size_t place, number, before;
    Json item;
  };
  constexpr auto kNowhere = static_cast<std::size_t>(-1);
  ASSIGN(const auto order_rank, Rank(order));
  ASSIGN(const auto before_rank, Rank(before));
  std::vector<Ranked> named;
  std::vector<Ranked> others;
  for (Json& item : merged) {
    ASSIGN(const std::string id, Id(item));
    const auto in_order = order_rank.find(id);
    const auto in_before = before_rank.find(id);
    const std::size_t was = in_before == before_rank.end() ? kNowhere : in_before->second;
    if (in_order == order_rank.end()) {
      others.push_back({was, others.size(), was, std::move(item)});
    } else {
      named.push_back({in_order->second, named.size(), was, std::move(item)});
    }
  }
  const auto by_place = [](const Ranked& r) { return std::pair(r.place, r.number); };
  std::ranges::sort(named, {}, by_place);
  std::ranges::sort(others, {}, by_place);
  JsonArray out;
  out.reserve(merged.size());
  auto other = others.begin();
  for (Ranked& next : named) {
    for (; other != others.end() && next.before != kNowhere && other->before < next.before; ++other)
      out.push_back(std::move(other->item));
    out.push_back(std::move(next.item));
  }
  for (; other != others.end(); ++other) out.push_back(std::move(other->item));
  return out;
}

/// All items of both lists have one type, and it is no list. Null when both lists are empty.
Result<const Json*> CheckItems(const JsonArray& a, const JsonArray& b) {
  const Json* first = nullptr;
  for (const JsonArray* list : {&a, &b}) {
    for (const Json& item : *list) {
      if (first == nullptr && item.is_array()) return Fail(Code::kUnsupported, "lists of lists are not supported");
      if (first != nullptr && KindName(*first) != KindName(item))
        return Fail(Code::kInternal, "list element types are not identical: [" + GoText(a) + " " + GoText(b) + "]");
      if (first == nullptr) first = &item;
    }
  }
  return first;
}

/// Carries out the list's own directives ($patch items); what remains in `patch` are items to merge.
/// True when the list is replaced.
Result<bool> TakeDirectives(JsonArray& list, JsonArray& patch, std::string_view key) {
  JsonArray items;
  bool replace = false;
  for (Json& item : patch) {
    const JsonObject& object = item.get_object();
    const Json* directive = object.if_contains(kDirective);
    if (directive == nullptr) {
      items.push_back(std::move(item));
    } else if (*directive == "replace") {
      replace = true;
    } else if (*directive == "delete") {
      const Json* id = object.if_contains(key);
      if (id == nullptr) return NoMergeKey(item, key);
      JsonArray kept;
      for (Json& old : list) {
        const Json* old_id = old.get_object().if_contains(key);
        if (old_id == nullptr || !JsonEqual(*old_id, *id)) kept.push_back(std::move(old));
      }
      list = std::move(kept);
    } else if (*directive == "merge") {
      return Fail(Code::kInternal, "merging lists cannot yet be specified in the patch");
    } else {
      return Fail(Code::kInternal, "unknown patch type: " + GoText(*directive) + " in map: " + GoText(item));
    }
  }
  patch = std::move(items);
  return replace;
}

Result<JsonArray> MergeObjects(JsonArray list, JsonArray patch, const Schema* schema, std::string_view key) {
  if (key.empty())
    return Fail(Code::kInternal, "cannot merge lists without merge key for " + (schema == nullptr ? "" : schema->name));
  ASSIGN(const bool replace, TakeDirectives(list, patch, key));
  if (replace) return patch;
  const Items items(key);
  ASSIGN(auto rank, items.Rank(list));
  const JsonArray before = list;
  JsonArray order;
  for (Json& item : patch) {
    ASSIGN(std::string id, items.Id(item));
    order.push_back(JsonObject{{key, item.get_object()[key]}});
    const auto [at, is_new] = rank.emplace(std::move(id), list.size());
    if (is_new) {
      DiscardNulls(item);
      list.push_back(std::move(item));
    } else {
      TRY(MergeObject(list[at->second], item.get_object(), schema == nullptr ? nullptr : schema->items.get()));
    }
  }
  return items.Arrange(std::move(list), order, before);
}

Result<JsonArray> MergeScalars(JsonArray list, JsonArray patch) {
  const Items items({});
  const JsonArray before = list;
  JsonArray merged;
  std::set<std::string> seen;
  for (JsonArray* part : {&list, &patch})
    for (const Json& item : *part)
      if (seen.insert(ToJson(item)).second) merged.push_back(item);
  return items.Arrange(std::move(merged), patch, before);
}

Result<JsonArray> MergeList(JsonArray list, JsonArray patch, const Schema* schema) {
  if (schema == nullptr || !schema->patch_merge) return patch;
  ASSIGN(const Json* first, CheckItems(list, patch));
  if (first == nullptr) return list;
  if (first->is_object()) return MergeObjects(std::move(list), std::move(patch), schema, schema->patch_merge_key);
  return MergeScalars(std::move(list), std::move(patch));
}

/// $retainKeys: whatever the list does not name goes away; the patch may not set more than it names.
Result<> RetainKeys(JsonObject& object, JsonObject& patch) {
  const auto it = patch.find(kRetainKeys);
  if (it == patch.end()) return {};
  if (!it->value().is_array()) return Fail(Code::kInvalid, kBadRetain);
  const JsonArray retain = std::move(it->value().get_array());
  patch.stable_erase(it);
  const auto retained = [&](std::string_view key) {
    return std::ranges::any_of(retain,
                               [&](const Json& name) { return name.is_string() && AsView(name.get_string()) == key; });
  };
  for (const auto& member : patch) {
    const std::string_view key = member.key();
    if (member.value().is_null() || key.starts_with(kDeleteFromList) || key.starts_with(kElementOrder)) continue;
    if (!retained(key)) return Fail(Code::kInvalid, kBadRetain);
  }
  for (auto m = object.begin(); m != object.end();) m = retained(m->key()) ? std::next(m) : object.stable_erase(m);
  return {};
}

/// The items that a patch sets must come in the order that $setElementOrder names, and be named by it.
Result<> CheckOrder(const JsonArray& patch, const JsonArray& order, const Items& items) {
  if (patch.empty() || order.empty()) return {};
  std::size_t at = 0;
  for (const Json& item : patch) {
    if (item.is_object() && item.get_object().contains(kDirective)) continue;
    ASSIGN(const std::string id, items.Id(item));
    bool found = false;
    while (!found && at < order.size()) {
      ASSIGN(const std::string other, items.Id(order[at++]));
      found = other == id;
    }
    if (!found)
      return Fail(Code::kInternal, "The order in patch list:\n" + GoText(patch) + "\n doesn't match " +
                                       std::string(kElementOrder) + " list:\n" + GoText(order) + "\n");
  }
  return {};
}

/// One $setElementOrder/<name>: merges the list it speaks of and puts it in order.
Result<> MergeOrdered(JsonObject& object, JsonObject& patch, const std::string& name, const Json& order,
                      const Schema* schema) {
  Json* old = object.if_contains(name);
  Json* change = patch.if_contains(name);
  for (const Json* list : {static_cast<const Json*>(old), static_cast<const Json*>(change), &order})
    if (list != nullptr && !list->is_array())
      return Fail(Code::kInternal, "expected a list in " + name + ", but received " + std::string(KindName(*list)));
  const Schema* list_schema = Member(schema, name);
  const std::string_view key = list_schema == nullptr ? std::string_view() : list_schema->patch_merge_key;
  const Items items(key);
  if (change != nullptr) TRY(CheckOrder(change->get_array(), order.get_array(), items));
  if (old == nullptr && change == nullptr) return {};
  const JsonArray before = old == nullptr ? JsonArray() : old->get_array();
  JsonArray merged = before;
  if (old == nullptr) {
    DiscardNulls(*change);
    RemoveDirectives(*change);
    merged = std::move(change->get_array());
  } else if (change != nullptr) {
    ASSIGN(merged, MergeList(std::move(merged), std::move(change->get_array()), list_schema));
  }
  ASSIGN(JsonArray arranged, items.Arrange(std::move(merged), order.get_array(), before));
  object[name] = std::move(arranged);
  patch.erase(name);
  return {};
}

Result<> MergeOrderedLists(JsonObject& object, JsonObject& patch, const Schema* schema) {
  std::vector<std::pair<std::string, Json>> orders;
  for (auto& member : patch)
    if (std::string_view(member.key()).starts_with(kElementOrder))
      orders.emplace_back(member.key(), std::move(member.value()));
  for (auto& [member, order] : orders) {
    patch.erase(member);
    ASSIGN(const std::string name, ListName(member, kBadOrder));
    TRY(MergeOrdered(object, patch, name, order, schema));
  }
  return {};
}

/// Takes the patch's value as it is, without its nulls and directives.
void Replace(JsonObject& object, std::string_view name, Json value) {
  DiscardNulls(value);
  if (RemoveDirectives(value)) {
    object[name] = std::move(value);
  } else {
    object.erase(name);
  }
}

Result<> DeleteFromList(JsonObject& object, std::string_view member, const Json& patch) {
  ASSIGN(const std::string name, ListName(member, kBadDelete));
  Json* list = object.if_contains(name);
  if (patch.is_null()) {
    object.erase(name);
    return {};
  }
  if (list == nullptr || !list->is_array() || !patch.is_array()) return {};
  ASSIGN(const auto gone, Items({}).Rank(patch.get_array()));
  JsonArray kept;
  for (Json& item : list->get_array())
    if (!gone.contains(ToJson(item))) kept.push_back(std::move(item));
  *list = std::move(kept);
  return {};
}

Result<> MergeMember(JsonObject& object, std::string_view name, Json patch, const Schema* schema) {
  Json* old = object.if_contains(name);
  if (patch.is_null()) {
    object.erase(name);
    return {};
  }
  if (old == nullptr || KindName(*old) != KindName(patch) || !patch.is_structured()) {
    Replace(object, name, std::move(patch));
    return {};
  }
  if (patch.is_array()) {
    ASSIGN(JsonArray merged, MergeList(std::move(old->get_array()), std::move(patch.get_array()), schema));
    *old = std::move(merged);
    return {};
  }
  if (schema != nullptr && schema->patch_replace) {
    *old = std::move(patch);
    return {};
  }
  return MergeObject(*old, patch.get_object(), schema);
}

Result<> MergeObject(Json& doc, JsonObject& patch, const Schema* schema) {
  JsonObject& object = doc.get_object();
  if (const auto it = patch.find(kDirective); it != patch.end()) {
    const Json directive = it->value();
    if (directive == "replace") {
      patch.stable_erase(it);
      object = std::move(patch);
    } else if (directive == "delete") {
      object.clear();
    } else {
      return Fail(Code::kInternal, "unknown patch type: " + GoText(directive) + " in map: " + GoText(patch));
    }
    return {};
  }
  TRY(RetainKeys(object, patch));
  TRY(MergeOrderedLists(object, patch, schema));
  for (auto& member : patch) {
    const std::string_view name = member.key();
    if (name.starts_with(kDeleteFromList)) {
      TRY(DeleteFromList(object, name, member.value()));
    } else {
      TRY(MergeMember(object, name, std::move(member.value()), Member(schema, name)));
    }
  }
  return {};
}

}  // namespace

Result<Json> ApplyStrategicPatch(Json doc, Json patch, const Schema* schema) {
  if (!doc.is_object() || !patch.is_object()) return Fail(Code::kInvalid, "invalid JSON document");
  TRY(MergeObject(doc, patch.get_object(), schema));
  return doc;
}

}  // namespace gpuop::data
