#pragma once
// Container engines' configurations: what they say now, and what they shall say. Everything here works on texts, so
// that a plan can be read back as the engine would before anything is written.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/json.h"
#include "os/fs.h"

namespace gpuop::container {

/// The engines whose configurations are read and changed.
enum class EngineKind { kContainerd, kCrio, kDocker };
/// "containerd", "crio", "docker".
std::string_view EngineName(EngineKind kind);
/// nullopt for another name. "cri-o" is CRI-O's as well.
std::optional<EngineKind> EngineNamed(std::string_view name);

/// Where an engine's configuration is.
struct EngineFiles {
  std::string config = {};
  /// The file of our own that is read after `config`; empty: `config` itself is edited.
  std::string drop_in = {};
  /// `config` and `drop_in` as the engine sees them, when those are other paths than ours.
  std::string config_for_engine = {}, drop_in_for_engine = {};
  /// Where the engine's other files are for us: "/host" when it sees /host/etc/x as /etc/x.
  std::string host_root = {};
  /// Whether the engine reads the drop-in's folder without being told so in `config`.
  bool drop_in_is_read = false;

  const std::string& ConfigForEngine() const { return config_for_engine.empty() ? config : config_for_engine; }
  const std::string& DropInForEngine() const { return drop_in_for_engine.empty() ? drop_in : drop_in_for_engine; }
};

/// Files by path as far as they belong to an engine's configuration: `config` and `drop_in` by our paths, others by the
/// engine's. A file that is not there has no entry.
using EngineTexts = std::map<std::string, std::string>;
/// Reads `files` and all that they import. Of an engine's own drop-in folder every file is read.
Result<EngineTexts> ReadEngineTexts(EngineKind kind, const os::Fs& fs, const EngineFiles& files);

/// One runtime (handler) that an engine knows.
struct EngineRuntime {
  std::string name;
  /// What the engine runs: BinaryName, runtime_path or path. Empty: the engine's own choice.
  std::string binary;
  /// The whole entry.
  data::JsonObject entry;
};

/// What a configuration means, as far as we ask.
struct EngineConfig {
  /// containerd's `version`; 0 for the others and for an empty file.
  std::int64_t version = 0;
  std::vector<EngineRuntime> runtimes;
  std::string default_runtime;
  bool cdi = false;
  std::vector<std::string> cdi_folders;
  /// All of it.
  data::Json whole;

  const EngineRuntime* Find(std::string_view name) const;
};

/// How containerd puts an imported file over what it read before: up to 2.0 a plugin's table replaces the one before
/// it; from 2.1 on tables are merged.
enum class ImportRule { kReplacePlugins, kMerge };

/// What the engine would make of the texts. kInvalid names the file; kUnsupported for a template that is no TOML.
Result<EngineConfig> UnderstandEngine(EngineKind kind, const EngineTexts& texts, const EngineFiles& files,
                                      ImportRule rule = ImportRule::kReplacePlugins);

/// The low-level runtimes that the engine uses, best first: its default's, then those called runc and crun, then the
/// names runc and crun themselves. Runtimes of ours ("nvidia…") are left out.
std::vector<std::string> LowLevelRuntimes(const EngineConfig& config);

}  // namespace gpuop::container
