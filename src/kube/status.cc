#include "kube/status.h"

#include <array>
#include <boost/json.hpp>

#include "base/text.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;

struct ReasonCode {
  std::string_view reason;
  Code code;
};

constexpr std::array kReasons = {
    ReasonCode{"NotFound", Code::kNotFound},
    ReasonCode{"AlreadyExists", Code::kAlreadyExists},
    ReasonCode{"Conflict", Code::kConflict},
    ReasonCode{"Gone", Code::kGone},
    ReasonCode{"Expired", Code::kGone},
    ReasonCode{"Invalid", Code::kInvalid},
    ReasonCode{"BadRequest", Code::kInvalid},
    ReasonCode{"Unauthorized", Code::kUnauthorized},
    ReasonCode{"Forbidden", Code::kForbidden},
    ReasonCode{"TooManyRequests", Code::kTooManyRequests},
    ReasonCode{"ServerTimeout", Code::kUnavailable},
    ReasonCode{"ServiceUnavailable", Code::kUnavailable},
    ReasonCode{"Timeout", Code::kTimeout},
    ReasonCode{"MethodNotAllowed", Code::kUnsupported},
    ReasonCode{"NotAcceptable", Code::kUnsupported},
    ReasonCode{"UnsupportedMediaType", Code::kUnsupported},
    ReasonCode{"RequestEntityTooLarge", Code::kTooLarge},
    ReasonCode{"InternalError", Code::kUnavailable},
};

/// A server's internal error is a "not now" for us: again later, with back-off.
Code CodeOfNumber(int http_status) {
  switch (http_status) {
    case 400:
    case 422: return Code::kInvalid;
    case 401: return Code::kUnauthorized;
    case 403: return Code::kForbidden;
    case 404: return Code::kNotFound;
    case 405:
    case 406:
    case 415: return Code::kUnsupported;
    case 408:
    case 504: return Code::kTimeout;
    case 409: return Code::kConflict;
    case 410: return Code::kGone;
    case 413: return Code::kTooLarge;
    case 429: return Code::kTooManyRequests;
    default: return http_status >= 500 ? Code::kUnavailable : Code::kInvalid;
  }
}

void ReadText(const json::object& from, std::string_view field, std::string& to) {
  const json::value* v = from.if_contains(field);
  if (v != nullptr && v->is_string()) to = v->get_string();
}

void ReadNumber(const json::object& from, std::string_view field, int& to) {
  const json::value* v = from.if_contains(field);
  if (v != nullptr && v->is_int64()) to = static_cast<int>(v->get_int64());
}

void AddText(json::object& to, std::string_view field, std::string_view text) {
  if (!text.empty()) to[field] = text;
}

void ReadDetails(const json::object& details, Status& out) {
  ReadText(details, "name", out.name);
  ReadText(details, "group", out.group);
  ReadText(details, "kind", out.kind);
  ReadText(details, "uid", out.uid);
  ReadNumber(details, "retryAfterSeconds", out.retry_after_s);
  const json::value* causes = details.if_contains("causes");
  if (causes == nullptr || !causes->is_array()) return;
  for (const json::value& c : causes->get_array()) {
    if (!c.is_object()) continue;
    StatusCause& cause = out.causes.emplace_back();
    ReadText(c.get_object(), "reason", cause.reason);
    ReadText(c.get_object(), "message", cause.message);
    ReadText(c.get_object(), "field", cause.field);
  }
}

Status About(int code, std::string_view reason, const Resource& resource, std::string_view name, std::string message) {
  Status s;
  s.code = code;
  s.reason = reason;
  s.message = std::move(message);
  s.name = name;
  s.group = resource.group;
  s.kind = resource.plural;
  return s;
}

Status Plain(int code, std::string_view reason, std::string message, int retry_after_s = 0) {
  Status s;
  s.code = code;
  s.reason = reason;
  s.message = std::move(message);
  s.retry_after_s = retry_after_s;
  return s;
}

std::string Named(const Resource& resource, std::string_view name) {
  return name.empty() ? resource.GroupPlural() : resource.GroupPlural() + " \"" + std::string(name) + "\"";
}

json::object DetailsOf(const Status& s) {
  json::object details;
  AddText(details, "name", s.name);
  AddText(details, "group", s.group);
  AddText(details, "kind", s.kind);
  AddText(details, "uid", s.uid);
  if (!s.causes.empty()) {
    json::array& causes = details["causes"].emplace_array();
    for (const StatusCause& c : s.causes) {
      json::object cause;
      AddText(cause, "reason", c.reason);
      AddText(cause, "message", c.message);
      AddText(cause, "field", c.field);
      causes.push_back(std::move(cause));
    }
  }
  if (s.retry_after_s != 0) details["retryAfterSeconds"] = s.retry_after_s;
  return details;
}

}  // namespace

