#pragma once
// The edits of each engine's files that plan.cc puts together.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "container/engine/plan.h"
#include "data/toml.h"

namespace gpuop::container {

/// New texts by path; nullopt removes.
using TextChanges = std::map<std::string, std::optional<std::string>>;

/// Where an engine keeps its runtimes, and the name of its default one. `version` is that of containerd's
/// configuration.
data::TomlPath RuntimesPath(EngineKind kind, std::int64_t version);
data::TomlPath DefaultPath(EngineKind kind, std::int64_t version);

/// What makes `wish` true in an engine's files. An error names the file that cannot be understood or edited.
Result<TextChanges> SetUpContainerd(const EngineTexts& texts, const EngineFiles& files, const EngineWish& wish,
                                    ImportRule rule);
Result<TextChanges> SetUpCrio(const EngineTexts& texts, const EngineFiles& files, const EngineWish& wish);
Result<TextChanges> SetUpDocker(const EngineTexts& texts, const EngineFiles& files, const EngineWish& wish);

/// `text` without the runtimes of these names that lie below `folder`, and without a default that names one of them
/// (Docker's becomes runc).
Result<std::string> WithoutRuntimes(EngineKind kind, const std::string& path, const std::string& text,
                                    const std::vector<std::string>& names, const std::string& folder);

}  // namespace gpuop::container
