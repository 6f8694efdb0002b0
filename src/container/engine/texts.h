#pragma once
// What the engines' readers share.

#include <string>
#include <string_view>
#include <vector>

#include "container/engine/config.h"
#include "data/json.h"
#include "data/toml.h"

namespace gpuop::container {

/// The key of containerd's CRI plugin in a file of this version.
std::string CriPlugin(std::int64_t version);
/// {"plugins", CriPlugin(version), more…}.
data::TomlPath CriPath(std::int64_t version, std::initializer_list<std::string> more);

/// A text as TOML. kUnsupported when it is a Go template, kInvalid with the file's name when it is no TOML.
Result<data::Json> ParseEngineToml(const std::string& path, std::string_view text);
/// Whether a line holds the braces of a Go template.
bool IsTemplate(std::string_view text);

/// Puts `from` over `into`, tables into tables.
void MergeTables(data::JsonObject& into, const data::JsonObject& from);
/// The table at a path; null if there is none.
const data::JsonObject* FindTable(const data::Json& root, const data::TomlPath& path);
std::string FindText(const data::Json& root, const data::TomlPath& path);

/// An import as containerd reads it: relative to the folder of the importing file.
std::string AbsoluteImport(const std::string& importer, const std::string& import);
/// The names of `texts` that a pattern with wildcards in its last part matches, sorted.
std::vector<std::string> MatchImport(const EngineTexts& texts, const std::string& pattern);

}  // namespace gpuop::container
