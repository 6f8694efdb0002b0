#pragma once
// YAML as kubectl reads and writes it: YAML 1.1's words for booleans and numbers, JSON's data model.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::data {

/// What a YAML text may cost. Aliases are expanded; `max_expansion` bounds what that may add, in bytes.
struct YamlLimits {
  std::size_t max_bytes = 16U << 20U;
  std::size_t max_depth = 256;
  std::size_t max_expansion = 8U << 20U;
};

/// One document of a stream.
struct YamlDocument {
  Json value;
  /// The line it begins on, from 1.
  std::size_t line = 1;
  /// Paths of keys that were written twice; the last one counts.
  std::vector<std::string> duplicates;
};

/// Reads all documents, passing over empty ones. Plain scalars resolve as kubectl resolves them (yes, no, on, off, y
/// and n are booleans; 017 and 0x1f are numbers; dates are strings), keys become strings, << merges.
/// kInvalid names the line ("yaml: line 3: …"); kTooLarge when a limit is exceeded.
Result<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, const YamlLimits& limits = {});

/// The first document; null when there is none.
Result<Json> ParseYaml(std::string_view text, const YamlLimits& limits = {});

/// As `kubectl -o yaml` prints it, members in their order: two blanks a level, lists at their key's level, quotes where
/// a plain scalar would be read as something else. Ends with a line break. ParseYaml gives back an equal value.
std::string ToYaml(const Json& value);

}  // namespace gpuop::data
