#pragma once

#include "data/field.h"

namespace gpuop::data {

Json WriteValue(const std::string& value);
Json WriteValue(bool value);
Json WriteValue(double value);
Json WriteValue(const Json& value);
Json WriteValue(const Quantity& value);
Json WriteValue(const IntOrString& value);
Json WriteValue(Duration value);
/// Whether a field with this value is left out: "", 0, false, null, [], {}.
bool IsEmptyValue(const Json& value);

template <class T>
Json WriteValue(const T& value);

/// Writes types that describe themselves (data/field.h). Empty fields are left out unless they are required or kept.
class Writer {
 public:
  template <class T>
  void operator()(std::string_view name, T& field, const FieldRules& rules = {}) {
    Json value;
    if constexpr (kIsOptional<T>) {
      // Present is more than empty: an optional zero is written.
      if (field) out_[name] = WriteValue(*field);
      return;
    } else {
      value = WriteValue(std::as_const(field));
    }
    if (rules.required || rules.keep_empty || !IsEmptyValue(value)) out_[name] = std::move(value);
  }
  JsonObject Take() && { return std::move(out_); }

 private:
  JsonObject out_;
};

template <class T>
Json WriteValue(const T& value) {
  if constexpr (std::integral<T>) {
    return Json(static_cast<std::int64_t>(value));
  } else if constexpr (kIsOptional<T>) {
    return value ? WriteValue(*value) : Json();
  } else if constexpr (kIsVector<T>) {
    JsonArray out;
    for (const auto& item : value) out.push_back(WriteValue(item));
    return out;
  } else if constexpr (kIsMap<T>) {
    JsonObject out;
    for (const auto& [key, item] : value) out[key] = WriteValue(item);
    return out;
  } else if constexpr (NamedEnum<T>) {
    for (const auto& candidate : NamesOf(value))
      if (candidate.value == value) return Json(candidate.name);
    return Json();
  } else {
    Writer writer;
    const_cast<T&>(value).Visit(writer);  // a writer changes nothing, but Visit is written once for readers too
    return std::move(writer).Take();
  }
}

}  // namespace gpuop::data
