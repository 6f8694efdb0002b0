#pragma once
// A Pod's life on a machine: which container starts, stops and restarts when, and what the status says. Pure: events
// and the time come in, orders and the status go out. The kubelet's rules (kuberuntime's computePodActions, prober,
// restart back-off) without its loops.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/kubelet/pod_status.h"
#include "sim/node/pod/pod_wish.h"

namespace gpuop::sim::node {

enum class ProbeKind : std::uint8_t { kStartup, kLiveness, kReadiness };
std::string_view ProbeName(ProbeKind kind);

/// What is to be done now.
struct Order {
  enum class Kind : std::uint8_t { kStart, kStop };
  Kind kind = Kind::kStart;
  std::string container;
  int attempt = 0;
  /// Of a stop: what is left of its time to end by itself, and why it is stopped.
  Duration grace{};
  std::string why;
};

/// Not thread-safe.
class PodLife {
 public:
  PodLife(const PodWish& wish, WallTime now);

  /// Refused at the door: it is Failed and never runs.
  void Reject(std::string reason, std::string message);
  /// It is to end, with this much time: a deletion, or `reason` (DeadlineExceeded) makes it Failed.
  void Stop(WallTime now, Duration grace, std::string reason = {}, std::string message = {});

  /// A start that was ordered went well, or did not: then it waits for `reason` (ErrImagePull, CreateContainerError,
  /// RunContainerError …) until a later try. `image_id` may be empty when it did not.
  void Started(std::string_view container, std::string id, std::string image_id, WallTime now);
  void NotStarted(std::string_view container, std::string reason, std::string message, WallTime now);
  /// It waits for `from`: from now on for `to`. False when it does not.
  bool Rename(std::string_view container, std::string_view from, std::string to, std::string message);
  /// It was made and its program could not be run: it counts as an exit with status 128 (StartError).
  void StartError(std::string_view container, std::string id, std::string message, WallTime now);
  /// Its process ended, as wait(2) has it, with its last words.
  void Exited(std::string_view container, int status, std::string message, WallTime now);
  /// A probe's threshold was reached.
  void Probed(std::string_view container, ProbeKind kind, bool success);
  /// Its namespaces cannot be made yet, or are there.
  void SetSandbox(bool there) { sandbox_ = there; }
  /// The kubelet restarted, which keeps in its memory alone how long containers are to be held back.
  void ForgetBackOff(WallTime now);
  /// The machine went down under it: what ran has ended, and its next sandbox begins with the init containers.
  void Reboot(WallTime now);

  /// What is to be done now; each order comes once. The time at which to ask again, if by then nothing has happened, is
  /// in `wake`.
  std::vector<Order> Next(WallTime now, std::optional<WallTime>& wake);

  bool Finished() const { return phase_ == "Succeeded" || phase_ == "Failed"; }
  /// A stop was asked for and nothing runs.
  bool Stopped() const;
  bool stopping() const { return stop_at_.has_value(); }
  bool Ready() const;
  /// Whether the container's process runs now, and the number of its attempt.
  bool Runs(std::string_view container) const;
  int Attempt(std::string_view container) const;
  /// Whether anything of it has run.
  bool started() const;
  const std::string& phase() const { return phase_; }
  PodView View(const std::string& ip, const std::string& host_ip) const;

 private:
  enum class Kind : std::uint8_t { kInit, kSidecar, kMain };
  struct Life {
    const ContainerWish* wish = nullptr;
    Kind kind = Kind::kMain;
    ContainerView view;
    bool starting = false, stop_ordered = false, startup_done = false, readiness = false;
    std::string stop_why;  ///< not empty: stop it, and let the restart policy decide
    std::optional<Duration> stop_grace;
    int failures = 0;  ///< starts in a row that did not come to a process
    int crashes = 0;   ///< restarts that the kubelet remembers
    WallTime back_off_until{};
    bool Running() const { return view.state == ContainerView::State::kRunning; }
    bool Dead() const { return view.state == ContainerView::State::kTerminated; }
    bool Failed() const { return Dead() && view.end.exit_code != 0; }
  };
  static Life Fresh(const ContainerWish& wish, Kind kind, bool has_init);

  Life* Find(std::string_view container);
  const Life* Find(std::string_view container) const;
  void End(Life& c, int code, std::string reason, std::string message, WallTime now);
  bool RestartsAfter(const Life& c) const;
  bool Initialized() const;
  bool InitDone(const Life& c) const;
  void Start(Life& c, WallTime now, std::vector<Order>& orders, std::optional<WallTime>& wake);
  void OrderStop(Life& c, Duration grace, std::string why, std::vector<Order>& orders);
  void NextInit(WallTime now, std::vector<Order>& orders, std::optional<WallTime>& wake);
  void NextStop(WallTime now, std::vector<Order>& orders, std::optional<WallTime>& wake);
  void NextStopSidecars(WallTime now, std::vector<Order>& orders);
  void SetPhase();
  template <class F>
  bool AnyRuns(F which) const;

  const std::string restart_policy_, pod_name_;
  const Duration grace_;
  std::vector<Life> lives_;  ///< init containers first, in order
  std::string phase_ = "Pending", reason_, message_;
  WallTime began_{};
  std::optional<WallTime> stop_at_;
  bool rejected_ = false, sandbox_ = false;
  bool init_again_ = false;  ///< main containers wait for the init containers of a new sandbox
};

/// How long to wait after the n-th try in a row that failed before any process ran: 1 s doubling to 10 s, for image
/// pulls 10 s doubling to 5 min.
Duration TryBackOff(int failures, bool image);

}  // namespace gpuop::sim::node
