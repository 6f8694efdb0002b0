#pragma once
// What validation finds, in the API server's words.

#include <boost/json.hpp>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "data/json.h"
#include "data/names.h"
#include "data/path.h"
#include "sim/status.h"

namespace gpuop::sim::types {

using data::Path;

/// A value as messages print it: its JSON. Made of whatever JSON can hold.
struct Shown {
  template <class T>
    requires std::constructible_from<boost::json::value, const T&>
  Shown(const T& value) : text(data::ToJson(boost::json::value(value))) {}
  std::string text;
};

/// Collects errors, in the order in which they are found.
class Findings {
 public:
  std::vector<FieldError> errors;

  void Required(const Path& at, std::string detail = {});
  void Invalid(const Path& at, const Shown& value, std::string detail);
  /// `printed` goes into the message as it is.
  void InvalidAsPrinted(const Path& at, std::string printed, std::string detail);
  void Forbidden(const Path& at, std::string detail);
  void Duplicate(const Path& at, const Shown& value);
  void DuplicateAsPrinted(const Path& at, std::string printed, std::string detail = {});
  void NotFound(const Path& at, const Shown& value, std::string detail = {});
  void Unsupported(const Path& at, const Shown& value, std::initializer_list<std::string_view> supported);
  void UnsupportedAsPrinted(const Path& at, std::string printed, std::initializer_list<std::string_view> supported);

  /// Each of the messages of a name check as an invalid value.
  void Messages(const Path& at, std::string_view value, const data::Messages& messages);
  /// Unless the text is empty or one of `supported`.
  void OneOf(const Path& at, std::string_view value, std::initializer_list<std::string_view> supported);
};

}  // namespace gpuop::sim::types
