#include "kube/differences.h"

#include <boost/json.hpp>

#include "data/json.h"
#include "data/quantity.h"
#include "kube/take_over.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;
using data::Schema;

const Schema* FieldOf(const Schema* schema, std::string_view name) {
  if (schema == nullptr) return nullptr;
  if (const data::Property* p = schema->Find(name)) return p->schema.get();
  return schema->values.get();
}

const Schema* ItemsOf(const Schema* schema) { return schema == nullptr ? nullptr : schema->items.get(); }

/// The fields that identify an item of this list; empty when it is no list of maps.
std::vector<std::string> KeysOf(const Schema* schema) {
  if (schema == nullptr) return {};
  if (schema->list_type == data::ListType::kMap) return schema->list_keys;
  if (schema->patch_merge && !schema->patch_merge_key.empty()) return {schema->patch_merge_key};
  return {};
}

bool IsSet(const Schema* schema) {
  return schema != nullptr &&
         (schema->list_type == data::ListType::kSet || (schema->patch_merge && schema->patch_merge_key.empty()));
}

std::string AsText(const json::value& v) {
  return v.is_string() ? std::string(data::AsView(v.get_string())) : json::serialize(v);
}

bool SameScalar(const json::value& wanted, const json::value& live, const Schema* schema) {
  if (data::JsonEqual(wanted, live)) return true;
  if (schema == nullptr || schema->format != "quantity") return false;
  const auto a = data::Quantity::Parse(AsText(wanted));
  const auto b = data::Quantity::Parse(AsText(live));
  return a && b && *a == *b;
}

/// An item's value for a key: its own, or the one the server would give it; null when neither.
const json::value* KeyValue(const json::value& item, const std::string& key, const Schema* item_schema) {
  if (!item.is_object()) return nullptr;
  if (const json::value* v = item.get_object().if_contains(key)) return v;
  const Schema* field = FieldOf(item_schema, key);
  return field != nullptr && field->default_value ? &*field->default_value : nullptr;
}

/// Whether two items are the same one: all keys that both have are equal.
bool SameItem(const json::value& a, const json::value& b, const std::vector<std::string>& keys, const Schema* items) {
  return std::ranges::all_of(keys, [&](const std::string& key) {
    const json::value* x = KeyValue(a, key, items);
    const json::value* y = KeyValue(b, key, items);
    return x == nullptr || y == nullptr || data::JsonEqual(*x, *y);
  });
}

class Comparison {
 public:
  explicit Comparison(std::vector<Difference>& out) : out_(out) {}

  void Compare(const std::string& path, const json::value& wanted, const json::value* live, const Schema* schema) {
    const bool absent = live == nullptr || live->is_null();
    if (wanted.is_null()) {
      if (!absent) Differ(path, wanted, live);
    } else if (absent || wanted.is_object() != live->is_object() || wanted.is_array() != live->is_array()) {
      Differ(path, wanted, live);
    } else if (wanted.is_object()) {
      CompareObject(path, wanted.get_object(), live->get_object(), schema);
    } else if (wanted.is_array()) {
      CompareArray(path, wanted, *live, schema);
    } else if (!SameScalar(wanted, *live, schema)) {
      Differ(path, wanted, live);
    }
  }

  void CompareObject(const std::string& path, const json::object& wanted, const json::object& live,
                     const Schema* schema) {
    for (const auto& [name, value] : wanted)
      Compare(path.empty() ? std::string(name) : path + "." + std::string(name), value, live.if_contains(name),
              FieldOf(schema, name));
    // An atomic map (not a struct, whose further fields are defaults) belongs to its writer as a whole.
    if (schema == nullptr || !schema->atomic_map || schema->values == nullptr) return;
    for (const auto& [name, value] : live)
      if (!wanted.contains(name)) Differ(path + "." + std::string(name), nullptr, &value);
  }

 private:
  void CompareArray(const std::string& path, const json::value& wanted, const json::value& live, const Schema* schema) {
    const json::array& want = wanted.get_array();
    const json::array& have = live.get_array();
    const std::vector<std::string> keys = KeysOf(schema);
    if (!keys.empty()) return CompareByKeys(path, want, have, keys, ItemsOf(schema));
    if (IsSet(schema)) {
      for (const json::value& w : want) {
        const auto same = [&w](const json::value& h) { return data::JsonEqual(w, h); };
        if (std::ranges::none_of(have, same)) Differ(path + "[" + AsText(w) + "]", w, nullptr);
      }
      return;
    }
    if (want.size() != have.size()) return Differ(path, wanted, &live);
    for (std::size_t i = 0; i < want.size(); ++i)
      Compare(path + "[" + std::to_string(i) + "]", want[i], &have[i], ItemsOf(schema));
  }

