#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::cli::nvidia_smi {

/// A command line of nvidia-smi.
struct Arguments {
  enum class What {
    kSummary,
    kList,            // -L
    kReport,          // -q
    kQueryGpu,        // --query-gpu
    kQueryApps,       // --query-compute-apps
    kSetMig,          // -mig
    kSetPersistence,  // -pm
    kSetComputeMode,  // -c
    kReset,           // -r
    kMig,             // mig …
    kTopology,        // topo -m
    kLinkStatus,      // nvlink -s
    kVersions,        // --version
    kListFields,      // --help-query-gpu
    kHelp,
  } what = What::kSummary;

  /// -i
  std::vector<std::string> ids;
  /// Fields of a query.
  std::vector<std::string> fields;
  bool header = true, units = true;
  /// Sections of a report (-d), in upper case; all when empty.
  std::vector<std::string> sections;
  /// Where to write instead of standard output (-f).
  std::string file;
  /// Milliseconds after which it is all said again (-l, -lms); 0: once.
  int again_ms = 0;
  /// The argument of -mig, -pm and -c.
  std::string value;

  enum class Mig {
    kNone,
    kListGpuInstanceProfiles,
    kListGpuInstancePlacements,
    kListGpuInstances,
    kListComputeInstanceProfiles,
    kListComputeInstancePlacements,
    kListComputeInstances,
    kCreateGpuInstances,
    kCreateComputeInstances,
    kDestroyGpuInstances,
    kDestroyComputeInstances,
  } mig = Mig::kNone;
  /// Profiles to create, as written.
  std::vector<std::string> profiles;
  /// -C: a compute instance in each new GPU instance.
  bool default_compute = false;
  /// -gi and -ci.
  std::vector<unsigned> gpu_instances, compute_instances;
};

/// Reads `args` (without the program's name). kInvalid carries what is to be printed.
Result<Arguments> ParseArguments(const std::vector<std::string>& args);

}  // namespace gpuop::cli::nvidia_smi
