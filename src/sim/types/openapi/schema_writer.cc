#include "sim/types/openapi/schema_writer.h"

#include <algorithm>
#include <boost/json.hpp>

#include "data/json.h"
#include "kube/builtin/table.h"
#include "sim/types/openapi/words.h"
#include "sim/types/scalars.h"

namespace gpuop::sim::types {
using data::AppendJson;
using data::AppendJsonString;
using data::Schema;
using data::Type;

namespace {

/// Adds `"name":`, with a comma unless it is the first member.
void Member(std::string& out, std::string_view name) {
  if (!out.empty() && out.back() != '{') out += ',';
  AppendJsonString(out, name);
  out += ':';
}

void Text(std::string& out, std::string_view name, std::string_view value) {
  Member(out, name);
  AppendJsonString(out, value);
}

template <class List>
void Texts(std::string& out, std::string_view name, const List& values) {
  Member(out, name);
  out += '[';
  for (const auto& value : values) {
    if (out.back() != '[') out += ',';
    AppendJsonString(out, value);
  }
  out += ']';
}

template <class Number>
void MaybeNumber(std::string& out, std::string_view name, const std::optional<Number>& value) {
  if (!value) return;
  Member(out, name);
  AppendJson(out, data::Json(*value));
}

/// A type that stands under its own name in the document. Times, quantities and the like are such types too.
bool IsNamed(const Schema& schema) { return !schema.name.empty(); }

bool IsPlainStruct(const Schema& schema) {
  return IsNamed(schema) && schema.type == Type::kObject && FormOf(schema) == Form::kNone;
}

}  // namespace

void SchemaWriter::Reference(std::string& out, std::string_view name) {
  referred_.emplace(name);
  out += R"({"$ref":"#/)";
  out += version_ == OpenApiVersion::kV2 ? "definitions/" : "components/schemas/";
  out.append(name).append("\"}");
}

void SchemaWriter::Use(std::string& out, const Schema& schema, const data::Property* field, std::string_view words) {
  if (!IsNamed(schema)) {
    out += '{';
    if (schema.description.empty() && !words.empty()) Text(out, "description", words);
    Body(out, schema, true);
    out += '}';
    return;
  }
  std::string marks = "{";
  if (!words.empty()) Text(marks, "description", words);
  if (IsPlainStruct(schema) && (field == nullptr || !field->pointer)) {
    Member(marks, "default");
    marks += "{}";
  }
  Marks(marks, schema, true);
  const bool bare = field == nullptr && marks.size() == 1;  // an element of a list or a map
  if (bare || version_ == OpenApiVersion::kV2) return Reference(out, schema.name);
  out += marks;
  Member(out, "allOf");
  out += '[';
  Reference(out, schema.name);
  out += "]}";
}

void SchemaWriter::Definition(std::string& out, const Schema& schema, std::string_view group_version_kind) {
  out += '{';
  if (const auto words = WordsOf(schema.name); schema.description.empty() && !words.empty())
    Text(out, "description", words);
  Body(out, schema, false);
  if (!group_version_kind.empty()) {
    Member(out, "x-kubernetes-group-version-kind");
    out += group_version_kind;
  }
  out += '}';
}

bool SchemaWriter::Form(std::string& out, const Schema& schema) {
  const bool v3 = version_ == OpenApiVersion::kV3;
  switch (FormOf(schema)) {
    case Form::kQuantity:
      if (v3)
        out += R"("oneOf":[{"type":"string"},{"type":"number"}])";
      else
        out += R"("type":"string")";
      return true;
    case Form::kIntOrString:
      out += v3 ? R"("format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}])"
                : R"("format":"int-or-string","type":"string")";
      return true;
    case Form::kTime:
    case Form::kMicroTime: out += R"("format":"date-time","type":"string")"; return true;
    case Form::kRaw: out += R"("type":"object")"; return true;
    case Form::kNone: return false;
    default: return true;  // any value
  }
}

