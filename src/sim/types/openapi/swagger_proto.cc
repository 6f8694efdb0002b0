#include "sim/types/openapi/swagger_proto.h"

#include <cstring>

#include "data/json.h"
#include "sim/peek.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

/// A message that grows field by field (https://protobuf.dev/programming-guides/encoding).
class Message {
 public:
  void Text(int field, std::string_view text) {
    Varint(static_cast<std::uint64_t>(field) << 3U | 2U);
    Varint(text.size());
    out_ += text;
  }
  void Part(int field, const Message& part) { Text(field, part.out_); }
  void Int(int field, std::int64_t value) {
    Varint(static_cast<std::uint64_t>(field) << 3U);
    Varint(static_cast<std::uint64_t>(value));
  }
  void Double(int field, double value) {
    Varint(static_cast<std::uint64_t>(field) << 3U | 1U);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof bytes);
  }
  std::string Take() { return std::move(out_); }

 private:
  void Varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) out_ += static_cast<char>(value | 0x80U);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

Message Any(const json::value& value) {
  Message any;
  any.Text(2, data::ToJson(value));  // "yaml", which JSON is
  return any;
}

template <class Value>
Message Named(std::string_view name, const Value& value) {
  Message named;
  named.Text(1, name);
  named.Part(2, value);
  return named;
}

void Extensions(Message& out, int field, const json::object& in) {
  for (const auto& [name, value] : in)
    if (name.starts_with("x-")) out.Part(field, Named(name, Any(value)));
}

void Texts(Message& out, int field, const json::object& in, std::string_view name) {
  for (const json::value& text : PeekArray(in, {name})) out.Text(field, AsString(text));
}

struct ScalarField {
  std::string_view name;
  int field;
};

void Scalars(Message& out, const json::object& in) {
  constexpr ScalarField kTexts[] = {{"$ref", 1}, {"format", 2}, {"description", 4}, {"pattern", 13}};
  constexpr ScalarField kDoubles[] = {{"maximum", 7}, {"minimum", 9}};
  constexpr ScalarField kInts[] = {{"maxLength", 11}, {"minLength", 12}, {"maxItems", 14}, {"minItems", 15}};
  for (const auto& [name, field] : kTexts)
    if (const auto* v = in.if_contains(name)) out.Text(field, AsString(*v));
  for (const auto& [name, field] : kDoubles)
    if (const auto* v = in.if_contains(name); v != nullptr && v->is_number()) out.Double(field, v->to_number<double>());
  for (const auto& [name, field] : kInts)
    if (const auto* v = in.if_contains(name); v != nullptr && v->is_int64()) out.Int(field, v->get_int64());
}

Message SchemaOf(const json::object& in) {
  Message out;
  Scalars(out, in);
  if (const auto* v = in.if_contains("default")) out.Part(5, Any(*v));
  Texts(out, 19, in, "required");
  for (const json::value& v : PeekArray(in, {"enum"})) out.Part(20, Any(v));
  Message inner;
  if (const auto* v = in.if_contains("additionalProperties"); v != nullptr && v->is_object()) {
    inner.Part(1, SchemaOf(v->get_object()));
    out.Part(21, inner);
  }
  if (const auto* v = in.if_contains("type")) {
    Message type;
    type.Text(1, AsString(*v));
    out.Part(22, type);
  }
  if (const auto* v = in.if_contains("items"); v != nullptr && v->is_object()) {
    Message items;
    items.Part(1, SchemaOf(v->get_object()));
    out.Part(23, items);
  }
  if (const auto* v = in.if_contains("properties"); v != nullptr && v->is_object()) {
    Message properties;
    for (const auto& [name, schema] : v->get_object()) properties.Part(1, Named(name, SchemaOf(AsObject(&schema))));
    out.Part(25, properties);
  }
  Extensions(out, 31, in);
  return out;
}

/// Parameters in the query and in the path; the two messages number their fields apart from the fifth on.
Message ParameterOf(const json::object& in) {
  const bool query = PeekString(in, {"in"}) == "query";
  Message own;
  if (PeekBool(in, {"required"})) own.Int(1, 1);
  own.Text(2, PeekString(in, {"in"}));
  own.Text(4, PeekString(in, {"name"}));
  own.Text(query ? 6 : 5, PeekString(in, {"type"}));
  if (PeekBool(in, {"uniqueItems"})) own.Int(query ? 20 : 19, 1);
  Message place, parameter, item;
  place.Part(query ? 3 : 4, own);
  parameter.Part(2, place);
  item.Part(1, parameter);
  return item;
}

Message ResponseOf(const json::object& in) {
  Message response, schema, value;
  response.Text(1, PeekString(in, {"description"}));
  if (const auto* v = in.if_contains("schema"); v != nullptr && v->is_object()) {
    schema.Part(1, SchemaOf(v->get_object()));
    response.Part(2, schema);
  }
  value.Part(1, response);
  return value;
}

Message OperationOf(const json::object& in) {
  Message out, responses;
  for (const json::value& p : PeekArray(in, {"parameters"})) out.Part(8, ParameterOf(AsObject(&p)));
  for (const auto& [code, response] : PeekObject(in, {"responses"}))
    responses.Part(1, Named(code, ResponseOf(AsObject(&response))));
  out.Part(9, responses);
  Extensions(out, 13, in);
  return out;
}

Message PathOf(const json::object& in) {
  constexpr ScalarField kMethods[] = {{"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  Message out;
  for (const auto& [method, field] : kMethods)
    if (const auto* operation = in.if_contains(method)) out.Part(field, OperationOf(AsObject(operation)));
  for (const json::value& p : PeekArray(in, {"parameters"})) out.Part(9, ParameterOf(AsObject(&p)));
  return out;
}

}  // namespace

std::string SwaggerProto(const json::object& document) {
  Message out, info, paths, definitions;
  out.Text(1, PeekString(document, {"swagger"}));
  info.Text(1, PeekString(document, {"info", "title"}));
  info.Text(2, PeekString(document, {"info", "version"}));
  out.Part(2, info);
  for (const auto& [path, item] : PeekObject(document, {"paths"})) paths.Part(2, Named(path, PathOf(AsObject(&item))));
  out.Part(8, paths);
  for (const auto& [name, schema] : PeekObject(document, {"definitions"}))
    definitions.Part(1, Named(name, SchemaOf(AsObject(&schema))));
  out.Part(9, definitions);
  return out.Take();
}

}  // namespace gpuop::sim::types