json::object Status::ToJson() const {
  json::object out{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::object()}};
  out["status"] = code < 400 ? "Success" : "Failure";
  AddText(out, "message", message);
  AddText(out, "reason", reason);
  if (json::object details = DetailsOf(*this); !details.empty()) out["details"] = std::move(details);
  if (code >= 400) out["code"] = code;
  return out;
}

ApiResponse Status::ToResponse() const {
  ApiResponse r{
      .status = code, .content_type = "application/json", .body = json::serialize(ToJson()), .retry_after = {}};
  if (retry_after_s > 0) r.retry_after = std::chrono::seconds(retry_after_s);
  return r;
}

Error Status::ToError() const {
  return {CodeOf(reason, code), message.empty() ? "HTTP status " + std::to_string(code) : message};
}

Status ReadStatus(const json::object& status) {
  Status out;
  ReadNumber(status, "code", out.code);
  ReadText(status, "reason", out.reason);
  ReadText(status, "message", out.message);
  const json::value* details = status.if_contains("details");
  if (details != nullptr && details->is_object()) ReadDetails(details->get_object(), out);
  return out;
}

Status ReadStatus(const ApiResponse& response) {
  boost::system::error_code failed;
  const json::value body = json::parse(response.body, failed);
  Status out;
  const json::value* kind = !failed && body.is_object() ? body.get_object().if_contains("kind") : nullptr;
  if (kind != nullptr && kind->is_string() && kind->get_string() == "Status") {
    out = ReadStatus(body.get_object());
  } else {
    out.message = "HTTP " + std::to_string(response.status);
    const std::string_view text = Trim(std::string_view(response.body).substr(0, 256));
    if (!text.empty()) out.message.append(": ").append(text);
  }
  out.code = response.status;
  return out;
}

Code CodeOf(std::string_view reason, int http_status) {
  const auto* it = std::ranges::find(kReasons, reason, &ReasonCode::reason);
  return it == kReasons.end() ? CodeOfNumber(http_status) : it->code;
}

Status NotFound(const Resource& resource, std::string_view name) {
  return About(404, "NotFound", resource, name, Named(resource, name) + " not found");
}
Status NoSuchPath() { return Plain(404, "NotFound", "the server could not find the requested resource"); }
Status AlreadyExists(const Resource& resource, std::string_view name) {
  return About(409, "AlreadyExists", resource, name, Named(resource, name) + " already exists");
}
Status Conflict(const Resource& resource, std::string_view name, std::string_view why) {
  return About(409, "Conflict", resource, name,
               "Operation cannot be fulfilled on " + Named(resource, name) + ": " + std::string(why));
}
Status Modified(const Resource& resource, std::string_view name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

Status Invalid(const Resource& resource, std::string_view name, std::vector<StatusCause> causes) {
  const std::string kind = resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
  std::string message = kind + " " + Quote(name) + " is invalid";
  std::vector<std::string> lines;
  for (const StatusCause& c : causes) {
    std::string line = c.field.empty() ? c.message : c.field + ": " + c.message;
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  if (lines.size() == 1) message += ": " + lines.front();
  if (lines.size() > 1) message += ": [" + Join(lines, ", ") + "]";
  Status s = About(422, "Invalid", resource, name, std::move(message));
  s.kind = resource.kind;
  s.causes = std::move(causes);
  return s;
}

Status BadRequest(std::string message) { return Plain(400, "BadRequest", std::move(message)); }
Status Forbidden(const Resource& resource, std::string_view name, std::string_view why) {
  return About(403, "Forbidden", resource, name, Named(resource, name) + " is forbidden: " + std::string(why));
}
Status Unauthorized() { return Plain(401, "Unauthorized", "Unauthorized"); }
Status Expired(std::string message) { return Plain(410, "Expired", std::move(message)); }
Status TooManyRequests(std::string message, int retry_after_s) {
  return Plain(429, "TooManyRequests", std::move(message), retry_after_s);
}
Status MethodNotAllowed() {
  return Plain(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}
Status UnsupportedMediaType(std::string message) { return Plain(415, "UnsupportedMediaType", std::move(message)); }
Status Unavailable(std::string message, int retry_after_s) {
  return Plain(503, "ServiceUnavailable", std::move(message), retry_after_s);
}
Status InternalError(std::string_view message) {
  Status s = Plain(500, "InternalError", "Internal error occurred: " + std::string(message));
  s.causes.push_back({"", std::string(message), ""});
  return s;
}

}  // namespace gpuop::kube
