#pragma once
// TOML 1.0, as container engines are configured.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::data {

/// A configuration may be this long, and its keys and values this deep.
inline constexpr std::size_t kTomlLimit = 4U << 20U;
inline constexpr std::size_t kTomlDepth = 64;

/// The names from a document's root to a value.
using TomlPath = std::vector<std::string>;

/// Reads a document as an object: integers, floats, booleans and strings as JSON's, dates and times as their text,
/// tables as objects, members in the document's order of names (TOML gives them none). kInvalid names line and column;
/// kTooLarge when a limit is exceeded.
Result<Json> ParseToml(std::string_view text);

/// The document that reads back as `value`: a header line for every table that holds values, two blanks more a level,
/// members in their order. Nulls are left out; objects inside arrays become inline tables. The same bytes for the same
/// value.
std::string ToToml(const JsonObject& value);

/// A key as it stands in a document, quoted if it must be.
std::string TomlKey(std::string_view key);
/// A value on one line: "text", 1, true, [1, 2], {a = 1}.
std::string TomlLiteral(const Json& value);

/// A table with its header line, its values and the tables in it, each level two blanks further in than `indent`.
std::string TomlTable(const TomlPath& path, const JsonObject& table, std::string_view indent = "");

}  // namespace gpuop::data
