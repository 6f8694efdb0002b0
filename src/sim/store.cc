#include "sim/store.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/check.h"
#include "data/json.h"

namespace gpuop::sim {
namespace {

using boost::json::object;
using boost::json::value;

std::string_view Text(const object& o, std::string_view name) {
  const value* v = o.if_contains(name);
  return v != nullptr && v->is_string() ? data::AsView(v->get_string()) : std::string_view();
}

/// The value at one of the field's paths, as selectors compare it.
std::string Extract(const object& root, const SelectableField& field) {
  for (const auto& path : field.paths) {
    const object* at = &root;
    const value* found = nullptr;
    for (const std::string& part : path) {
      found = at == nullptr ? nullptr : at->if_contains(part);
      if (found == nullptr) break;
      at = found->if_object();
    }
    if (found == nullptr || found->is_null()) continue;
    if (found->is_string()) {
      if (!found->get_string().empty()) return std::string(data::AsView(found->get_string()));
    } else if (!found->is_structured()) {
      return data::ToJson(*found);
    }
  }
  return field.fallback;
}

void AppendMember(std::string& out, std::string_view name, const value& v) {
  out += out.back() == '{' ? "" : ",";
  data::AppendJsonString(out, name);
  out += ':';
  data::AppendJson(out, v);
}

/// Where in the text a member's value was written, if as it is.
struct Place {
  std::size_t at = 0, size = 0;
};
struct Identity {
  Place ns, name, uid;
};

Place* PlaceOf(Identity& identity, std::string_view name) {
  if (name == "namespace") return &identity.ns;
  if (name == "name") return &identity.name;
  return name == "uid" ? &identity.uid : nullptr;
}

/// Metadata with the resourceVersion replaced; notes where its digits stand, and what names the object.
void AppendMetadata(std::string& out, const object& metadata, std::uint64_t revision, Stored& stored,
                    Identity& identity) {
  out += '{';
  for (const auto& [name, v] : metadata) {
    if (name == "resourceVersion") continue;
    // The version comes before what may be long and clients like it early.
    AppendMember(out, name, v);
    if (Place* place = PlaceOf(identity, name); place != nullptr && v.is_string()) {
      const std::size_t size = v.get_string().size();
      // It ends before the quotation mark; escapes would make it longer.
      place->at = out.size() - 1 - size;
      place->size = out[place->at - 1] == '"' ? size : 0;
    }
    if (name != "uid") continue;
    out += ",\"resourceVersion\":\"";
    stored.revision_at = static_cast<std::uint32_t>(out.size());
    out += std::to_string(revision) += '"';
  }
  if (stored.revision_at == 0) {
    out += out.back() == '{' ? "\"resourceVersion\":\"" : ",\"resourceVersion\":\"";
    stored.revision_at = static_cast<std::uint32_t>(out.size());
    out += std::to_string(revision) += '"';
  }
  out += '}';
}

Identity Serialise(const object& o, std::uint64_t revision, Stored& stored) {
  Identity identity;
  std::string& out = stored.json;
  out = "{";
  for (std::string_view first : {"kind", "apiVersion"})
    if (const value* v = o.if_contains(first)) AppendMember(out, first, *v);
  if (out.size() > 1) out += ',';
  stored.metadata_at = static_cast<std::uint32_t>(out.size());
  out += "\"metadata\":";
  AppendMetadata(out, o.at("metadata").as_object(), revision, stored, identity);
  stored.metadata_end = static_cast<std::uint32_t>(out.size());
  for (const auto& [name, v] : o)
    if (name != "kind" && name != "apiVersion" && name != "metadata") AppendMember(out, name, v);
  out += '}';
  out.shrink_to_fit();
  return identity;
}

/// The text at its place, or a copy of its own where that says it in other words.
std::string_view Keep(Stored& stored, const Place& place, std::string_view text) {
  const std::string_view there = std::string_view(stored.json).substr(place.at, place.size);
  if (there == text) return there;
  return stored.escaped.emplace_front(text);
}

/// What an event takes besides the object's text.
constexpr std::size_t kEventCost = 256;

}  // namespace

Labels::Labels(const object& labels) {
  std::size_t size = 0;
  for (const auto& [key, v] : labels)
    if (v.is_string()) size += key.size() + v.get_string().size() + 2;
  flat_.reserve(size);
  for (const auto& [key, v] : labels) {
    if (!v.is_string()) continue;
    flat_.append(key).push_back('\0');
    flat_.append(data::AsView(v.get_string())).push_back('\0');
  }
}

std::optional<std::string_view> Labels::Find(std::string_view wanted) const {
  for (std::size_t at = 0; at < flat_.size();) {
    const std::size_t key_end = flat_.find('\0', at);
    const std::size_t value_end = flat_.find('\0', key_end + 1);
    if (std::string_view(flat_).substr(at, key_end - at) == wanted)
      return std::string_view(flat_).substr(key_end + 1, value_end - key_end - 1);
    at = value_end + 1;
  }
  return std::nullopt;
}

void TextList::Add(std::string_view text) {
  if (flat_.empty()) flat_.push_back('\0');
  GPUOP_CHECK(size() < 255);
  ++flat_[0];
  const auto length = static_cast<std::uint32_t>(text.size());
  flat_.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
}

std::string_view TextList::operator[](std::size_t index) const {
  GPUOP_CHECK(index < size());
  for (std::size_t at = 1;; --index) {
    std::uint32_t length = 0;
    std::memcpy(&length, flat_.data() + at, sizeof length);
    at += sizeof length;
    if (index == 0) return std::string_view(flat_).substr(at, length);
    at += length;
  }
}

std::string JsonAtRevision(const Stored& stored, std::uint64_t revision) {
  const std::size_t end = stored.json.find('"', stored.revision_at);
  std::string out;
  out.reserve(stored.json.size() + 20);
  out.append(stored.json, 0, stored.revision_at).append(std::to_string(revision)).append(stored.json, end);
  return out;
}

std::string StoreKey(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!ns.empty()) key += '/';
  return key.append(name);
}

