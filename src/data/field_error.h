#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/json.h"

namespace gpuop::data {

/// One thing wrong with one field, in the API server's vocabulary: a Status of reason Invalid lists these as causes.
struct FieldError {
  enum class Kind : std::uint8_t {
    kRequired,
    kInvalid,
    kTypeInvalid,
    kNotSupported,
    kDuplicate,
    kForbidden,
    kTooLong,
    kTooMany,
    kTooFew,
    kTooShort,
    kNotFound,
    kInternal,
  };

  Kind kind = Kind::kInvalid;
  /// "spec.containers[0].image"; "<nil>" for the whole object, as the API server says it.
  std::string path;
  /// What is wrong; may be empty.
  std::string detail;
  /// The offending value; nullopt when the message does not show one.
  std::optional<Json> value;

  /// The cause's reason: "FieldValueRequired", "FieldValueInvalid", ….
  std::string_view Reason() const;
  /// The cause's message: `Invalid value: "x": must be …`.
  std::string Body() const;
  /// Path and body: `spec.replicas: Invalid value: …`.
  std::string ToString() const { return path + ": " + Body(); }

  bool operator==(const FieldError&) const = default;

  static FieldError Required(std::string path, std::string detail = {}) {
    return {Kind::kRequired, std::move(path), std::move(detail), std::nullopt};
  }
  static FieldError Invalid(std::string path, Json value, std::string detail) {
    return {Kind::kInvalid, std::move(path), std::move(detail), std::move(value)};
  }
  static FieldError Forbidden(std::string path, std::string detail) {
    return {Kind::kForbidden, std::move(path), std::move(detail), std::nullopt};
  }
  static FieldError Duplicate(std::string path, Json value) {
    return {Kind::kDuplicate, std::move(path), {}, std::move(value)};
  }
  /// `supported` in the order in which the message shows them.
  static FieldError NotSupported(std::string path, Json value, std::span<const std::string> supported);
};

/// Several errors as one text: "a", or "[a, b]"; repeated ones once.
std::string Aggregate(std::span<const FieldError> errors);

}  // namespace gpuop::data
