#include "sim/status.h"

#include <fmt/core.h>

#include "data/json.h"
#include "sim/resource.h"

namespace gpuop::sim {
namespace {

Status Make(int code, std::string_view reason, std::string message, std::optional<StatusDetails> details = {}) {
  return {code, std::string(reason), std::move(message), std::move(details), {}};
}

StatusDetails Named(const ResourceInfo& info, std::string_view name) {
  return {std::string(name), info.group, info.plural, {}, {}, 0};
}

void Member(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (out.back() != '{') out += ',';
  data::AppendJsonString(out, name);
  out += ':';
  data::AppendJsonString(out, value);
}

void AppendDetails(std::string& out, const StatusDetails& details) {
  out += ",\"details\":{";
  Member(out, "name", details.name);
  Member(out, "group", details.group);
  Member(out, "kind", details.kind);
  Member(out, "uid", details.uid);
  if (!details.causes.empty()) {
    if (out.back() != '{') out += ',';
    out += "\"causes\":[";
    for (const Cause& cause : details.causes) {
      out += out.back() == '[' ? "{" : ",{";
      Member(out, "reason", cause.reason);
      Member(out, "message", cause.message);
      Member(out, "field", cause.field);
      out += '}';
    }
    out += ']';
  }
  if (details.retry_after_seconds > 0)
    out.append(out.back() == '{' ? "" : ",")
        .append(fmt::format("\"retryAfterSeconds\":{}", details.retry_after_seconds));
  out += '}';
}

}  // namespace

std::string Status::ToJson() const {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{)";
  Member(out, "continue", continue_token);
  out += R"(},"status":"Failure")";
  Member(out, "message", message);
  Member(out, "reason", reason);
  if (details) AppendDetails(out, *details);
  out += fmt::format(",\"code\":{}}}", code);
  return out;
}

std::string_view FieldError::Reason() const {
  switch (kind) {
    case Kind::kInvalid: return "FieldValueInvalid";
    case Kind::kRequired: return "FieldValueRequired";
    case Kind::kNotSupported: return "FieldValueNotSupported";
    case Kind::kForbidden: return "FieldValueForbidden";
    case Kind::kDuplicate: return "FieldValueDuplicate";
    case Kind::kTooLong: return "FieldValueTooLong";
    case Kind::kTooMany: return "FieldValueTooMany";
    case Kind::kTypeInvalid: return "FieldValueTypeInvalid";
    case Kind::kNotFound: return "FieldValueNotFound";
    case Kind::kInternal: return "InternalError";
  }
  return "";
}

std::string FieldError::Body() const {
  const auto words = [this]() -> std::string_view {
    switch (kind) {
      case Kind::kInvalid:
      case Kind::kTypeInvalid: return "Invalid value";
      case Kind::kRequired: return "Required value";
      case Kind::kNotSupported: return "Unsupported value";
      case Kind::kForbidden: return "Forbidden";
      case Kind::kDuplicate: return "Duplicate value";
      case Kind::kTooLong: return "Too long";
      case Kind::kTooMany: return "Too many";
      case Kind::kNotFound: return "Not found";
      case Kind::kInternal: return "Internal error";
    }
    return "";
  }();
  std::string out(words);
  const bool shows_value = kind != Kind::kRequired && kind != Kind::kForbidden && kind != Kind::kTooLong &&
                           kind != Kind::kTooMany && kind != Kind::kInternal;
  if (shows_value && !value.empty()) out.append(": ").append(value);
  if (!detail.empty()) out.append(": ").append(detail);
  return out;
}

std::string FieldError::Message() const { return field.empty() ? Body() : field + ": " + Body(); }

Status NotFound(std::string_view group, std::string_view plural, std::string_view name) {
  std::string what(plural);
  if (!group.empty()) what.append(".").append(group);
  return Make(404, "NotFound", fmt::format("{} \"{}\" not found", what, name),
              StatusDetails{std::string(name), std::string(group), std::string(plural), {}, {}, 0});
}

Status NotFound(const ResourceInfo& info, std::string_view name) { return NotFound(info.group, info.plural, name); }

Status UnknownPath() {
  return Make(404, "NotFound", "the server could not find the requested resource", StatusDetails{});
}

Status PageNotFound() { return Make(404, "", "404 page not found"); }

Status AlreadyExists(const ResourceInfo& info, std::string_view name) {
  return Make(409, "AlreadyExists", fmt::format("{} \"{}\" already exists", info.GroupResource(), name),
              Named(info, name));
}

Status Conflict(const ResourceInfo& info, std::string_view name, std::string_view why) {
  return Make(409, "Conflict",
              fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", info.GroupResource(), name, why),
              Named(info, name));
}

Status StaleWrite(const ResourceInfo& info, std::string_view name) {
  return Conflict(info, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

Status Invalid(std::string_view group, std::string_view kind, std::string_view name,
               const std::vector<FieldError>& errors) {
  StatusDetails details{std::string(name), std::string(group), std::string(kind), {}, {}, 0};
  std::string list;
  std::vector<std::string> seen;
  for (const FieldError& e : errors) {
    details.causes.push_back({std::string(e.Reason()), e.Body(), e.field});
    std::string message = e.Message();
    if (std::ranges::find(seen, message) != seen.end()) continue;  // an aggregate names equal ones once
    list.append(list.empty() ? "" : ", ").append(message);
    seen.push_back(std::move(message));
  }
  if (seen.size() > 1) list = "[" + list + "]";
  std::string what(kind);
  if (!group.empty()) what.append(".").append(group);
  return Make(422, "Invalid", fmt::format("{} \"{}\" is invalid: {}", what, name, list), std::move(details));
}

Status Invalid(const ResourceInfo& info, std::string_view name, const std::vector<FieldError>& errors) {
  return Invalid(info.group, info.kind, name, errors);
}

Status BadRequest(std::string message) { return Make(400, "BadRequest", std::move(message)); }

Status Unauthorized() { return Make(401, "Unauthorized", "Unauthorized"); }

Status Forbidden(const ResourceInfo& info, std::string_view name, std::string_view why) {
  return Make(403, "Forbidden", fmt::format("{} \"{}\" is forbidden: {}", info.GroupResource(), name, why),
              Named(info, name));
}

Status MethodNotAllowed() {
  return Make(405, "MethodNotAllowed", "the server does not allow this method on the requested resource",
              StatusDetails{});
}

Status MethodNotSupported(const ResourceInfo& info, std::string_view verb) {
  return Make(405, "MethodNotAllowed",
              fmt::format("{} is not supported on resources of kind \"{}\"", verb, info.GroupResource()),
              StatusDetails{{}, info.group, info.plural, {}, {}, 0});
}

Status NotAcceptable(std::string_view accepted) {
  return Make(406, "NotAcceptable", fmt::format("406: Not Acceptable\n\nAvailable representations: {}", accepted),
              StatusDetails{});
}

Status UnsupportedMediaType(std::string_view accepted) {
  if (accepted.empty()) return Make(415, "UnsupportedMediaType", "415: Unsupported Media Type", StatusDetails{});
  return Make(
      415, "UnsupportedMediaType",
      fmt::format("the body of the request was in an unknown format - accepted media types include: {}", accepted));
}

Status Expired(std::string message) { return Make(410, "Expired", std::move(message)); }

Status TooManyRequests(std::string message, int retry_after_seconds) {
  return Make(429, "TooManyRequests", std::move(message), StatusDetails{{}, {}, {}, {}, {}, retry_after_seconds});
}

Status ServerTimeout(const ResourceInfo& info, std::string_view verb, int retry_after_seconds) {
  return Make(500, "ServerTimeout",
              fmt::format("The {} operation against {} could not be completed at this time, please try again.", verb,
                          info.GroupResource()),
              StatusDetails{std::string(verb), info.group, info.plural, {}, {}, retry_after_seconds});
}

Status TooLargeRevision(std::uint64_t asked, std::uint64_t current) {
  StatusDetails details;
  details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  details.retry_after_seconds = 1;
  return Make(504, "Timeout", fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current),
              std::move(details));
}

Status RequestTooLarge(std::string message) { return Make(413, "RequestEntityTooLarge", std::move(message)); }

Status InternalError(std::string_view message) {
  StatusDetails details;
  details.causes.push_back({"", std::string(message), ""});
  return Make(500, "InternalError", fmt::format("Internal error occurred: {}", message), std::move(details));
}

}  // namespace gpuop::sim
