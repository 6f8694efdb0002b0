#pragma once
// metav1.Status: how the API says no. The makers build what the API server sends, in its words; the reader turns an
// answer into our Error. (k8s.io/apimachinery/pkg/api/errors and meta/v1/types.go name the reasons.)

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/door.h"
#include "kube/resource.h"

namespace gpuop::kube {

/// One reason among several, usually one per field.
struct StatusCause {
  std::string reason = {};   ///< "FieldValueInvalid"
  std::string message = {};  ///< "Invalid value: …"
  std::string field = {};    ///< "spec.template.spec.containers[0].image"
};

/// A refusal (or, with code 200, a success) as the API tells it.
struct Status {
  int code = 500;
  std::string reason = {};  ///< "NotFound", "Conflict", …; may be empty
  std::string message = {};
  /// The object it is about, as far as known (details.name, .group, .kind, .uid).
  std::string name = {}, group = {}, kind = {}, uid = {};
  std::vector<StatusCause> causes = {};
  int retry_after_s = 0;

  boost::json::object ToJson() const;
  /// The whole answer, with Content-Type and, if told, Retry-After.
  ApiResponse ToResponse() const;
  /// `message`, with the code that `reason` (or else the number) stands for.
  Error ToError() const;
};

/// Reads an answer of 400 or above. A body that is no Status (a proxy's page) gives a Status with the body's first
/// 256 bytes as message and no reason.
Status ReadStatus(const ApiResponse& response);
/// Reads a Status from an object; fields that are missing or ill-typed keep their defaults.
Status ReadStatus(const boost::json::object& status);

/// The Code for a reason, or for the number when the reason is empty or unknown.
Code CodeOf(std::string_view reason, int http_status);

/// `pods "web" not found`.
Status NotFound(const Resource& resource, std::string_view name);
/// `the server could not find the requested resource`: no such path.
Status NoSuchPath();
/// `pods "web" already exists`.
Status AlreadyExists(const Resource& resource, std::string_view name);
/// `Operation cannot be fulfilled on pods "web": <why>`.
Status Conflict(const Resource& resource, std::string_view name, std::string_view why);
/// Conflict because of an old resourceVersion, in the server's words.
Status Modified(const Resource& resource, std::string_view name);
/// `Pod "web" is invalid: <causes>`; each cause is printed as "field: message".
Status Invalid(const Resource& resource, std::string_view name, std::vector<StatusCause> causes);
Status BadRequest(std::string message);
/// `pods "web" is forbidden: <why>`.
Status Forbidden(const Resource& resource, std::string_view name, std::string_view why);
Status Unauthorized();
/// 410, reason Expired: `too old resource version: 5 (7)` and its like.
Status Expired(std::string message);
Status TooManyRequests(std::string message, int retry_after_s);
/// `the server does not allow this method on the requested resource`.
Status MethodNotAllowed();
Status UnsupportedMediaType(std::string message);
Status Unavailable(std::string message, int retry_after_s = 0);
/// `Internal error occurred: <message>`.
Status InternalError(std::string_view message);

}  // namespace gpuop::kube
