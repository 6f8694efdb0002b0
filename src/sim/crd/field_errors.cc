#include "sim/crd/field_errors.h"

#include <string>

namespace gpuop::sim {
namespace {

FieldError::Kind KindOf(data::FieldError::Kind kind) {
  using From = data::FieldError::Kind;
  using To = FieldError::Kind;
  switch (kind) {
    case From::kRequired: return To::kRequired;
    case From::kTypeInvalid: return To::kTypeInvalid;
    case From::kNotSupported: return To::kNotSupported;
    case From::kDuplicate: return To::kDuplicate;
    case From::kForbidden: return To::kForbidden;
    case From::kTooLong: return To::kTooLong;
    case From::kTooMany: return To::kTooMany;
    case From::kNotFound: return To::kNotFound;
    case From::kInternal: return To::kInternal;
    case From::kInvalid:
    case From::kTooFew:
    case From::kTooShort: return To::kInvalid;
  }
  return To::kInvalid;
}

}  // namespace

FieldError FromData(const data::FieldError& error) {
  // The body reads "Words: value: detail"; what follows the words is taken over as it is.
  const std::string body = error.Body();
  const std::size_t colon = body.find(": ");
  return {KindOf(error.kind), error.path, {}, colon == std::string::npos ? "" : body.substr(colon + 2)};
}

std::vector<FieldError> FromData(const std::vector<data::FieldError>& errors) {
  std::vector<FieldError> out;
  for (const data::FieldError& e : errors) out.push_back(FromData(e));
  return out;
}

}  // namespace gpuop::sim
