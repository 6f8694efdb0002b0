#include "kube/builtin/type_reader.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/check.h"
#include "base/text.h"

namespace gpuop::kube::builtin {
namespace json = boost::json;
using data::ListType;
using data::Property;
using data::Schema;
using data::SchemaPtr;

namespace {

struct Scalar {
  std::string_view word;
  data::Type type;
  std::string_view format;
  bool has_zero = true;
};

constexpr Scalar kScalars[] = {
    {"string", data::Type::kString, ""},        {"bool", data::Type::kBoolean, ""},
    {"int32", data::Type::kInteger, "int32"},   {"int64", data::Type::kInteger, "int64"},
    {"double", data::Type::kNumber, "double"},  {"bytes", data::Type::kString, "byte", false},
    {"object", data::Type::kObject, "", false},
};

const Scalar* FindScalar(std::string_view word) {
  const auto* it = std::ranges::find(kScalars, word, &Scalar::word);
  return it == std::end(kScalars) ? nullptr : it;
}

json::value ZeroOf(const Schema& schema) {
  switch (schema.type) {
    case data::Type::kString: return "";
    case data::Type::kInteger:
    case data::Type::kNumber: return 0;
    case data::Type::kBoolean: return false;
    default: return json::object();
  }
}

void SetListType(Schema& schema, std::string_view mark) {
  schema.list_type = mark == "set" ? ListType::kSet : mark == "atomic" ? ListType::kAtomic : ListType::kMap;
  if (schema.list_type != ListType::kMap) return;
  for (std::string_view key : Split(mark.substr(5), ',')) schema.list_keys.emplace_back(key);
}

void SetPatchStrategy(Schema& schema, std::string_view strategies) {
  for (std::string_view strategy : Split(strategies, ',')) {
    if (strategy == "merge") schema.patch_merge = true;
    if (strategy == "replace") schema.patch_replace = true;
    if (strategy == "retainKeys") schema.patch_retain_keys = true;
  }
}

void SetEnumeration(Schema& schema, std::string_view values) {
  auto constraints = std::make_shared<data::Constraints>();
  for (std::string_view value : Split(values, ',')) constraints->enumeration.emplace_back(value);
  schema.constraints = std::move(constraints);
}

void ApplyMark(Schema& schema, std::string_view mark) {
  const auto [key, value] = Cut(mark, '=').value_or(std::pair(mark, std::string_view()));
  if (key == "atomic" || key == "set" || key == "keys")
    SetListType(schema, mark);
  else if (key == "map")
    schema.atomic_map = value == "atomic";
  else if (key == "patch")
    SetPatchStrategy(schema, value);
  else if (key == "merge")
    schema.patch_merge_key = value;
  else if (key == "enum")
    SetEnumeration(schema, value);
  else if (key == "default")
    schema.default_value = value.empty() ? ZeroOf(schema) : json::parse(value);
  else
    GPUOP_CHECK(key == "nodefault");
}

int ProtoNumber(std::string_view word) {
  int number = 0;
  for (std::string_view part : Split(word, '.')) number = number * 256 + static_cast<int>(ParseInt(part).value());
  return number;
}

}  // namespace

struct TypeReader::FieldText {
  std::string_view type;
  /// What follows the type.
  std::string_view marks;
  /// Go always writes a plain scalar without omitempty, and the document gives it a zero default.
  bool zero_default = false;
};

SchemaPtr TypeReader::Type(std::string_view name) {
  if (const auto it = types_.find(name); it != types_.end()) return it->second;
  const TypeText* text = index_.Find(name);
  if (text == nullptr) return nullptr;
  if (!text->form.empty()) return types_.emplace(name, Form(*text)).first->second;
  auto schema = std::make_shared<Schema>();
  types_.emplace(name, schema);  // before its fields, which may lead back here
  schema->type = data::Type::kObject;
  schema->name = text->name;
  schema->atomic_map = text->atomic;
  if (!text->fields.empty())
    for (std::string_view line : Split(text->fields, '\n')) schema->properties.push_back(Field(line, text->package));
  std::ranges::sort(schema->properties, {}, &Property::name);
  return schema;
}

Property TypeReader::Field(std::string_view line, std::string_view package) {
  const auto [name, after_name] = Cut(line, ' ').value();
  const auto [number, after_number] = Cut(after_name, ' ').value();
  const auto [flags, shape] = Cut(after_number, ' ').value();
  const auto [type, marks] = Cut(shape, ' ').value_or(std::pair(shape, std::string_view()));
  Property property;
  property.name = name;
  property.required = flags.contains('r');
  property.pointer = flags.contains('p');
  property.always = flags.contains('a');
  property.proto = ProtoNumber(number);
  property.schema = Shape({type, marks, property.always && !property.pointer}, package);
  return property;
}

SchemaPtr TypeReader::Shape(const FieldText& field, std::string_view package) {
  const Scalar* scalar = FindScalar(field.type);
  const bool nested = field.type.starts_with("[]") || field.type.starts_with("map:");
  if (scalar == nullptr && !nested && field.marks.empty()) return Type(FullName(field.type, package));
  std::string key = (scalar != nullptr ? "" : std::string(package)) + " " + std::string(field.type) + " " +
                    (field.zero_default ? "z" : "") + std::string(field.marks);
  if (const auto it = shapes_.find(key); it != shapes_.end()) return it->second;
  const std::shared_ptr<Schema> schema = Bare(field.type, package);
  if (field.zero_default && scalar != nullptr && scalar->has_zero) schema->default_value = ZeroOf(*schema);
  if (!field.marks.empty())
    for (std::string_view mark : Split(field.marks, ' ')) {
      if (mark == "nodefault") schema->default_value.reset();
      ApplyMark(*schema, mark);
    }
  return shapes_.emplace(std::move(key), schema).first->second;
}

/// A node of its own, to be marked.
std::shared_ptr<Schema> TypeReader::Bare(std::string_view type, std::string_view package) {
  auto schema = std::make_shared<Schema>();
  if (const Scalar* scalar = FindScalar(type)) {
    schema->type = scalar->type;
    schema->format = scalar->format;
  } else if (type.starts_with("[]")) {
    schema->type = data::Type::kArray;
    schema->items = Element(type.substr(2), package);
  } else if (type.starts_with("map:")) {
    schema->type = data::Type::kObject;
    schema->values = Element(type.substr(4), package);
  } else {
    const SchemaPtr named = Type(FullName(type, package));
    GPUOP_CHECK(named != nullptr);
    *schema = *named;
  }
  return schema;
}

SchemaPtr TypeReader::Element(std::string_view type, std::string_view package) {
  return Shape({type, {}, FindScalar(type) != nullptr}, package);
}

std::string TypeReader::FullName(std::string_view type, std::string_view package) const {
  const auto dot = type.find('.');
  if (dot == std::string_view::npos) return std::string(package).append(".").append(type);
  return std::string(index_.packages.at(type.substr(0, dot))).append(type.substr(dot));
}

SchemaPtr TypeReader::Form(const TypeText& text) {
  struct Known {
    std::string_view form, format;
    data::Type type;
    bool int_or_string = false, preserve = false;
  };
  static constexpr Known kForms[] = {
      {"quantity", "quantity", data::Type::kString, true},
      {"intorstring", "int-or-string", data::Type::kAny, true},
      {"time", "date-time", data::Type::kString},
      {"microtime", "micro-time", data::Type::kString},
      {"raw", "raw", data::Type::kObject, false, true},
      {"json", "json", data::Type::kAny, false, true},
      {"schemaorbool", "schema-or-bool", data::Type::kAny},
      {"schemaorarray", "schema-or-array", data::Type::kAny},
      {"schemaorstrings", "schema-or-strings", data::Type::kAny},
  };
  const auto* known = std::ranges::find(kForms, text.form, &Known::form);
  GPUOP_CHECK(known != std::end(kForms));
  auto schema = std::make_shared<Schema>();
  types_.emplace(text.name, schema);
  schema->name = text.name;
  schema->type = known->type;
  schema->format = known->format;
  schema->int_or_string = known->int_or_string;
  schema->preserve_unknown = known->preserve;
  if (known->format.starts_with("schema-")) schema->items = Type(std::string(text.package) + ".JSONSchemaProps");
  return schema;
}

}  // namespace gpuop::kube::builtin
