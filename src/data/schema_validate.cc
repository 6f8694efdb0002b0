#include "data/schema_validate.h"

#include <boost/json.hpp>
#include <cmath>
#include <unordered_set>

#include "base/text.h"
#include "data/cel.h"
#include "data/cel_rules.h"
#include "data/formats.h"
#include "data/path.h"
#include "data/regex.h"
#include "data/utf8.h"

namespace gpuop::data {
namespace {

using Kind = FieldError::Kind;
using Errors = std::vector<FieldError>;

std::string_view TypeName(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "boolean";
    case boost::json::kind::string: return "string";
    case boost::json::kind::array: return "array";
    case boost::json::kind::object: return "object";
    case boost::json::kind::double_: return "number";
    default: return "integer";
  }
}

std::string_view TypeName(const Schema& schema) {
  if (schema.int_or_string) return "integer,string";
  switch (schema.type) {
    case Type::kString: return "string";
    case Type::kInteger: return "integer";
    case Type::kNumber: return "number";
    case Type::kBoolean: return "boolean";
    case Type::kObject: return "object";
    case Type::kArray: return "array";
    case Type::kAny: break;
  }
  return "";
}

bool IsWhole(const Json& value) {
  return value.is_int64() || (value.is_double() && std::trunc(value.get_double()) == value.get_double());
}

bool HasType(const Json& value, const Schema& schema) {
  if (schema.int_or_string) return value.is_string() || IsWhole(value);
  switch (schema.type) {
    case Type::kString: return value.is_string();
    case Type::kInteger: return IsWhole(value);
    case Type::kNumber: return value.is_number();
    case Type::kBoolean: return value.is_bool();
    case Type::kObject: return value.is_object();
    case Type::kArray: return value.is_array();
    case Type::kAny: break;
  }
  return true;
}

/// A bound as Go's %v shows it.
std::string Number(double bound, const Json& value) {
  return value.is_int64() && std::trunc(bound) == bound && std::fabs(bound) < 9e15
             ? std::to_string(static_cast<std::int64_t>(bound))
             : FormatDouble(bound);
}

}  // namespace

/// What the schema's parts need beyond themselves, made once. Keyed by the parts' addresses, which `schema` keeps
/// alive.
struct SchemaValidator::Compiled {
  SchemaPtr schema;
  std::unordered_map<const Constraints*, Result<Regex>> patterns;
  CelRules rules;
  std::vector<std::string> problems;
  std::unordered_set<const Schema*> seen;

  void Add(const Schema* part) {
    if (part == nullptr || !seen.insert(part).second) return;
    for (const Property& property : part->properties) Add(property.schema.get());
    Add(part->values.get());
    Add(part->items.get());
    const Constraints* constraints = part->constraints.get();
    if (constraints == nullptr) return;
    if (!constraints->pattern.empty()) {
      const auto& pattern = patterns.emplace(constraints, Regex::Compile(constraints->pattern)).first->second;
      if (!pattern) problems.push_back("pattern " + Quote(constraints->pattern) + ": " + pattern.error().text);
    }
    for (std::string& problem : rules.Add(*constraints)) problems.push_back(std::move(problem));
    for (const auto* list : {&constraints->all_of, &constraints->any_of, &constraints->one_of})
      for (const SchemaPtr& alternative : *list) Add(alternative.get());
    Add(constraints->not_.get());
  }
};

namespace {

/// One walk over a value. Paths are kept as the API server keeps them: a member of a map without a path gets ".name".
/// What has not changed is not looked at (ratcheting validation): an object that was stored before a rule can still be
/// changed in its other parts.
template <class Compiled>
class Check {
 public:
  explicit Check(const Compiled& compiled) : compiled_(compiled) {}