namespace {

/// The same object with another resourceVersion.
StoredPtr AtRevision(const Stored& from, std::uint64_t revision) {
  auto out = std::make_shared<Stored>();
  out->json = JsonAtRevision(from, revision);
  const std::size_t grown = out->json.size() - from.json.size();
  const auto same = [&](std::string_view text) -> std::string_view {
    const bool inside = text.data() >= from.json.data() && text.data() < from.json.data() + from.json.size();
    if (!inside) return text.empty() ? text : out->escaped.emplace_front(text);
    const auto at = static_cast<std::size_t>(text.data() - from.json.data());
    return std::string_view(out->json).substr(at < from.revision_at ? at : at + grown, text.size());
  };
  out->ns = same(from.ns), out->name = same(from.name), out->uid = same(from.uid);
  out->revision = revision;
  out->metadata_at = from.metadata_at;
  out->metadata_end = from.metadata_end + static_cast<std::uint32_t>(grown);
  out->revision_at = from.revision_at;
  out->labels = from.labels;
  out->fields = from.fields;
  return out;
}

}  // namespace

Store::Store(HistoryLimit limit) : limit_(limit) {}

Store::Table& Store::Touch(std::string_view table) {
  auto it = tables_.find(table);
  return it != tables_.end() ? it->second : tables_[std::string(table)];
}

const Store::Table* Store::Find(std::string_view table) const {
  auto it = tables_.find(table);
  return it == tables_.end() ? nullptr : &it->second;
}

StoredPtr Store::Make(const Table& table, const object& o, std::uint64_t revision) {
  auto stored = std::make_shared<Stored>();
  const object& metadata = o.at("metadata").as_object();
  stored->revision = revision;
  if (const value* labels = metadata.if_contains("labels"); labels != nullptr && labels->is_object())
    stored->labels = Labels(labels->get_object());
  for (const SelectableField& field : table.selectable) stored->fields.Add(Extract(o, field));
  stored->fields.Shrink();
  const Identity identity = Serialise(o, revision, *stored);
  stored->ns = Keep(*stored, identity.ns, Text(metadata, "namespace"));
  stored->name = Keep(*stored, identity.name, Text(metadata, "name"));
  stored->uid = Keep(*stored, identity.uid, Text(metadata, "uid"));
  return stored;
}

void Store::SetSelectable(std::string_view name, const std::vector<SelectableField>& fields) {
  Table& table = Touch(name);
  const bool same = std::ranges::equal(table.selectable, fields, [](const auto& a, const auto& b) {
    return a.label == b.label && a.paths == b.paths && a.fallback == b.fallback;
  });
  if (same) return;
  table.selectable = fields;
  for (auto& [key, stored] : table.objects) {
    auto parsed = data::ParseJson(stored->json);
    GPUOP_CHECK(parsed.has_value());
    stored = Make(table, parsed->as_object(), stored->revision);
  }
}

StoredPtr Store::Get(std::string_view name, std::string_view ns, std::string_view object_name) const {
  const Table* table = Find(name);
  if (table == nullptr) return nullptr;
  auto it = table->objects.find(StoreKey(ns, object_name));
  return it == table->objects.end() ? nullptr : it->second;
}

Answer<StoredPtr> Store::Put(std::string_view name, object& o) {
  Table& table = Touch(name);
  StoredPtr stored = Make(table, o, revision_ + 1);
  const std::string key = StoreKey(stored->ns, stored->name);
  if (log_ != nullptr) TRY(log_->Append(revision_ + 1, name, key, stored->json));
  o["metadata"].as_object()["resourceVersion"] = std::to_string(++revision_);
  StoredPtr& slot = table.objects[key];
  auto event = std::make_shared<Event>();
  event->type = slot ? Event::Type::kModified : Event::Type::kAdded;
  event->revision = revision_;
  event->object = stored;
  event->before = std::exchange(slot, stored);
  Commit(name, table, std::move(event));
  return stored;
}

