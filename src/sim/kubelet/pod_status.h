#pragma once
// A Pod's status as a kubelet writes it, from what its containers do. Shared by hollow nodes and simulated machines.

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/types/pod.h"

namespace gpuop::sim {

/// What the status says of one container.
struct ContainerView {
  enum class State : std::uint8_t { kWaiting, kRunning, kTerminated };
  struct End {
    int exit_code = 0;
    std::string reason, message, id;
    WallTime started{}, finished{};
  };

  std::string name, image, image_id, id;
  State state = State::kWaiting;
  std::string waiting_reason, waiting_message;
  WallTime started{};
  End end;
  std::optional<End> last;
  int restarts = 0;
  bool ready = false, startup_done = true, restartable = false;
};

struct PodView {
  std::string phase = "Pending", reason, message, ip, host_ip;
  WallTime began{};
  std::vector<ContainerView> init, main;
  /// Refused at the door: nothing ever ran.
  bool rejected = false;
  /// Its namespaces are there.
  bool sandbox = false;
};

/// Whether all init containers have done their part.
bool Initialized(const PodView& view);
bool ContainersReady(const PodView& view);

/// The status. Conditions of others are kept, and transition times where nothing has changed.
boost::json::object PodStatusObject(const kube::Pod& pod, const PodView& view, WallTime now);

}  // namespace gpuop::sim