void SchemaWriter::Body(std::string& out, const Schema& schema, bool use) {
  if (!schema.description.empty()) Text(out, "description", schema.description);
  if (IsNamed(schema) && Form(out, schema)) return;
  if (schema.type == Type::kObject || schema.type == Type::kArray) {
    Text(out, "type", schema.type == Type::kObject ? "object" : "array");
    Members(out, schema);
  } else if (schema.type != Type::kAny) {
    Text(out, "type",
         schema.type == Type::kString    ? "string"
         : schema.type == Type::kInteger ? "integer"
         : schema.type == Type::kNumber  ? "number"
                                         : "boolean");
  }
  if (!schema.format.empty()) Text(out, "format", schema.format);
  if (schema.default_value) {
    Member(out, "default");
    AppendJson(out, *schema.default_value);
  }
  Limits(out, schema);
  Marks(out, schema, use);
}

void SchemaWriter::Members(std::string& out, const Schema& schema) {
  std::vector<std::string_view> required;
  for (const data::Property& field : schema.properties)
    if (field.required) required.push_back(field.name);
  if (!required.empty()) Texts(out, "required", required);
  if (!schema.properties.empty()) {
    Member(out, "properties");
    out += '{';
    for (const data::Property& field : schema.properties) {
      Member(out, field.name);
      Use(out, *field.schema, &field, WordsOf(schema.name, field.name));
    }
    out += '}';
  }
  if (schema.values != nullptr) {
    Member(out, "additionalProperties");
    Use(out, *schema.values);
  }
  if (schema.items != nullptr) {
    Member(out, "items");
    Use(out, *schema.items);
  }
}

void SchemaWriter::Limits(std::string& out, const Schema& schema) {
  if (schema.nullable) out += R"(,"nullable":true)";
  if (schema.constraints == nullptr) return;
  const data::Constraints& limits = *schema.constraints;
  if (!limits.enumeration.empty()) {
    Member(out, "enum");
    AppendJson(out, boost::json::array(limits.enumeration.begin(), limits.enumeration.end()));
  }
  if (!limits.pattern.empty()) Text(out, "pattern", limits.pattern);
  MaybeNumber(out, "minimum", limits.minimum);
  MaybeNumber(out, "maximum", limits.maximum);
  MaybeNumber(out, "minLength", limits.min_length);
  MaybeNumber(out, "maxLength", limits.max_length);
  MaybeNumber(out, "minItems", limits.min_items);
  MaybeNumber(out, "maxItems", limits.max_items);
}

void SchemaWriter::Marks(std::string& out, const Schema& schema, bool use) {
  const auto flag = [&](std::string_view name) {
    Member(out, name);
    out += "true";
  };
  if (schema.int_or_string && FormOf(schema) == types::Form::kNone) flag("x-kubernetes-int-or-string");
  if (schema.preserve_unknown && FormOf(schema) == types::Form::kNone) flag("x-kubernetes-preserve-unknown-fields");
  if (schema.embedded_resource) flag("x-kubernetes-embedded-resource");
  if (schema.atomic_map) {
    const auto named = IsNamed(schema) && use ? kube::builtin::FindType(schema.name) : nullptr;
    if (named == nullptr || !named->atomic_map) Text(out, "x-kubernetes-map-type", "atomic");
  }
  if (schema.type == Type::kArray) {
    if (!schema.list_keys.empty()) Texts(out, "x-kubernetes-list-map-keys", schema.list_keys);
    Text(out, "x-kubernetes-list-type",
         schema.list_type == data::ListType::kMap   ? "map"
         : schema.list_type == data::ListType::kSet ? "set"
                                                    : "atomic");
  }
  if (!schema.patch_merge_key.empty()) Text(out, "x-kubernetes-patch-merge-key", schema.patch_merge_key);
  std::string strategy;
  if (schema.patch_merge) strategy = "merge";
  if (schema.patch_replace) strategy += strategy.empty() ? "replace" : ",replace";
  if (schema.patch_retain_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  if (!strategy.empty()) Text(out, "x-kubernetes-patch-strategy", strategy);
}

}  // namespace gpuop::sim::types
