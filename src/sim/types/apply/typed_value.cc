#include "sim/types/apply/typed_value.h"

#include <boost/json.hpp>
#include <map>

#include "data/json.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using Kind = Shape::Kind;

namespace {

std::string FieldName(std::string_view key) { return "f:" + std::string(key); }

bool EmptyOrAbsent(const json::value* value) {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_object()) return value->get_object().empty();
  return value->is_array() && value->get_array().empty();
}

const json::object* MapOf(const json::value* value) { return value == nullptr ? nullptr : value->if_object(); }
const json::array* ListOf(const json::value* value) { return value == nullptr ? nullptr : value->if_array(); }

void CollectFields(Shape shape, const json::value& value, FieldSet& at) {
  const Kind kind = shape.KindOf(&value);
  if (kind == Kind::kScalar || shape.Atomic(kind)) return at.Mark();
  if (const json::object* map = value.if_object()) {
    for (const auto& [key, element] : *map) {
      FieldSet& below = at.Below(FieldName({key.data(), key.size()}));
      CollectFields(shape.Field({key.data(), key.size()}).shape, element, below);
      const bool empty_map = element.is_object() && element.get_object().empty();
      if (element.is_null() || empty_map || !shape.HasField({key.data(), key.size()})) below.Mark();
    }
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& element : *list) {
      auto name = shape.ElementName(element);
      if (!name) continue;
      FieldSet& below = at.Below(*name);
      CollectFields(shape.Items(), element, below);
      below.Mark();
    }
  }
}

/// The elements of a list by name, each name once in order of appearance; several under one name are kept together.
struct NamedElements {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const json::value*>, std::less<>> by_name;

  NamedElements(Shape shape, const json::array* list) {
    if (list == nullptr) return;
    for (const json::value& element : *list) {
      auto name = shape.ElementName(element);
      if (!name) continue;
      auto& found = by_name[*name];
      if (found.empty()) order.push_back(*name);
      found.push_back(&element);
    }
  }
  const std::vector<const json::value*>* Find(const std::string& name) const {
    const auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : &it->second;
  }
};

/// Walks two values side by side and marks what came, went and changed.
class Comparer {
 public:
  explicit Comparer(Difference& out) : out_(out) {}

  /// A null pointer is an absent value; one of the two is there.
  void Values(Shape shape, const json::value* before, const json::value* after, FieldPath& at) {
    const Kind was = shape.KindOf(before), is = shape.KindOf(after);
    bool leaf = false;
    if (after == nullptr) {
      leaf = Parts(shape, was, before, after, at);
    } else {
      if (before != nullptr && was != is && !before->is_null() && !after->is_null())
        Parts(shape, was, before, after, at);
      leaf = Parts(shape, before != nullptr && after->is_null() ? was : is, before, after, at);
    }
    if (leaf) return;
    if (before == nullptr)
      out_.added.Insert(at);
    else if (after == nullptr)
      out_.removed.Insert(at);
  }

 private:
  /// True when the value counts as one piece.
  bool Parts(Shape shape, Kind kind, const json::value* before, const json::value* after, FieldPath& at) {
    const bool whole = kind == Kind::kScalar || shape.Atomic(kind) || (EmptyOrAbsent(before) && EmptyOrAbsent(after));
    if (whole) {
      Leaf(before, after, at);
      return true;
    }
    if (kind == Kind::kMap)
      Maps(shape, MapOf(before), MapOf(after), at);
    else
      Lists(shape, ListOf(before), ListOf(after), at);
    return false;
  }

  void Leaf(const json::value* before, const json::value* after, const FieldPath& at) {
    if (before == nullptr)
      out_.added.Insert(at);
    else if (after == nullptr)
      out_.removed.Insert(at);
    else if (!data::JsonEqual(*before, *after))
      out_.modified.Insert(at);
  }

  void Maps(Shape shape, const json::object* before, const json::object* after, FieldPath& at) {
    const auto member = [&](std::string_view key, const json::value* was, const json::value* is) {
      at.push_back(FieldName(key));
      Values(shape.Field(key).shape, was, is, at);
      at.pop_back();
    };
    if (before != nullptr)
      for (const auto& [key, value] : *before)
        member({key.data(), key.size()}, &value, after == nullptr ? nullptr : after->if_contains(key));
    if (after != nullptr)
      for (const auto& [key, value] : *after)
        if (before == nullptr || !before->contains(key)) member({key.data(), key.size()}, nullptr, &value);
  }

  void Lists(Shape shape, const json::array* before, const json::array* after, FieldPath& at) {
    const NamedElements was(shape, before), is(shape, after);
    for (const std::string& name : was.order) Element(shape, name, was.Find(name), is.Find(name), at);
    for (const std::string& name : is.order)
      if (was.Find(name) == nullptr) Element(shape, name, nullptr, is.Find(name), at);
  }

  /// Several elements under one name cannot be told apart: together they are one piece.
  void Element(Shape shape, const std::string& name, const std::vector<const json::value*>* was,
               const std::vector<const json::value*>* is, FieldPath& at) {
    const std::size_t before = was == nullptr ? 0 : was->size(), after = is == nullptr ? 0 : is->size();
    const auto single = [](const std::vector<const json::value*>* all) {
      return all == nullptr ? nullptr : all->front();
    };
    at.push_back(name);
    if (before <= 1 && after <= 1) {
      Values(shape.Items(), single(was), single(is), at);
    } else if (before >= 2 && after >= 2) {
      if (!std::ranges::equal(*was, *is, [](const auto* a, const auto* b) { return data::JsonEqual(*a, *b); }))
        out_.modified.Insert(at);
    } else if (before >= 2) {
      if (after == 1) Values(shape.Items(), nullptr, is->front(), at);
      out_.removed.Insert(at);
    } else {
      if (before == 1) Values(shape.Items(), was->front(), nullptr, at);
      out_.added.Insert(at);
    }
    at.pop_back();
  }

  Difference& out_;
};

}  // namespace

FieldSet FieldsOf(Shape shape, const json::value& value) {
  FieldSet out;
  CollectFields(shape, value, out);
  out.Tidy();
  return out;
}

Difference Compare(Shape shape, const json::value& before, const json::value& after) {
  Difference out;
  FieldPath at;
  Comparer(out).Values(shape, &before, &after, at);
  return out;
}

FieldSet WithNamedFields(Shape shape, const FieldSet& fields) {
  FieldSet out;
  if (fields.member()) out.Mark();
  for (const auto& [element, child] : fields.children()) {
    FieldSet& below = out.Below(element);
    const std::string_view name = std::string_view(element).substr(2);
    const bool field = element.starts_with("f:");
    below = WithNamedFields(field ? shape.Field(name).shape : shape.Items(), child);
    if (field && shape.HasField(name)) below.Mark();
  }
  return out;
}

}  // namespace gpuop::sim::types