  Errors Value(const Json& value, const Json* old, const Schema& schema, const std::string& path) const {
    Errors errors;
    if (old != nullptr && JsonEqual(value, *old)) return errors;
    CheckType(value, schema, path, errors);
    const Constraints* c = schema.constraints.get();
    if (!value.is_null()) {
      if (c != nullptr) Alternatives(value, *c, path, errors);
      if (const auto* text = value.if_string()) Text(AsView(*text), schema, path, errors);
      if (value.is_number()) Bounds(value, schema, path, errors);
      if (const JsonArray* array = value.if_array())
        Items(*array, old == nullptr ? nullptr : old->if_array(), schema, path, errors);
    }
    if (c != nullptr && !c->enumeration.empty()) Enumeration(value, *c, path, errors);
    if (const JsonObject* object = value.if_object())
      Members(*object, old == nullptr ? nullptr : old->if_object(), schema, path, errors);
    return errors;
  }

 private:
  static void Add(Errors& errors, Errors more) { std::ranges::move(more, std::back_inserter(errors)); }

  /// Where an error of `path` is reported.
  static std::string At(const std::string& path) {
    if (path.empty()) return "<nil>";
    return path.starts_with('.') ? path.substr(1) : path;
  }
  static std::string Says(const std::string& path, std::string_view what) {
    return path + " in body " + std::string(what);
  }
  static void Invalid(Errors& errors, const std::string& path, Json value, std::string_view what) {
    errors.push_back(FieldError::Invalid(At(path), std::move(value), Says(path, what)));
  }
  /// An error of the schema's composition, which the API server reports for the whole object.
  static void Composite(Errors& errors, const std::string& path, std::string_view what) {
    errors.push_back(FieldError::Invalid("<nil>", "", Quote(path) + " " + std::string(what)));
  }

  static void CheckType(const Json& value, const Schema& schema, const std::string& path, Errors& errors) {
    if (schema.type == Type::kAny && !schema.int_or_string) return;
    if (value.is_null() ? schema.nullable : HasType(value, schema)) return;
    const bool numeric = schema.int_or_string || schema.type == Type::kInteger || schema.type == Type::kNumber;
    const bool textual = value.is_string() || value.is_array();
    // With a format, strings and lists are left to the format's own check.
    if (!value.is_null() && !schema.format.empty() && textual && !numeric) return;
    std::string want(TypeName(schema));
    std::string got(TypeName(value));
    if (!value.is_null() && !schema.format.empty() && !textual) {
      want = schema.format;
      got = value.is_number() ? (value.is_double() ? "float64" : "int64") : "";
    }
    errors.push_back(
        {Kind::kTypeInvalid, At(path), Says(path, "must be of type " + want + ": " + Quote(got)), Json(got)});
  }

  void Alternatives(const Json& value, const Constraints& c, const std::string& path, Errors& errors) const {
    if (!c.any_of.empty()) AnyOf(value, c, path, errors);
    if (!c.one_of.empty()) OneOf(value, c, path, errors);
    std::size_t valid = 0;
    for (const SchemaPtr& part : c.all_of) {
      Errors found = Value(value, nullptr, *part, path);
      if (found.empty()) ++valid;
      Add(errors, std::move(found));
    }
    if (valid != c.all_of.size())
      Composite(errors, path,
                std::string("must validate all the schemas (allOf)") + (valid == 0 ? ". None validated" : ""));
    if (c.not_ && Value(value, nullptr, *c.not_, path).empty())
      Composite(errors, path, "must not validate the schema (not)");
  }

  void AnyOf(const Json& value, const Constraints& c, const std::string& path, Errors& errors) const {
    std::optional<Errors> best;
    for (const SchemaPtr& part : c.any_of) {
      Errors found = Value(value, nullptr, *part, path);
      if (found.empty()) return;
      if (!best || found.size() < best->size()) best = std::move(found);
    }
    Composite(errors, path, "must validate at least one schema (anyOf)");
    Add(errors, *std::move(best));
  }

  void OneOf(const Json& value, const Constraints& c, const std::string& path, Errors& errors) const {
    std::optional<Errors> best;
    std::size_t valid = 0;
    for (const SchemaPtr& part : c.one_of) {
      Errors found = Value(value, nullptr, *part, path);
      if (found.empty()) ++valid;
      if (!found.empty() && (!best || found.size() < best->size())) best = std::move(found);
    }
    if (valid == 1) return;
    Composite(errors, path,
              "must validate one and only one schema (oneOf). " +
                  (valid == 0 ? "Found none valid" : "Found " + std::to_string(valid) + " valid alternatives"));
    if (valid == 0) Add(errors, *std::move(best));
  }

