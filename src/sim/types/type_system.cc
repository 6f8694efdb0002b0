#include "sim/types/type_system.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "kube/builtin/table.h"
#include "sim/types/apply/typed_value.h"
#include "sim/types/autoscalers.h"
#include "sim/types/conform.h"
#include "sim/types/decode.h"
#include "sim/types/defaults/defaults.h"
#include "sim/types/reset_fields.h"
#include "sim/types/validate/validate.h"

namespace gpuop::sim::types {
namespace json = boost::json;
namespace builtin = kube::builtin;

namespace {

/// The kind that a request's body is of: the resource's, or that of a subresource that is another kind.
struct Target {
  std::string_view group, version, kind;
  data::SchemaPtr schema;
};

bool IsOtherKind(const Request& request) {
  return request.subresource != nullptr && !request.subresource->kind.empty() &&
         request.subresource->kind != request.resource->kind;
}

Target TargetOf(const Request& request) {
  const ResourceInfo& info = *request.resource;
  if (!IsOtherKind(request)) return {info.group, info.version, info.kind, info.schema};
  const Subresource& sub = *request.subresource;
  const std::string_view group = sub.version.empty() ? info.group : sub.group;
  const std::string_view version = sub.version.empty() ? info.version : sub.version;
  return {group, version, sub.kind, builtin::FindKind(group, version, sub.kind)};
}

bool IsCustom(const Request& request) { return request.resource->custom && !IsOtherKind(request); }

std::string TypedObjectName(const json::object& object, const ResourceInfo& info) {
  const json::value whole = object;
  return fmt::format("{}/{}; {}/{}, Kind={}", data::StringOr(whole, "metadata.namespace"),
                     data::StringOr(whole, "metadata.name"), info.group, info.version, info.kind);
}

std::string ErrorList(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors[0];
  std::string out = "errors:";
  for (const std::string& error : errors) out += "\n  " + error;
  return out;
}

Status ConflictStatus(const ApplyFailure& failure) {
  StatusDetails details;
  for (const ApplyConflict& conflict : failure.conflicts)
    details.causes.push_back(
        {"FieldManagerConflict", "conflict with " + conflict.manager.Text(), PathText(conflict.path)});
  return {409, "Conflict", failure.message, std::move(details), {}};
}

}  // namespace

Answer<json::object> Types::Decode(const Request& request, std::string_view content_type, std::string_view body,
                                   std::vector<std::string>& problems) {
  const Target target = TargetOf(request);
  return DecodeBody({target.group, target.version, target.kind}, content_type, body, problems);
}

Answer<> Types::Conform(const Request& request, json::object& object, std::vector<std::string>& problems) {
  if (IsCustom(request)) return custom_ == nullptr ? Answer<>() : custom_->Conform(request, object, problems);
  const Target target = TargetOf(request);
  if (target.schema == nullptr) return {};
  if (auto done = types::Conform(*target.schema, object, problems); !done)
    return std::unexpected(BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", target.kind,
                                                  target.version, target.kind, done.error().text)));
  return {};
}

void Types::Default(const Request& request, json::object& object) {
  if (IsCustom(request)) {
    if (custom_ != nullptr) custom_->Default(request, object);
    return;
  }
  const Target target = TargetOf(request);
  SetDefaults(target.group, target.kind, object);
}

std::vector<FieldError> Types::Validate(const Request& request, const json::object& object, const json::object* old) {
  if (IsCustom(request))
    return custom_ == nullptr ? std::vector<FieldError>() : custom_->Validate(request, object, old);
  if (IsOtherKind(request)) return {};
  const std::string_view sub = request.subresource == nullptr ? std::string_view() : request.subresource->name;
  return ValidateObject({request.resource->group, request.resource->kind, sub}, object, old);
}

void Types::TrackFields(const Request& request, const json::object* old, json::object& now) {
  const ResourceInfo& info = *request.resource;
  const data::SchemaPtr schema = WholeSchema(info);
  const std::string version = info.ApiVersion(), time = FormatTime(executor_.Wall());
  Writing writing = WritingOf(request, schema.get(), version, time);
  FieldPath replicas;
  if (writing.subresource == "scale") {
    for (std::string_view part : Split(info.scale.spec_replicas, '.')) replicas.push_back("f:" + std::string(part));
    writing.only = &replicas;
    writing.time = {};
  }
  TrackUpdate(writing, old == nullptr ? Empty(info) : *old, now);
}

Answer<json::object> Types::Apply(const Request& request, const json::object* live, const json::object& wanted,
                                  bool force) {
  const ResourceInfo& info = *request.resource;
  const json::value whole = wanted;
  if (data::StringOr(whole, "apiVersion") != info.ApiVersion())
    return std::unexpected(BadRequest(fmt::format("invalid object type: {}, Kind={}",
                                                  data::StringOr(whole, "apiVersion"), data::StringOr(whole, "kind"))));
  if (const json::value* managed = data::Find(whole, "metadata.managedFields");
      managed != nullptr && !managed->is_null())
    return std::unexpected(BadRequest("metadata.managedFields must be nil"));
  const data::SchemaPtr schema = WholeSchema(info);
  if (const auto errors = CheckTyped(Shape(schema.get()), whole, false); !errors.empty())
    return std::unexpected(Status{
        500,
        "",
        fmt::format("failed to create typed patch object ({}): {}", TypedObjectName(wanted, info), ErrorList(errors)),
        {},
        {}});
  const std::string version = info.ApiVersion(), time = FormatTime(executor_.Wall());
  const json::object empty = Empty(info);
  auto applied = ApplyConfig(WritingOf(request, schema.get(), version, time), empty, live == nullptr ? empty : *live,
                             wanted, force);
  if (!applied) return std::unexpected(ConflictStatus(applied.error()));
  std::vector<std::string> ignored;
  TRY(Conform(request, *applied, ignored));
  return *std::move(applied);
}

Answer<> Types::Convert(const ResourceInfo& to, json::object& object) {
  if (to.custom && custom_ != nullptr) return custom_->Convert(to, object);
  if (to.group == "autoscaling") ConvertAutoscaler(to.version, object);
  return TypeSystem::Convert(to, object);
}

data::SchemaPtr Types::WholeSchema(const ResourceInfo& info) {
  if (!info.custom || info.schema == nullptr) return info.schema;
  auto& [made_from, whole] = whole_[info.schema.get()];
  if (whole == nullptr) {
    made_from = info.schema;
    whole = WithObjectMeta(*info.schema);
  }
  return whole;
}

json::object Types::Empty(const ResourceInfo& info) {
  json::object out{{"kind", info.kind}, {"apiVersion", info.ApiVersion()}};
  std::vector<std::string> problems;
  if (!info.custom && info.schema != nullptr) (void)types::Conform(*info.schema, out, problems);
  return out;
}

Writing Types::WritingOf(const Request& request, const data::Schema* schema, const std::string& api_version,
                         const std::string& time) {
  const ResourceInfo& info = *request.resource;
  Writing writing;
  writing.schema = schema;
  writing.manager = request.field_manager;
  writing.api_version = api_version;
  writing.subresource = request.subresource == nullptr ? std::string_view() : request.subresource->name;
  writing.time = time;
  writing.reset = ResetFields(info, writing.subresource);
  return writing;
}

}  // namespace gpuop::sim::types