Answer<StoredPtr> Store::Delete(std::string_view name, std::string_view ns, std::string_view object_name) {
  Table& table = Touch(name);
  const std::string key = StoreKey(ns, object_name);
  auto it = table.objects.find(key);
  GPUOP_CHECK(it != table.objects.end());
  if (log_ != nullptr) TRY(log_->Append(revision_ + 1, name, key, {}));
  ++revision_;
  StoredPtr last = AtRevision(*it->second, revision_);
  auto event = std::make_shared<Event>();
  event->type = Event::Type::kDeleted;
  event->revision = revision_;
  event->object = last;
  event->before = it->second;
  table.objects.erase(it);
  Commit(name, table, std::move(event));
  return last;
}

void Store::Restore(std::string_view name, std::uint64_t revision, std::string json) {
  Table& table = Touch(name);
  auto parsed = data::ParseJson(json);
  GPUOP_CHECK(parsed.has_value() && parsed->is_object());
  StoredPtr stored = Make(table, parsed->get_object(), revision);
  table.objects[StoreKey(stored->ns, stored->name)] = std::move(stored);
}

void Store::SetRevision(std::uint64_t revision) {
  revision_ = std::max(revision_, revision);
  lost_ = revision_;
}

void Store::Commit(std::string_view name, Table& table, EventPtr event) {
  const std::size_t cost = event->object->json.size() + kEventCost;
  history_bytes_ += cost;
  recent_bytes_ += cost;
  table.events.push_back(
      {.type = event->type, .revision = event->revision, .cost = cost, .recent = event, .object = {}, .before = {}});
  order_.push_back(&table);
  recent_.push_back({&table, event->revision, cost});
  AgeRecent();
  TrimHistory();
  for (const CommitObserver& see : observers_) see(name, *event);
}

void Store::TrimHistory() {
  while (!order_.empty() && (order_.size() > limit_.events || history_bytes_ > limit_.bytes)) ForgetOldest();
}

void Store::ForgetOldest() {
  Table& table = *order_.front();
  order_.pop_front();
  const PastEvent& oldest = table.events.front();
  history_bytes_ -= oldest.cost;
  if (!recent_.empty() && recent_.front().revision == oldest.revision) {
    recent_bytes_ -= recent_.front().bytes;
    recent_.pop_front();
  }
  table.forgotten = oldest.revision;
  table.events.pop_front();
}

PastEvent* Store::EventAt(Table& table, std::uint64_t revision) {
  const auto it = std::ranges::lower_bound(table.events, revision, {}, &PastEvent::revision);
  return it != table.events.end() && it->revision == revision ? &*it : nullptr;
}

/// Packs what has been replaced a while ago. The newest event always stays as it is.
void Store::AgeRecent() {
  while (recent_bytes_ > limit_.recent_bytes && recent_.size() > 1) {
    const Recent oldest = recent_.front();
    recent_.pop_front();
    recent_bytes_ -= oldest.bytes;
    Age(*oldest.table, *EventAt(*oldest.table, oldest.revision));
  }
}

/// From now on the event has its versions by themselves, and the one that it replaced is packed. The event that made
/// that one, if it is still known, holds the same.
void Store::Age(Table& table, PastEvent& event) {
  const EventPtr whole = std::exchange(event.recent, nullptr);
  event.object.whole = whole->object;
  event.before.whole = whole->before;
  if (!whole->before) return;
  PastEvent* maker = EventAt(table, whole->before->revision);
  if (maker == nullptr) return;  // soon it is held by nothing but this event
  // What was packed before it has a base that will do, unless much has changed since.
  StoredPtr base = maker->before.packed ? maker->before.packed->base() : nullptr;
  auto packed = base ? PackedVersion::Pack(*whole->before, base) : nullptr;
  std::size_t cost = kEventCost;
  if (!packed) {
    packed = PackedVersion::Pack(*whole->before, whole->object);
    cost += whole->object->json.size();
  }
  if (!packed) return;
  cost += packed->size();
  history_bytes_ = history_bytes_ - maker->cost + cost;
  maker->cost = cost;
  maker->object = event.before = {nullptr, std::move(packed)};
}

void Store::Compact(std::uint64_t revision) {
  while (!order_.empty() && order_.front()->events.front().revision <= revision) ForgetOldest();
  lost_ = std::max(lost_, std::min(revision, revision_));
}

std::uint64_t Store::OldestRevision(std::string_view name) const {
  const Table* table = Find(name);
  return std::max(lost_, table == nullptr ? 0 : table->forgotten);
}

std::optional<std::uint64_t> Store::Replay(std::string_view name, std::uint64_t after,
                                           const std::function<bool(const EventPtr&)>& next) const {
  const Table* table = Find(name);
  if (table == nullptr) return revision_;
  if (after < table->forgotten) return std::nullopt;
  auto it = std::ranges::upper_bound(table->events, after, {}, &PastEvent::revision);
  for (; it != table->events.end(); ++it)
    if (!next(it->Get())) return it->revision;
  return revision_;
}

std::size_t Store::Count(std::string_view name) const {
  const Table* table = Find(name);
  return table == nullptr ? 0 : table->objects.size();
}

void Store::ForEach(const std::function<void(std::string_view, const StoredPtr&)>& see) const {
  for (const auto& [name, table] : tables_)
    for (const auto& [key, stored] : table.objects) see(name, stored);
}

}  // namespace gpuop::sim
