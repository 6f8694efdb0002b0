#pragma once
// What the toolkit puts on a host besides the engine's configuration.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "operands/toolkit/program/options.h"
#include "os/fs.h"

namespace gpuop::operands::toolkit {

/// The installed folder's files (name to content) and links (name to target).
struct Payload {
  std::map<std::string, std::string> programs, files, links;
};

/// The programs of `source`, the runtime's configuration, and the names by which engines and people call them.
Result<Payload> MakePayload(const Options& options, const std::vector<std::string>& low_level_runtimes);
/// The runtime's configuration file.
std::string RuntimeConfigText(const Options& options, const std::vector<std::string>& low_level_runtimes);

/// Makes `folder` hold the payload. A folder that does already is not touched; otherwise the new one is made beside it
/// and takes its place in one step, so that a runtime is there for every container that is started meanwhile. False:
/// nothing had to be done.
Result<bool> InstallPayload(const std::string& folder, const Payload& payload);

}  // namespace gpuop::operands::toolkit
