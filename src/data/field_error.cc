#include "data/field_error.h"

#include <boost/json.hpp>

#include "base/text.h"

namespace gpuop::data {
namespace {

struct Words {
  std::string_view reason, title;
};

Words WordsOf(FieldError::Kind kind) {
  using enum FieldError::Kind;
  switch (kind) {
    case kRequired: return {"FieldValueRequired", "Required value"};
    case kInvalid: return {"FieldValueInvalid", "Invalid value"};
    case kTypeInvalid: return {"FieldValueTypeInvalid", "Invalid value"};
    case kNotSupported: return {"FieldValueNotSupported", "Unsupported value"};
    case kDuplicate: return {"FieldValueDuplicate", "Duplicate value"};
    case kForbidden: return {"FieldValueForbidden", "Forbidden"};
    case kTooLong: return {"FieldValueTooLong", "Too long"};
    case kTooMany: return {"FieldValueTooMany", "Too many"};
    case kTooFew: return {"FieldValueTooFew", "Too few"};
    case kTooShort: return {"FieldValueTooShort", "Too short"};
    case kNotFound: return {"FieldValueNotFound", "Not found"};
    case kInternal: break;
  }
  return {"InternalError", "Internal error"};
}

}  // namespace

std::string_view FieldError::Reason() const { return WordsOf(kind).reason; }

std::string FieldError::Body() const {
  std::string out(WordsOf(kind).title);
  if (value) {
    const bool text = value->is_string();
    out.append(": ").append(text ? Quote(AsView(value->get_string())) : ToJson(*value));
  }
  if (!detail.empty()) out.append(": ").append(detail);
  return out;
}

FieldError FieldError::NotSupported(std::string path, Json value, std::span<const std::string> supported) {
  std::string detail;
  for (const std::string& word : supported)
    detail.append(detail.empty() ? "supported values: " : ", ").append(Quote(word));
  return {Kind::kNotSupported, std::move(path), std::move(detail), std::move(value)};
}

std::string Aggregate(std::span<const FieldError> errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) {
    std::string text = error.ToString();
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  if (texts.size() == 1) return texts[0];
  return "[" + Join(texts, ", ") + "]";
}

}  // namespace gpuop::data
