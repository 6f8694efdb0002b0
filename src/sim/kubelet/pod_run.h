#pragma once
// A Pod on a hollow node: how its containers' states follow each other. Pure: the time comes in, the status goes out.

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/kubelet/timeline.h"

namespace gpuop::sim {

/// One container's life so far.
struct ContainerRun {
  enum class State : std::uint8_t { kWaiting, kRunning, kTerminated };
  struct End {
    int exit_code = 0;
    WallTime started{}, finished{};
    bool operator==(const End&) const = default;
  };

  std::string name, image;
  bool restartable = false;  ///< an init container that goes on beside the others
  State state = State::kWaiting;
  std::string waiting_reason;
  WallTime started{};
  End end;
  std::optional<End> last;
  int restarts = 0;
  WallTime back_off_until{};
  bool ready = false;
  bool operator==(const ContainerRun&) const = default;
};

/// Not thread-safe.
class PodRun {
 public:
  /// `ip` is the pod's own (or the host's, on the host's network).
  PodRun(const kube::Pod& pod, Timeline timeline, std::string ip, std::string host_ip, WallTime now);

  /// Refused at the door: it is Failed and never runs.
  void Reject(std::string reason, std::string message);
  /// The Pod is being deleted: its containers stop by `deadline` at the latest.
  void Stop(WallTime now, WallTime deadline);
  /// The node was rebooted: what ran has ended and starts again as the restart policy says.
  void Reboot(WallTime now);

  /// Makes every transition that is due; the next one's time, or nullopt when nothing more happens by itself.
  std::optional<WallTime> Advance(WallTime now);

  /// Stop was asked for and no container runs: the Pod may go.
  bool Stopped() const;
  bool Finished() const { return phase_ == "Succeeded" || phase_ == "Failed"; }
  const std::string& phase() const { return phase_; }
  /// What the condition Ready says.
  bool Ready() const { return !rejected_ && !Finished() && ContainersReady(); }

  /// The status as the kubelet writes it. Conditions of others are kept, and transition times where nothing has
  /// changed.
  boost::json::object Status(const kube::Pod& pod, WallTime now) const;

 private:
  std::optional<WallTime> StepInit(WallTime now);
  std::optional<WallTime> StepMain(WallTime now);
  std::optional<WallTime> StepContainer(ContainerRun& c, WallTime now);
  std::optional<WallTime> StepStop(WallTime now);
  void End(ContainerRun& c, int exit_code, WallTime at);
  void SetPhase();
  bool Initialized() const;
  bool ContainersReady() const;

  Timeline timeline_;
  std::string restart_policy_, ip_, host_ip_, phase_ = "Pending", reason_, message_;
  WallTime began_{};
  std::vector<ContainerRun> init_, main_;
  std::optional<WallTime> stop_at_;
  int stop_code_ = 0;
  bool rejected_ = false;
};

/// How long a container waits before its restart: 10 s doubling to 5 min.
Duration RestartBackOff(int restarts);

}  // namespace gpuop::sim
