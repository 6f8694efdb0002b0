#pragma once
// What a Pod's status says about why it does not run as it should.

#include <string>

#include "kube/types/pod.h"

namespace gpuop::cli::kubectl_gpu {

/// The container that holds a Pod up.
struct Trouble {
  std::string container;
  /// The state's reason ("CrashLoopBackOff", "PodInitializing") and message.
  std::string reason, message;
  /// How the run before the present state ended, if one did.
  bool ended = false;
  /// Why it ended: "Error", "OOMKilled", "StartError" (the engine could not run it at all).
  std::string end_reason;
  std::int32_t exit_code = 0, restarts = 0;
  /// It will not come right by waiting: an image that cannot be pulled, a container that ends again and again.
  bool failing = false;
  bool init = false;

  /// "nvidia-device-plugin: CrashLoopBackOff: back-off 10s …; ended 3 times, last with exit code 1".
  std::string Text() const;
};

/// The first init container that has not done its part, else the first container that is not ready. Nothing is wrong
/// with a Pod that is Ready or Succeeded: all fields are empty.
Trouble FindTrouble(const kube::Pod& pod);

}  // namespace gpuop::cli::kubectl_gpu
