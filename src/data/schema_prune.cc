#include <boost/json.hpp>

#include "base/text.h"
#include "data/path.h"
#include "data/schema_check.h"

namespace gpuop::data {
namespace {

bool IsObjectMetaField(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

/// Walks a document along its schema and tells `found` of every member that the schema does not name; what `found`
/// answers decides whether it goes away.
template <class Found, class Member>
class Walk {
 public:
  Walk(const Found& found, const Member& member) : found_(found), member_(member) {}

  void Value(Json& value, const Schema* schema, const Path& path, bool resource) {
    // Where the schema says nothing at all, there is nothing that the value could be held to.
    if (schema == nullptr || (schema->type == Type::kAny && schema->properties.empty() && !schema->values)) return;
    if (JsonArray* array = value.if_array()) {
      const Schema* items = schema->items.get();
      if (items == nullptr) return;
      for (std::size_t i = 0; i < array->size(); ++i)
        Value((*array)[i], items, path.Index(i), items->embedded_resource);
    } else if (JsonObject* object = value.if_object()) {
      Object(*object, *schema, path, resource);
    }
  }

 private:
  void Object(JsonObject& object, const Schema& schema, const Path& path, bool resource) {
    for (auto it = object.begin(); it != object.end();) {
      const std::string_view name = it->key();
      const Path here = path.Child(name);
      member_(here);
      const Property* property = schema.Find(name);
      if (property != nullptr) {
        // A resource's metadata is decoded by itself, whatever the schema says about it.
        if (!resource || !IsObjectMetaField(name) || (property->schema && !property->schema->name.empty()))
          Value(it->value(), property->schema.get(), here, property->schema && property->schema->embedded_resource);
      } else if (schema.values) {
        Value(it->value(), schema.values.get(), here, schema.values->embedded_resource);
      } else if (!(resource && IsObjectMetaField(name)) && !schema.preserve_unknown && found_(here)) {
        it = object.stable_erase(it);
        continue;
      }
      ++it;
    }
  }

  const Found& found_;
  const Member& member_;
};

bool IsBadNull(const Json& value, const Schema* schema) {
  return value.is_null() && schema != nullptr && !schema->nullable;
}

void Default(Json& value, const Schema* schema);

void DefaultMembers(JsonObject& object, const Schema& schema) {
  for (const Property& property : schema.properties) {
    const Schema* inner = property.schema.get();
    if (inner == nullptr || !inner->default_value) continue;
    const Json* present = object.if_contains(property.name);
    if (present == nullptr || IsBadNull(*present, inner)) object[property.name] = *inner->default_value;
  }
  for (auto it = object.begin(); it != object.end();) {
    const Property* property = schema.Find(it->key());
    const Schema* inner = property != nullptr ? property->schema.get() : schema.values.get();
    if (inner != nullptr && IsBadNull(it->value(), inner)) {
      it = object.stable_erase(it);
      continue;
    }
    Default(it->value(), inner);
    ++it;
  }
}

void Default(Json& value, const Schema* schema) {
  if (schema == nullptr) return;
  if (JsonObject* object = value.if_object()) {
    DefaultMembers(*object, *schema);
  } else if (JsonArray* array = value.if_array()) {
    const Schema* items = schema->items.get();
    for (Json& item : *array) {
      if (items != nullptr && items->default_value && IsBadNull(item, items)) item = *items->default_value;
      Default(item, items);
    }
  }
}

}  // namespace

std::vector<std::string> StrictErrors(const Json& value, const Schema& schema, std::span<const std::string> duplicates,
                                      bool root_is_object) {
  std::vector<std::string> errors;
  const auto found = [&](const Path& path) {
    errors.push_back("unknown field " + Quote(path.ToString()));
    return false;
  };
  const auto member = [&](const Path& path) {
    if (duplicates.empty()) return;
    const std::string text = path.ToString();
    if (std::ranges::find(duplicates, text) != duplicates.end()) errors.push_back("duplicate field " + Quote(text));
  };
  // Nothing is removed, so that the document stays as it is.
  Walk(found, member).Value(const_cast<Json&>(value), &schema, Path(), root_is_object);
  return errors;
}

std::vector<std::string> Prune(Json& value, const Schema& schema, bool root_is_object) {
  std::vector<std::string> pruned;
  const auto found = [&](const Path& path) {
    pruned.push_back(path.ToString());
    return true;
  };
  Walk(found, [](const Path&) {}).Value(value, &schema, Path(), root_is_object);
  return pruned;
}

void ApplyDefaults(Json& value, const Schema& schema) { Default(value, &schema); }

}  // namespace gpuop::data