  void Text(std::string_view text, const Schema& schema, const std::string& path, Errors& errors) const {
    if (const Constraints* c = schema.constraints.get()) {
      const auto length = static_cast<std::int64_t>(CountRunes(text));
      if (c->max_length && length > *c->max_length) {
        errors.push_back(
            {Kind::kTooLong, At(path),
             "may not be more than " + std::to_string(*c->max_length) + (*c->max_length == 1 ? " byte" : " bytes"),
             std::nullopt});
      } else if (c->min_length && length < *c->min_length) {
        Invalid(errors, path, Json(text), "should be at least " + std::to_string(*c->min_length) + " chars long");
      } else if (!c->pattern.empty()) {
        const auto& pattern = compiled_.patterns.at(c);
        if (!pattern) {
          Invalid(errors, path, Json(text),
                  "should match '" + c->pattern + ", but pattern is invalid: " + pattern.error().text + "'");
        } else if (!pattern->Search(text)) {
          Invalid(errors, path, Json(text), "should match '" + c->pattern + "'");
        }
      }
    }
    if (!MatchesFormat(schema.format, text))
      errors.push_back({Kind::kTypeInvalid, At(path),
                        Says(path, "must be of type " + schema.format + ": " + Quote(text)), Json(text)});
  }

  /// A number that its type's format cannot hold; said about the whole object, as the API server does.
  static void CheckRange(const Json& value, const Schema& schema, const std::string& path, Errors& errors) {
    if (schema.type != Type::kInteger) return;
    const bool fits = schema.format != "int32" || !value.is_int64() ||
                      (value.get_int64() >= INT32_MIN && value.get_int64() <= INT32_MAX);
    if (IsWhole(value) && fits) return;
    const std::string format = schema.format.empty() ? " (default format)" : " with format " + schema.format;
    errors.push_back(
        FieldError::Invalid("<nil>", "", "Checked value must be of type integer" + format + " in " + path));
  }

  static void Bounds(const Json& value, const Schema& schema, const std::string& path, Errors& errors) {
    CheckRange(value, schema, path, errors);
    const Constraints* c = schema.constraints.get();
    if (c == nullptr) return;
    const double number = value.to_number<double>();
    if (c->multiple_of) {
      const double times = *c->multiple_of < 1 ? 1 / *c->multiple_of * number : number / *c->multiple_of;
      if (std::trunc(times) != times)
        Invalid(errors, path, value, "should be a multiple of " + Number(*c->multiple_of, value));
    }
    if (c->minimum && (number < *c->minimum || (c->exclusive_minimum && number == *c->minimum)))
      Invalid(errors, path, value,
              (c->exclusive_minimum ? "should be greater than " : "should be greater than or equal to ") +
                  Number(*c->minimum, value));
    if (c->maximum && (number > *c->maximum || (c->exclusive_maximum && number == *c->maximum)))
      Invalid(errors, path, value,
              (c->exclusive_maximum ? "should be less than " : "should be less than or equal to ") +
                  Number(*c->maximum, value));
  }

  void Items(const JsonArray& array, const JsonArray* old, const Schema& schema, const std::string& path,
             Errors& errors) const {
    if (schema.items)
      for (std::size_t i = 0; i < array.size(); ++i)
        Add(errors,
            Value(array[i], Counterpart(array[i], old, schema), *schema.items, path + "[" + std::to_string(i) + "]"));
    const Constraints* c = schema.constraints.get();
    if (c == nullptr) return;
    const auto size = static_cast<std::int64_t>(array.size());
    if (c->min_items && size < *c->min_items)
      Invalid(errors, path, size, "should have at least " + std::to_string(*c->min_items) + " items");
    if (c->max_items && size > *c->max_items) errors.push_back(TooMany(path, size, *c->max_items));
    if (c->unique_items) {
      std::set<std::string> seen;
      for (const Json& item : array) {
        if (seen.insert(ToJson(item)).second) continue;
        Invalid(errors, path, "", "shouldn't contain duplicates");
        break;
      }
    }
  }

