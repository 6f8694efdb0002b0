#pragma once
// What an engine's configuration shall become. Pure: texts in, texts out, and each result is read back as the engine
// would read it before anybody writes it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "container/engine/config.h"

namespace gpuop::container {

/// A runtime that the engine shall know.
struct WantedRuntime {
  std::string name;
  /// Absolute, on the host.
  std::string binary;
};

/// What an engine shall do.
struct EngineWish {
  /// The first is the one that may become the default.
  std::vector<WantedRuntime> runtimes = {};
  bool set_as_default = false;
  /// Have the engine inject CDI devices. Docker's `features.cdi`, containerd's `enable_cdi`; CRI-O always does.
  bool cdi = false;
  /// containerd: the type of a runtime that no other can be modelled on.
  std::string runtime_type = "io.containerd.runc.v2";
  /// containerd: annotations ("cdi.k8s.io/") that reach the runtime.
  std::vector<std::string> annotation_prefixes = {};
  /// containerd: an empty configuration becomes one of version 1.
  bool legacy_config = false;
};

/// Which texts change, and what that means.
struct EnginePlan {
  /// By path; nullopt removes the file. Only texts that differ.
  std::map<std::string, std::optional<std::string>> texts;
  EngineConfig before, after;
  /// Whether the engine must read its configuration again.
  bool meaning_changes = false;
};

/// Makes `wish` true. Others' runtimes, the default (unless wished otherwise) and all else keep their meaning: if they
/// could not, or if a file that is read later would hide ours, nothing is planned (kConflict, kUnsupported).
Result<EnginePlan> PlanEngineSetUp(EngineKind kind, const EngineTexts& texts, const EngineFiles& files,
                                   const EngineWish& wish, ImportRule rule = ImportRule::kReplacePlugins);

/// Takes our runtimes out where no record says what was there before: removes the drop-in, and from the engine's own
/// file the runtimes of these names whose binaries lie below `folder`, with a default that names one.
Result<EnginePlan> PlanEngineCleanUp(EngineKind kind, const EngineTexts& texts, const EngineFiles& files,
                                     const std::vector<std::string>& names, const std::string& folder,
                                     ImportRule rule = ImportRule::kReplacePlugins);

/// The OCI hook file (hooks 1.0.0) that makes CRI-O run the hook at `path` before every container.
std::string CrioHookText(const std::string& path);

}  // namespace gpuop::container
