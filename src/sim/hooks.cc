#include "sim/hooks.h"

#include <fmt/core.h>

#include "data/json.h"

namespace gpuop::sim {
namespace {

using boost::json::object;
using boost::json::value;

constexpr std::string_view kAccepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// Moves `from` to `to` where it is there.
void Rename(object& o, std::string_view from, std::string_view to) {
  value* v = o.if_contains(from);
  if (v == nullptr) return;
  value moved = std::move(*v);
  o.erase(from);
  o[to] = std::move(moved);
}

/// core/v1 and events.k8s.io/v1 are two views of one Event.
void ConvertEvent(bool to_core, object& o) {
  constexpr std::string_view kPairs[][2] = {{"involvedObject", "regarding"},
                                            {"message", "note"},
                                            {"source", "deprecatedSource"},
                                            {"firstTimestamp", "deprecatedFirstTimestamp"},
                                            {"lastTimestamp", "deprecatedLastTimestamp"},
                                            {"count", "deprecatedCount"},
                                            {"reportingComponent", "reportingController"}};
  for (const auto& [core, events] : kPairs) to_core ? Rename(o, events, core) : Rename(o, core, events);
  // Empty, core/v1 writes them and events.k8s.io/v1 leaves them out.
  for (std::string_view field : {to_core ? "reportingComponent" : "reportingController", "reportingInstance"}) {
    if (to_core && !o.contains(field)) o[field] = "";
    if (const value* v = o.if_contains(field); !to_core && v != nullptr && *v == "") o.erase(field);
  }
}

std::string Age(const object& o, WallTime now) {
  const value* metadata = o.if_contains("metadata");
  const auto created = metadata == nullptr ? std::nullopt : data::GetString(*metadata, "creationTimestamp");
  const auto at = created ? ParseTime(*created) : std::nullopt;
  if (!at) return "<unknown>";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - *at).count();
  if (seconds < 120) return fmt::format("{}s", std::max<long>(seconds, 0));
  if (seconds < 10 * 60)
    return seconds % 60 == 0 ? fmt::format("{}m", seconds / 60) : fmt::format("{}m{}s", seconds / 60, seconds % 60);
  if (seconds < 3 * 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

}  // namespace

Answer<object> TypeSystem::Decode(const Request& request, std::string_view content_type, std::string_view body,
                                  std::vector<std::string>& problems) {
  const std::string_view media = content_type.substr(0, content_type.find(';'));
  if (!media.empty() && media != "application/json" && media != "application/apply-patch+yaml" &&
      media != "application/yaml")
    return std::unexpected(UnsupportedMediaType(kAccepted));
  auto parsed = data::ParseJsonFindingDuplicates(body);
  if (!parsed || !parsed->value.is_object()) {
    const std::string why = parsed ? std::string("expected an object") : parsed.error().text;
    return std::unexpected(BadRequest(fmt::format(
        "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: {}",
        request.resource->kind, body.empty() ? "unexpected end of JSON input (<empty>)" : why)));
  }
  for (const std::string& field : parsed->duplicates) problems.push_back(fmt::format("duplicate field \"{}\"", field));
  return std::move(parsed->value.get_object());
}

Answer<> TypeSystem::Conform(const Request&, object&, std::vector<std::string>&) { return {}; }

void TypeSystem::Default(const Request&, object&) {}

std::vector<FieldError> TypeSystem::Validate(const Request&, const object&, const object*) { return {}; }

void TypeSystem::TrackFields(const Request&, const object*, object&) {}

Answer<object> TypeSystem::Apply(const Request&, const object*, const object&, bool) {
  return std::unexpected(
      UnsupportedMediaType("application/json-patch+json, application/merge-patch+json, "
                           "application/strategic-merge-patch+json"));
}

Answer<> TypeSystem::Convert(const ResourceInfo& to, object& o) {
  if (to.plural == "events" && (to.group == "events.k8s.io" || to.group.empty())) ConvertEvent(to.group.empty(), o);
  o["apiVersion"] = to.ApiVersion();
  return {};
}

std::string TableRenderer::Columns(const ResourceInfo&) {
  return R"([{"name":"Name","type":"string","format":"name","description":"Name of the object.","priority":0},)"
         R"({"name":"Age","type":"string","format":"","description":"Time since its creation.","priority":0}])";
}

std::string TableRenderer::Row(const ResourceInfo&, const object& o, WallTime now) {
  std::string out = "\"cells\":[";
  const value* metadata = o.if_contains("metadata");
  data::AppendJsonString(out, metadata == nullptr ? std::string_view() : data::StringOr(*metadata, "name"));
  out += ',';
  data::AppendJsonString(out, Age(o, now));
  return out + "]";
}

}  // namespace gpuop::sim