  void CompareByKeys(const std::string& path, const json::array& want, const json::array& have,
                     const std::vector<std::string>& keys, const Schema* items) {
    for (const json::value& w : want) {
      const auto same = [&](const json::value& h) { return SameItem(w, h, keys, items); };
      const auto* it = std::ranges::find_if(have, same);
      Compare(path + "[" + Label(w, keys, items) + "]", w, it == have.end() ? nullptr : it, items);
    }
  }

  static std::string Label(const json::value& item, const std::vector<std::string>& keys, const Schema* items) {
    std::string out;
    for (const std::string& key : keys) {
      const json::value* v = KeyValue(item, key, items);
      if (v != nullptr) out.append(out.empty() ? "" : ",").append(key).append("=").append(AsText(*v));
    }
    return out;
  }

  void Differ(const std::string& path, const json::value& wanted, const json::value* live) {
    out_.push_back({path, wanted.is_null() ? std::string() : json::serialize(wanted),
                    live == nullptr ? std::string() : json::serialize(*live)});
  }

  std::vector<Difference>& out_;
};

/// Walks a fieldsV1 set ("f:name", "k:{keys}", "v:value", ".") beside what is wanted.
class OwnedFields {
 public:
  explicit OwnedFields(std::vector<Difference>& out) : out_(out) {}

  void Walk(const std::string& path, const json::object& fields, const json::value& wanted, const Schema* schema) {
    for (const auto& [name, below] : fields) {
      const std::string_view field(name.data(), name.size());
      if (field.starts_with("f:")) {
        const std::string_view member = field.substr(2);
        const json::value* w = wanted.is_object() ? wanted.get_object().if_contains(member) : nullptr;
        Step(path.empty() ? std::string(member) : path + "." + std::string(member), w, below, FieldOf(schema, member));
      } else if (field.starts_with("k:")) {
        Step(path + "[" + std::string(field.substr(2)) + "]", ItemByKeys(field.substr(2), wanted, ItemsOf(schema)),
             below, ItemsOf(schema));
      } else if (field.starts_with("v:")) {
        Step(path + "[" + std::string(field.substr(2)) + "]", ItemByValue(field.substr(2), wanted), below, nullptr);
      }
    }
  }

 private:
  void Step(const std::string& path, const json::value* wanted, const json::value& below, const Schema* schema) {
    if (wanted == nullptr || wanted->is_null()) {
      out_.push_back({path, {}, "applied before"});
    } else if (below.is_object()) {
      Walk(path, below.get_object(), *wanted, schema);
    }
  }

  static const json::value* ItemByKeys(std::string_view text, const json::value& wanted, const Schema* items) {
    const auto keys = data::ParseJson(text);
    if (!keys || !keys->is_object() || !wanted.is_array()) return nullptr;
    const auto has_keys = [&](const json::value& item) {
      return std::ranges::all_of(keys->get_object(), [&](const auto& entry) {
        const json::value* v = KeyValue(item, std::string(entry.key()), items);
        return v == nullptr || data::JsonEqual(*v, entry.value());
      });
    };
    const auto* it = std::ranges::find_if(wanted.get_array(), has_keys);
    return it == wanted.get_array().end() ? nullptr : it;
  }

  static const json::value* ItemByValue(std::string_view text, const json::value& wanted) {
    const auto value = data::ParseJson(text);
    if (!value || !wanted.is_array()) return nullptr;
    const auto* it =
        std::ranges::find_if(wanted.get_array(), [&](const json::value& v) { return data::JsonEqual(v, *value); });
    return it == wanted.get_array().end() ? nullptr : it;
  }

  std::vector<Difference>& out_;
};

}  // namespace

std::vector<Difference> Differences(const json::object& wanted, const json::object& live, const Schema* schema) {
  std::vector<Difference> out;
  json::object named = wanted;
  named.erase("apiVersion");
  named.erase("kind");
  Comparison(out).CompareObject({}, named, live, schema);
  return out;
}

std::vector<Difference> Leftovers(const json::object& wanted, const json::object& live, std::string_view manager,
                                  const Schema* schema) {
  std::vector<Difference> out;
  const json::value* entries = data::Find(live, "metadata.managedFields");
  if (entries == nullptr || !entries->is_array()) return out;
  const json::value root(wanted);
  for (const json::value& entry : entries->get_array()) {
    if (!IsWrittenBy(entry, manager)) continue;
    if (const json::object* fields = data::GetObject(entry, "fieldsV1"))
      OwnedFields(out).Walk({}, *fields, root, schema);
  }
  return out;
}

}  // namespace gpuop::kube
