#pragma once
// The configuration file that the device plugin, GPU feature discovery and the MPS daemon share: version v1, YAML or
// JSON, often one of several that a node label chooses.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json.h"
#include "data/reader.h"
#include "os/fs.h"

namespace gpuop::operands {

/// A resource whose devices several containers share.
struct SharedResource {
  std::string name, rename;
  data::Json devices;
  std::int64_t replicas = 0;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("rename", rename);
    v("devices", devices);
    v("replicas", replicas);
  }
};

struct SharingBlock {
  bool rename_by_default = false;
  std::optional<bool> fail_requests_greater_than_one;
  std::vector<SharedResource> resources;
  template <class V>
  void Visit(V& v) {
    v("renameByDefault", rename_by_default);
    v("failRequestsGreaterThanOne", fail_requests_greater_than_one);
    v("resources", resources);
  }
};

/// Names of one's own for resources: of devices whose product, or MIG profile, fits a pattern ("*" stands for
/// anything).
struct ResourceNames {
  struct Pattern {
    std::string pattern, name;
    template <class V>
    void Visit(V& v) {
      v("pattern", pattern);
      v("name", name);
    }
  };
  std::vector<Pattern> gpus, mig;
  template <class V>
  void Visit(V& v) {
    v("gpus", gpus);
    v("mig", mig);
  }

  /// The first pattern that fits counts; without one it is "nvidia.com/gpu".
  std::string OfGpu(std::string_view product) const;
  /// The same for a profile ("1g.5gb+me"), else "nvidia.com/mig-1g.5gb.me".
  std::string OfMig(std::string_view profile) const;
};

struct PluginSettings {
  struct Flags {
    std::optional<std::string> mig_strategy, mps_root, driver_root, dev_root, discovery;
    std::optional<bool> fail_on_init_error, gdrcopy, gds, mofed, use_node_feature_api;
    /// The plugin's own, which its program reads.
    data::Json plugin;
    struct Gfd {
      std::optional<bool> oneshot, no_timestamp;
      data::Json sleep_interval;
      std::optional<std::string> output_file, machine_type_file;
      template <class V>
      void Visit(V& v) {
        v("oneshot", oneshot);
        v("noTimestamp", no_timestamp);
        v("sleepInterval", sleep_interval);
        v("outputFile", output_file);
        v("machineTypeFile", machine_type_file);
      }
    } gfd;
    template <class V>
    void Visit(V& v) {
      v("migStrategy", mig_strategy);
      v("failOnInitError", fail_on_init_error);
      v("mpsRoot", mps_root);
      v("nvidiaDriverRoot", driver_root);
      v("nvidiaDevRoot", dev_root);
      v("gdrcopyEnabled", gdrcopy);
      v("gdsEnabled", gds);
      v("mofedEnabled", mofed);
      v("useNodeFeatureAPI", use_node_feature_api);
      v("deviceDiscoveryStrategy", discovery);
      v("plugin", plugin);
      v("gfd", gfd);
    }
  };
  struct Sharing {
    std::optional<SharingBlock> time_slicing, mps;
    template <class V>
    void Visit(V& v) {
      v("timeSlicing", time_slicing);
      v("mps", mps);
    }
  };

  std::string version = "v1";
  Flags flags;
  ResourceNames resources;
  data::Json imex;
  /// Which errors count, for the device plugin.
  data::Json health;
  Sharing sharing;
  template <class V>
  void Visit(V& v) {
    v("version", version);
    v("flags", flags);
    v("resources", resources);
    v("sharing", sharing);
    v("imex", imex);
    v("health", health);
  }
};

/// Reads the file's text. kInvalid names the field; a field that nobody knows is an error that says where a field of
/// that name belongs, if anywhere. Resource names come out whole ("nvidia.com/gpu").
Result<PluginSettings> ParsePluginSettings(std::string_view text, const std::string& file);

/// The same from a file. A link to /dev/null, as config-manager makes it for a node without settings, holds none.
Result<PluginSettings> ReadPluginSettings(const os::Fs& fs, const std::string& file);

/// A resource's name with "nvidia.com/" before it; kInvalid, beginning with `path`, when that is no name.
Result<std::string> WholeResourceName(std::string name, const std::string& path);

/// A section of the settings that belongs to one program; T() for none. kInvalid names the field, also an unknown one.
template <class T>
Result<T> ReadSection(const data::Json& json, const char* path) {
  if (json.is_null()) return T();
  std::vector<std::string> unknown;
  ASSIGN(T out, data::ReadAs<T>(json, &unknown, path));
  if (!unknown.empty()) return Fail(Code::kInvalid, unknown.front() + ": unknown field");
  return out;
}

/// How containers share a resource's devices.
enum class SharingStrategy { kNone, kTimeSlicing, kMps };
/// "none", "time-slicing", "mps".
std::string_view Name(SharingStrategy strategy);

/// The entry of the settings by which a resource is shared.
struct SharedEntry {
  const SharingBlock* block = nullptr;
  const SharedResource* resource = nullptr;  ///< null: it is not shared
  SharingStrategy strategy = SharingStrategy::kNone;
};
/// Points into `sharing`; MPS settings count before those of time-slicing, as a whole.
SharedEntry FindShared(const PluginSettings::Sharing& sharing, std::string_view resource);
/// What the shared devices of an entry are offered as.
std::string SharedName(const SharingBlock& block, const SharedResource& resource);

struct ResourceSharing {
  SharingStrategy strategy = SharingStrategy::kNone;
  std::int64_t replicas = 1;
  /// The shared devices are offered under another name (".shared", or one of their own).
  bool renamed = false;
};
/// Of one resource.
ResourceSharing SharingOf(const PluginSettings::Sharing& sharing, std::string_view resource);
/// Of the node: the strategy by which at least one resource has several replicas.
SharingStrategy StrategyOf(const PluginSettings::Sharing& sharing);

}  // namespace gpuop::operands
