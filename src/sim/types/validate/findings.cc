#include "sim/types/validate/findings.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::sim::types {
using Kind = FieldError::Kind;

namespace {

std::string Supported(std::initializer_list<std::string_view> values) {
  std::string out = "supported values: ";
  for (std::string_view value : values) {
    if (!out.ends_with(": ")) out += ", ";
    out += Quote(value);
  }
  return out;
}

}  // namespace

void Findings::Required(const Path& at, std::string detail) {
  errors.push_back({Kind::kRequired, at.ToString(), {}, std::move(detail)});
}
void Findings::Invalid(const Path& at, const Shown& value, std::string detail) {
  InvalidAsPrinted(at, value.text, std::move(detail));
}
void Findings::InvalidAsPrinted(const Path& at, std::string printed, std::string detail) {
  errors.push_back({Kind::kInvalid, at.ToString(), std::move(printed), std::move(detail)});
}
void Findings::Forbidden(const Path& at, std::string detail) {
  errors.push_back({Kind::kForbidden, at.ToString(), {}, std::move(detail)});
}
void Findings::Duplicate(const Path& at, const Shown& value) { DuplicateAsPrinted(at, value.text); }
void Findings::DuplicateAsPrinted(const Path& at, std::string printed, std::string detail) {
  errors.push_back({Kind::kDuplicate, at.ToString(), std::move(printed), std::move(detail)});
}
void Findings::NotFound(const Path& at, const Shown& value, std::string detail) {
  errors.push_back({Kind::kNotFound, at.ToString(), value.text, std::move(detail)});
}
void Findings::Unsupported(const Path& at, const Shown& value, std::initializer_list<std::string_view> supported) {
  UnsupportedAsPrinted(at, value.text, supported);
}
void Findings::UnsupportedAsPrinted(const Path& at, std::string printed,
                                    std::initializer_list<std::string_view> supported) {
  errors.push_back({Kind::kNotSupported, at.ToString(), std::move(printed), Supported(supported)});
}
void Findings::Messages(const Path& at, std::string_view value, const data::Messages& messages) {
  for (const std::string& message : messages) Invalid(at, value, message);
}
void Findings::OneOf(const Path& at, std::string_view value, std::initializer_list<std::string_view> supported) {
  if (!value.empty() && std::ranges::find(supported, value) == supported.end()) Unsupported(at, value, supported);
}

}  // namespace gpuop::sim::types
