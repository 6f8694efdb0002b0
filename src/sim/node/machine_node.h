#pragma once
// A node that is a simulated machine: its Pods are processes. The kubelet of hollow nodes, made real.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"
#include "os/fd.h"
#include "sim/controllers/event_writer.h"
#include "sim/kubelet/hollow_node.h"
#include "sim/node/image/registry.h"

namespace gpuop::sim::node {

/// What a machine is, as far as its kubelet says it.
struct MachineOptions {
  HollowPool pool;     ///< labels, capacity, versions
  std::string name;    ///< of the node
  std::string folder;  ///< FOLDER/root is the machine's root; absolute
  std::string architecture = "amd64";
  std::size_t number = 0;  ///< over all nodes: addresses follow from it
  /// Called when the machine is up, before anything runs on it, with view().
  std::function<void(const std::string&)> on_up;
};

/// A process beside a container's own: `kubectl exec`.
struct ExecWish {
  std::string ns, pod, container;
  std::vector<std::string> command;
  bool terminal = false;
  os::Fd in, out, err;  ///< what the process gets; invalid: nothing
};
struct ExecStart {
  std::string id;
  os::Fd terminal;  ///< our side
};

/// One machine with its kubelet. Everything is called and calls back on one executor, which runs one task at a time;
/// what blocks is done by the workers.
class MachineNode {
 public:
  struct Parts {
    Executor& executor;
    Executor& workers;
    kube::Client client;
    Log& log;
    kube::Cache<kube::Pod>& pods;
    kube::Cache<kube::Node>& nodes;
    EventWriter& events;
    const Registry& images;
    /// How this program becomes a machine (Engine::Options::program), where it is, and the names that it has.
    std::vector<std::string> program;
    std::string program_path;
    std::vector<std::string> program_names;
    /// Serves the API on a listening socket for as long as what it returns is held; null: nowhere.
    std::function<Result<std::shared_ptr<void>>(os::Fd)> serve_api;
    std::uint64_t seed = 1;
  };

  MachineNode(Parts parts, MachineOptions options);
  /// Switches the machine off.
  ~MachineNode();
  MachineNode(const MachineNode&) = delete;
  MachineNode& operator=(const MachineNode&) = delete;

  /// Switches it on and registers the Node.
  void Start();
  void OnPod(const kube::Change<kube::Pod>& change);
  void OnNode(const kube::Change<kube::Node>& change);
  /// A ConfigMap or Secret changed: volumes that show it follow.
  void OnObject(std::string_view kind, std::string_view ns, std::string_view name);

  /// The kubelet restarts: it forgets the devices until plugins register again, and admits its Pods anew. Containers
  /// run on.
  void RestartKubelet();
  /// The container engine restarts, which makes it read its configuration.
  void RestartEngine();
  /// Power goes; it comes back with a new boot ID and nothing running.
  void Reboot();
  /// The link to the API server is cut, or mended.
  void SetPartitioned(bool cut);

  const std::string& name() const;
  /// The machine's root as this process sees it (without what is mounted on the machine).
  std::string root() const;
  /// The root as programs on the machine see it, from outside; empty while the machine is off.
  std::string view() const;
  /// Where a container's log is, of its current (or previous) run; kNotFound says why there is none.
  Result<std::string> LogFileOf(const std::string& ns, const std::string& pod, const std::string& container,
                                bool previous) const;
  /// Whether the container's process runs still: whether more may come.
  bool Runs(const std::string& ns, const std::string& pod, const std::string& container) const;
  /// Calls `then` once, when the container's process has ended (or is no more); at once if it does not run.
  void WhenStopped(const std::string& ns, const std::string& pod, const std::string& container,
                   std::function<void()> then);
  /// Starts a process in a container; `ended` gets its status as wait(2) has it.
  void Exec(ExecWish wish, std::function<void(Result<ExecStart>)> started, std::function<void(int)> ended);
  /// A TCP socket of the Pod's network.
  void Socket(const std::string& ns, const std::string& pod, std::function<void(Result<os::Fd>)> done);
  /// Pods that are known here, and how many of them run.
  std::pair<std::size_t, std::size_t> Counts() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gpuop::sim::node
