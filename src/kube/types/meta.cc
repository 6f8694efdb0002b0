#include "kube/types/meta.h"

#include "base/text.h"
#include "kube/types/read_meta.h"

namespace gpuop::kube {

namespace {

struct Head {
  ObjectMeta meta;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
  }
};

}  // namespace

Result<ObjectMeta> ReadMeta(const boost::json::object& object) {
  ASSIGN(Head head, Decode<Head>(object));
  return std::move(head.meta);
}

std::string KeyIn(const boost::json::object& object) {
  const boost::json::value* meta = object.if_contains("metadata");
  if (meta == nullptr || !meta->is_object()) return {};
  const auto text = [meta](std::string_view field) -> std::string_view {
    const boost::json::value* v = meta->get_object().if_contains(field);
    if (v == nullptr || !v->is_string()) return {};
    return {v->get_string().data(), v->get_string().size()};
  };
  return KeyOf(text("namespace"), text("name"));
}

bool Matches(const SelectorRequirement& r, const StringMap& labels) {
  const Interned* value = labels.Find(r.key);
  if (r.op == "Exists") return value != nullptr;
  if (r.op == "DoesNotExist") return value == nullptr;
  if (r.op == "In") return value != nullptr && std::ranges::find(r.values, *value) != r.values.end();
  if (r.op == "NotIn") return value == nullptr || std::ranges::find(r.values, *value) == r.values.end();
  if ((r.op == "Gt" || r.op == "Lt") && value != nullptr && r.values.size() == 1) {
    const auto have = ParseInt(*value);
    const auto limit = ParseInt(r.values.front());
    return have && limit && (r.op == "Gt" ? *have > *limit : *have < *limit);
  }
  return false;
}

bool Matches(const LabelSelector& selector, const StringMap& labels) {
  const auto has = [&labels](const StringMap::Entry& want) {
    const Interned* value = labels.Find(want.first);
    return value != nullptr && *value == want.second;
  };
  return std::ranges::all_of(selector.match_labels, has) &&
         std::ranges::all_of(selector.match_expressions,
                             [&labels](const SelectorRequirement& r) { return Matches(r, labels); });
}

}  // namespace gpuop::kube
