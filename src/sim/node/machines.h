#pragma once
// The simulated machines of an embedded cluster: what `gpu-operator sim --machine …` adds to it.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_executor.h"
#include "machine/host/machine_folder.h"
#include "machine/spec/spec.h"
#include "sim/cluster.h"
#include "sim/controllers/shared_caches.h"
#include "sim/node/image/registry.h"
#include "sim/node/machine_node.h"
#include "sim/node/pod_streams.h"
#include "sim/node/scratch.h"

namespace gpuop::sim::node {

/// One machine as the command line asks for it: "dgx-a100", "gpu-1=dgx-a100", "my.yaml", "gpu-1=my.yaml".
struct MachineWish {
  std::string node;
  machine::Spec spec;
};
/// Reads the wishes. A second machine of the same name is NAME-2, and so on. kInvalid and kNotFound name the wish.
Result<std::vector<MachineWish>> ReadMachines(const std::vector<std::string>& wishes);

/// What its kubelet says of a machine; `number` is over all nodes.
MachineOptions OptionsOf(const MachineWish& wish, const std::string& folder, std::size_t number);
/// The machine's files in FOLDER; they are made if it holds no machine yet.
Result<machine::MachineFolder> OpenMachine(const MachineWish& wish, const std::string& folder,
                                           const machine::DriverFiles& files);

/// All machines, wired. Everything runs on the control plane's executor; what blocks has three threads.
class Machines {
 public:
  struct Options {
    std::vector<MachineWish> machines;
    Registry images;
    /// Where the machines' files are; empty: in a folder that goes with this object.
    std::string folder;
    /// How this program becomes a machine, where it is, and its names.
    std::vector<std::string> program;
    std::string program_path;
    std::vector<std::string> program_names;
    std::function<Result<std::shared_ptr<void>>(os::Fd)> serve_api;
    std::uint64_t seed = 1;
  };

  /// Registers with the caches: make it before they start. All outlive it.
  static Result<std::unique_ptr<Machines>> Make(ControlPlane& plane, SharedCaches& caches, Log& log, Options options);
  /// Switches all machines off.
  ~Machines();
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  void Start();
  MachineNode* Find(std::string_view node);
  const std::vector<std::unique_ptr<MachineNode>>& nodes() const { return nodes_; }

  /// Makes something happen to a machine: a fault of machine/faults ("xid gpu=0 value=79"), the end of one ("clear
  /// off-bus gpu=0"), or "reboot", "power-loss", "engine-restart", "kubelet-restart", "partition", "mend".
  Result<> Do(std::string_view node, std::vector<std::string> words);

 private:
  Machines(ControlPlane& plane, SharedCaches& caches, Log& log, Options options);
  Result<> Prepare(std::vector<MachineWish> wishes);
  Result<> OpenFolders(const std::vector<MachineWish>& wishes);
  void ShowPrograms(const std::string& node, const std::string& view);

  Options options_;
  SharedCaches& caches_;
  std::optional<Scratch> temporary_;
  std::unique_ptr<CoreDoor> door_;
  kube::Client client_;
  Log& log_;
  ControlPlane& plane_;
  EventWriter events_;
  kube::Cache<kube::ConfigMap> config_maps_;
  kube::Cache<kube::Secret> secrets_;
  ThreadExecutor workers_{3};
  std::map<std::string, machine::MachineFolder, std::less<>> folders_;
  std::vector<std::unique_ptr<MachineNode>> nodes_;
  PodStreams streams_;
};

}  // namespace gpuop::sim::node
