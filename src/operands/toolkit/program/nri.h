#pragma once
// The toolkit as an NRI plugin: CDI devices by a Pod's annotations, without any edit of the engine's configuration.

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "operands/toolkit/program/options.h"

namespace gpuop::operands::toolkit {

/// The annotation that names CDI devices: "nvidia.cdi.k8s.io/container.NAME" for one container,
/// "nvidia.cdi.k8s.io/pod" or "nvidia.cdi.k8s.io" for all.
inline constexpr const char* kNriAnnotation = "nvidia.cdi.k8s.io";

/// A container that is about to be made.
struct NriContainer {
  std::string ns, pod, container;
  std::map<std::string, std::string> annotations;
};

/// The devices that the most particular annotation names; none where there is none. Management devices are for the
/// toolkit's own namespace and those of `allowed` (kForbidden: nothing of the annotation counts). kInvalid: not a list
/// of qualified names.
Result<std::vector<std::string>> NriDevices(const NriContainer& container, const std::string& management_kind,
                                            const std::string& own_namespace, const std::vector<std::string>& allowed);

/// Serves the engine until somebody asks to stop. A connection that is lost is made again every two seconds.
void RunNri(const Options& options, Log& log, const std::stop_token& stop);
/// One connection: registers, and answers until the engine goes (an error) or somebody asks to stop.
Result<> ServeNri(const Options& options, Log& log, const std::stop_token& stop);

}  // namespace gpuop::operands::toolkit
