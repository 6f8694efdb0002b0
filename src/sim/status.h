#pragma once
// Errors as the API server tells them: metav1.Status with the real server's reasons, messages and details.

#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuop::sim {

struct ResourceInfo;

/// One entry of details.causes.
struct Cause {
  /// "FieldValueInvalid", "FieldValueRequired", …
  std::string reason;
  std::string message, field;
};

/// What goes into details.
struct StatusDetails {
  std::string name, group, kind, uid;
  std::vector<Cause> causes;
  int retry_after_seconds = 0;
};

/// A metav1.Status that says Failure.
struct Status {
  int code = 500;
  /// "NotFound", "Conflict", …; empty for none.
  std::string reason;
  std::string message;
  std::optional<StatusDetails> details;
  /// metadata.continue, which an expired list offers.
  std::string continue_token;

  /// The object, compact, fields in the real server's order.
  std::string ToJson() const;
};

/// A value, or the Status to answer with. TRY and ASSIGN work on it.
template <class T = void>
using Answer = std::expected<T, Status>;

/// What is wrong with one field, in the words of field.Error.
struct FieldError {
  enum class Kind : std::uint8_t {
    kInvalid,
    kRequired,
    kNotSupported,
    kForbidden,
    kDuplicate,
    kTooLong,
    kTooMany,
    kTypeInvalid,
    kNotFound,
    kInternal,
  };
  Kind kind = Kind::kInvalid;
  /// "spec.containers[0].image".
  std::string field;
  /// The value as messages print it (a quoted string, or JSON); empty for kinds that print none.
  std::string value;
  std::string detail;

  /// `spec.replicas: Invalid value: -1: must be greater than or equal to 0`, without the field: ErrorBody.
  std::string Message() const;
  std::string Body() const;
  /// "FieldValueInvalid".
  std::string_view Reason() const;
};

/// `pods "x" not found`. `group_resource` is how messages name a resource: ResourceInfo::GroupResource().
Status NotFound(std::string_view group, std::string_view plural, std::string_view name);
Status NotFound(const ResourceInfo& info, std::string_view name);
/// The API has no such resource.
Status UnknownPath();
/// The path belongs to nobody: told as plain text, as the real server does.
Status PageNotFound();
Status AlreadyExists(const ResourceInfo& info, std::string_view name);
/// `Operation cannot be fulfilled on pods "x": <why>`.
Status Conflict(const ResourceInfo& info, std::string_view name, std::string_view why);
/// The one that a stale resourceVersion gets.
Status StaleWrite(const ResourceInfo& info, std::string_view name);
/// `Pod "x" is invalid: …`, 422.
Status Invalid(std::string_view group, std::string_view kind, std::string_view name,
               const std::vector<FieldError>& errors);
Status Invalid(const ResourceInfo& info, std::string_view name, const std::vector<FieldError>& errors);
Status BadRequest(std::string message);
Status Unauthorized();
/// `pods "x" is forbidden: <why>`.
Status Forbidden(const ResourceInfo& info, std::string_view name, std::string_view why);
Status MethodNotAllowed();
Status MethodNotSupported(const ResourceInfo& info, std::string_view verb);
Status NotAcceptable(std::string_view accepted);
Status UnsupportedMediaType(std::string_view accepted);
/// 410.
Status Expired(std::string message);
Status TooManyRequests(std::string message, int retry_after_seconds);
Status ServerTimeout(const ResourceInfo& info, std::string_view verb, int retry_after_seconds);
/// 504: the revision asked for has not happened yet.
Status TooLargeRevision(std::uint64_t asked, std::uint64_t current);
Status RequestTooLarge(std::string message);
Status InternalError(std::string_view message);

}  // namespace gpuop::sim
