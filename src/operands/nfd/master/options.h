#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "operands/nfd/master/master.h"
#include "operands/nfd/settings_file.h"

namespace gpuop::operands::nfd {

/// What nfd-master was told by flags, environment and settings file.
struct MasterProgramOptions {
  std::string config_file, kubeconfig, lease_ns, identity;
  int port = 8080;
  bool prune = false, leader_election = false;
  Duration lease = std::chrono::seconds(15), renew = std::chrono::seconds(10), retry = std::chrono::seconds(2);
  Master::Options master;
  NodeSettings node;
};

/// nfd-master's flags.
std::span<const FlagText> MasterFlags();

/// Flags outweigh the settings file that they name. kInvalid names the flag or field.
Result<MasterProgramOptions> MakeMasterOptions(const container::FlagValues& flags, const os::Fs& fs,
                                               const std::function<std::string(const char*)>& env);

}  // namespace gpuop::operands::nfd
