#include "sim/types/decode.h"

#include <fmt/core.h>

#include <boost/json.hpp>
#include <utility>

#include "base/text.h"
#include "data/json.h"
#include "data/yaml.h"
#include "kube/builtin/table.h"
#include "sim/types/protobuf.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

constexpr std::string_view kAccepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::size_t kShown = 30;

std::string ApiVersion(const ExpectedType& type) {
  return type.group.empty() ? std::string(type.version) : fmt::format("{}/{}", type.group, type.version);
}

/// The beginning of a body, as the server shows it in errors: as text when it looks like JSON, else as hexadecimal.
std::string Shown(std::string_view body) {
  if (body.empty()) return "<empty>";
  const std::string more = body.size() > kShown ? " ..." : "";
  const std::string_view head = body.substr(0, kShown);
  return (Trim(body).starts_with('{') ? std::string(head) : Hex(head)) + more;
}

Status Unrecognised(const ExpectedType& expected, std::string_view why, std::string_view body) {
  return BadRequest(fmt::format("the object provided is unrecognized (must be of type {}): {} ({})", expected.kind, why,
                                Shown(body)));
}

/// As Go's reader says it: a text that ends too early is told from one that is wrong.
std::string JsonWords(const Error& error) {
  const bool early = error.text.contains("ends too early");
  return "couldn't get version/kind; json parse error: " + (early ? "unexpected end of JSON input" : error.text);
}

std::string WrongKind(const json::value& value) {
  constexpr std::string_view kStruct =
      R"(struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })";
  const std::string_view is = value.is_array()    ? "array"
                              : value.is_string() ? "string"
                              : value.is_bool()   ? "bool"
                                                  : "number";
  return fmt::format("couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type {}",
                     is, kStruct);
}

Answer<json::object> ObjectOf(const ExpectedType& expected, json::value value, std::string_view body) {
  if (value.is_null()) return json::object();
  if (!value.is_object()) return std::unexpected(Unrecognised(expected, WrongKind(value), body));
  for (const auto& [member, field] : {std::pair("apiVersion", ".apiVersion"), std::pair("kind", ".kind")}) {
    const json::value* type = value.get_object().if_contains(member);
    if (type == nullptr || type->is_null() || type->is_string()) continue;
    const std::string why = fmt::format(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct field {} of type string",
        type->is_number()  ? "number"
        : type->is_bool()  ? "bool"
        : type->is_array() ? "array"
                           : "object",
        field);
    return std::unexpected(Unrecognised(expected, why, body));
  }
  return std::move(value.get_object());
}

Answer<json::object> ReadJson(const ExpectedType& expected, std::string_view body, std::vector<std::string>& problems) {
  auto parsed = data::ParseJsonFindingDuplicates(body);
  if (!parsed && parsed.error().code == Code::kTooLarge) return std::unexpected(RequestTooLarge(parsed.error().text));
  if (Trim(body).empty())
    return std::unexpected(
        Unrecognised(expected, "couldn't get version/kind; json parse error: unexpected end of JSON input", body));
  if (!parsed) return std::unexpected(Unrecognised(expected, JsonWords(parsed.error()), body));
  for (const std::string& field : parsed->duplicates) problems.push_back(fmt::format("duplicate field \"{}\"", field));
  return ObjectOf(expected, std::move(parsed->value), body);
}

Answer<json::object> ReadYaml(const ExpectedType& expected, std::string_view body, std::vector<std::string>& problems) {
  auto parsed = data::ParseYamlStream(body);
  if (!parsed && parsed.error().code == Code::kTooLarge) return std::unexpected(RequestTooLarge(parsed.error().text));
  if (!parsed) return std::unexpected(Unrecognised(expected, parsed.error().text, body));
  if (parsed->empty()) return json::object();
  data::YamlDocument& document = parsed->front();
  for (const std::string& path : document.duplicates)
    problems.push_back(fmt::format("yaml: unmarshal errors:\n  line {}: key {} already set in map", document.line,
                                   Quote(path.substr(path.rfind('.') + 1))));
  return ObjectOf(expected, std::move(document.value), body);
}

Answer<json::object> ReadProtobuf(const ExpectedType& expected, std::string_view body) {
  const auto envelope = OpenEnvelope(body);
  if (!envelope) return std::unexpected(BadRequest(envelope.error().text));
  const std::string version = envelope->api_version.empty() ? ApiVersion(expected) : envelope->api_version;
  const std::string kind = envelope->kind.empty() ? std::string(expected.kind) : envelope->kind;
  const auto slash = version.find('/');
  const std::string_view group = slash == std::string::npos ? "" : std::string_view(version).substr(0, slash);
  const std::string_view short_version = std::string_view(version).substr(slash == std::string::npos ? 0 : slash + 1);
  const data::SchemaPtr schema = kube::builtin::FindKind(group, short_version, kind);
  if (schema == nullptr)
    return std::unexpected(BadRequest(fmt::format(
        "{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is registered for version \"{}\" in scheme "
        "\"pkg/runtime/scheme.go:111\"",
        kind, short_version, expected.kind, kind, version)));
  auto decoded = DecodeMessage(*schema, envelope->raw);
  if (!decoded)
    return std::unexpected(BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind,
                                                  short_version, expected.kind, decoded.error().text)));
  json::object out{{"kind", kind}, {"apiVersion", version}};
  for (auto& [name, value] : *decoded)
    if (!out.contains(name)) out.emplace(name, std::move(value));
  return out;
}

}  // namespace

Answer<json::object> DecodeBody(const ExpectedType& expected, std::string_view content_type, std::string_view body,
                                std::vector<std::string>& problems) {
  const std::string media = ToLower(Trim(content_type.substr(0, content_type.find(';'))));
  Answer<json::object> read;
  if (media.empty() || media == "application/json") {
    read = ReadJson(expected, body, problems);
  } else if (media == "application/yaml" || media == "application/apply-patch+yaml") {
    read = ReadYaml(expected, body, problems);
  } else if (media == "application/vnd.kubernetes.protobuf") {
    read = ReadProtobuf(expected, body);
  } else {
    return std::unexpected(UnsupportedMediaType(kAccepted));
  }
  if (!read) return read;
  const auto missing = [&](const char* name) {
    const json::value* value = read->if_contains(name);
    return value == nullptr || value->is_null() || (value->is_string() && value->get_string().empty());
  };
  const bool typed_patch = media == "application/apply-patch+yaml";
  if (!typed_patch && missing("kind")) (*read)["kind"] = expected.kind;
  if (!typed_patch && missing("apiVersion")) (*read)["apiVersion"] = ApiVersion(expected);
  return read;
}

}  // namespace gpuop::sim::types