  static FieldError TooMany(const std::string& path, std::int64_t size, std::int64_t most) {
    return {Kind::kTooMany, At(path), "must have at most " + std::to_string(most) + (most == 1 ? " item" : " items"),
            Json(size)};
  }

  static void Enumeration(const Json& value, const Constraints& c, const std::string& path, Errors& errors) {
    std::vector<std::string> supported;
    for (const Json& allowed : c.enumeration) {
      if (JsonEqual(allowed, value)) return;
      const auto* text = allowed.if_string();
      supported.push_back(text != nullptr ? std::string(AsView(*text)) : ToJson(allowed));
    }
    errors.push_back(FieldError::NotSupported(At(path), value, supported));
  }

  void Members(const JsonObject& object, const JsonObject* old, const Schema& schema, const std::string& path,
               Errors& errors) const {
    if (const Constraints* c = schema.constraints.get()) {
      const auto size = static_cast<std::int64_t>(object.size());
      if (c->min_properties && size < *c->min_properties)
        Invalid(errors, path, size, "should have at least " + std::to_string(*c->min_properties) + " properties");
      if (c->max_properties && size > *c->max_properties) errors.push_back(TooMany(path, size, *c->max_properties));
    }
    for (const auto& member : object) {
      const std::string name(member.key());
      const Property* property = schema.Find(name);
      const Json* before = old == nullptr ? nullptr : old->if_contains(name);
      if (property != nullptr && property->schema) {
        Add(errors, Value(member.value(), before, *property->schema, path.empty() ? name : path + "." + name));
      } else if (property == nullptr && schema.values) {
        Add(errors, Value(member.value(), before, *schema.values, path + "." + name));
      }
    }
    for (const Property& property : schema.properties)
      if (property.required && !object.contains(property.name))
        errors.push_back(FieldError::Required(At(path + "." + property.name)));
  }

  const Compiled& compiled_;
};

/// Lists that are sets or maps hold no item twice.
void CheckLists(const Json& value, const Schema* schema, const Path& path, Errors& errors) {
  if (schema == nullptr) return;
  if (const JsonObject* object = value.if_object()) {
    for (const auto& member : *object) {
      if (const Property* property = schema->Find(member.key())) {
        CheckLists(member.value(), property->schema.get(), path.Child(member.key()), errors);
      } else {
        CheckLists(member.value(), schema->values.get(), path.Key(member.key()), errors);
      }
    }
    return;
  }
  const JsonArray* array = value.if_array();
  if (array == nullptr) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const Json& item = (*array)[i];
    CheckLists(item, schema->items.get(), path.Index(i), errors);
    if (schema->list_type == ListType::kAtomic) continue;
    Json id = item;
    if (schema->list_type == ListType::kMap && item.is_object()) {
      id = JsonObject();
      for (const std::string& key : schema->list_keys)
        if (const Json* part = item.get_object().if_contains(key)) id.get_object()[key] = *part;
    }
    if (!seen.insert(ToJson(id)).second)
      errors.push_back(FieldError::Duplicate(path.Index(i).ToString(), std::move(id)));
  }
}

}  // namespace

SchemaValidator::SchemaValidator(SchemaPtr schema) {
  auto compiled = std::make_shared<Compiled>();
  compiled->Add(schema.get());
  compiled->schema = std::move(schema);
  compiled_ = std::move(compiled);
}

std::vector<FieldError> SchemaValidator::Validate(const Json& value, const Json* old) const {
  if (!compiled_->schema) return {};
  Errors errors = Check(*compiled_).Value(value, old, *compiled_->schema, "");
  // Lists that hold something twice already may go on doing so.
  Errors twice, already;
  CheckLists(value, compiled_->schema.get(), Path(), twice);
  if (old != nullptr && !twice.empty()) CheckLists(*old, compiled_->schema.get(), Path(), already);
  if (already.empty()) std::ranges::move(twice, std::back_inserter(errors));
  if (errors.empty()) compiled_->rules.Check(value, old, *compiled_->schema, errors);
  return errors;
}

const std::vector<std::string>& SchemaValidator::problems() const { return compiled_->problems; }

}  // namespace gpuop::data
