#pragma once
// Containers that prove, wait or bring the launcher. No shell: the waiting is done by our own program
// (docs/operands.md), which an init container hands to Pods whose images are other people's.

#include <string>
#include <string_view>
#include <vector>

#include "operands/draft.h"

namespace gpuop::operands {

/// Where Pods find the launcher, and the emptyDir that holds it.
inline constexpr const char* kLauncher = "/run/gpu-operator/gpu-operator-launch";
inline constexpr const char* kLauncherVolume = "gpu-operator-launch";
inline constexpr const char* kLauncherFolder = "/run/gpu-operator";
inline constexpr const char* kLauncherProgram = "gpu-operator-launch";

Volume LauncherVolume();
inline Mount LauncherMount(bool read_only = true) {
  return {.name = kLauncherVolume, .path = kLauncherFolder, .read_only = read_only};
}

/// A container of the operator's image that runs the launcher with `args` in place: as root, to read what other
/// containers write on the host, and with no privilege at all.
Result<Container> Waiter(std::string name, std::vector<std::string> args, const api::ClusterPolicySpec& policy,
                         const Facts& facts, PodSpec& pod);

/// Waits until the toolkit is ready. `mount` is how the Pod sees the status files; `with_launcher` also brings the
/// launcher, for a main container that needs it.
Result<Container> WaitForToolkit(Mount mount, bool with_launcher, const api::ClusterPolicySpec& policy,
                                 const Facts& facts, PodSpec& pod);

/// Brings the launcher and does nothing else.
Result<Container> BringLauncher(const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod);

/// The validator for one component, as an init container: env WITH_WAIT and COMPONENT are the caller's. Pull secrets go
/// to the Pod.
Result<Container> ValidatorInit(std::string name, Env env, const api::ClusterPolicySpec& policy, const Facts& facts,
                                PodSpec& pod);

/// The validator's component `driver`: host, driver's files, status files and /dev/char.
Result<Container> DriverValidation(const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod);

/// What the validator's report needs of a Pod's account: the node's condition, and Events about it.
std::vector<Rule> NodeReportRules();

/// The command of a main container that waits for the driver, takes over the variables that the validator wrote for it
/// and becomes `program`. `more` stands before the program: further options of the launcher.
std::vector<std::string> AfterDriver(std::string program, std::vector<std::string> more = {});

}  // namespace gpuop::operands
