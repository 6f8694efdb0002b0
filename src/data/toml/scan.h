#pragma once
// Where the statements of a TOML document stand, in bytes: what an editor must know and a reader forgets.

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/toml.h"

namespace gpuop::data {

/// One header or one key with its value.
struct TomlStatement {
  enum class Kind { kHeader, kArrayHeader, kValue };

  Kind kind = Kind::kValue;
  /// From the root: a header's own name, or the section's name with the key's.
  TomlPath path = {};
  /// How many names of `path` the section gives (values only).
  std::size_t section_size = 0;
  /// Which statement opened the section; npos before the first header (values only).
  std::size_t section = std::string_view::npos;
  /// The line's first byte and the one after its line break.
  std::size_t begin = 0, end = 0;
  /// The first byte that is not a blank.
  std::size_t indent_end = 0;
  /// The value's first byte and the one after its last (values only).
  std::size_t value_begin = 0, value_end = 0;
};

/// The statements in order. Reads any bytes; what is not TOML gives kInvalid with the line, or statements that
/// ParseToml would not accept: it is not a check.
Result<std::vector<TomlStatement>> ScanToml(std::string_view text);

}  // namespace gpuop::data
