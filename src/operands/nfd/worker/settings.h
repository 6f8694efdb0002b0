#pragma once
// What nfd-worker was told: flags, nfd-worker.conf, -options and custom.d.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "data/regex.h"
#include "operands/nfd/settings_file.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {

/// Who can own the NodeFeature object.
enum class Owner { kNode, kPod, kDaemonSet };

/// The settings that can change while the worker runs.
struct WorkerSettings {
  SourceSettings sources = SourceSettings::Default();
  /// Of Sources() and custom, by name.
  TextSet feature_sources, label_sources;
  /// Labels whose whole name it finds.
  std::optional<data::Regex> label_whitelist;
  bool publish = true;
  /// Raw features go into the object, not only labels.
  bool publish_features = true;
  /// These features do not.
  TextSet unpublished;
  /// All features go into it, not only those that rules use.
  bool publish_all = false;
  /// The worker gives its own node what rules and features say, without a master.
  bool label_node = false;
  /// Settings of names for that.
  TextSet extra_label_ns;
  /// How often what changes without an event is looked at again; nullopt: never.
  std::optional<Duration> interval = std::chrono::seconds(60);
  std::vector<Owner> owners = {Owner::kNode};
};

/// What stays as it was at the start.
struct WorkerProgram {
  std::string config_file, kubeconfig, node, pod, pod_uid, ns, host_root;
  int port = 8080;
  bool oneshot = false;
};

/// nfd-worker's flags.
std::span<const FlagText> WorkerFlags();

/// Rules of this node alone: files, each with a list of them.
inline constexpr const char* kCustomFolder = "/etc/kubernetes/node-feature-discovery/custom.d";

/// kInvalid when a flag is wrong, or the variable that names the node is missing.
Result<WorkerProgram> MakeWorkerProgram(const container::FlagValues& flags,
                                        const std::function<std::string(const char*)>& env);
/// Reads the settings file, custom.d below it, and -options over the file; flags outweigh all. kInvalid names what is
/// wrong; keys that are unknown are passed over, as NFD does.
Result<WorkerSettings> ReadWorkerSettings(const container::FlagValues& flags, const os::Fs& fs);

}  // namespace gpuop::operands::nfd
