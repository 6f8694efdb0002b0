#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "kube/client.h"
#include "kube/types/node.h"
#include "operands/driver_manager/gpu_pods.h"
#include "operands/driver_manager/kernel.h"

namespace gpuop::operands::driver_manager {

/// Makes room for a driver container on one node (toolkit-cdi-validator-driver.md §6.2), or refuses with a reason and
/// leaves everything as it was:
///
/// - a driver of the host's own is nobody else's: the node is labelled nvidia.com/gpu.deploy.driver=pre-installed;
/// - no driver loaded, or the very one that is wanted: operands and Pods are not touched;
/// - otherwise operands are paused by their labels, GPU Pods evicted (and, if that is not enough and it is allowed to,
///   all others too), and the modules unloaded once nobody uses them;
/// - GPUs that were handed to virtual machines, and are used by none, come back;
/// - with GPUDirect RDMA the driver container has to wait for the network driver.
///
/// Whatever happens, operands are resumed and a cordon of ours is taken back before it returns; a run that was killed
/// half-way is made good by the next one.
class Manager {
 public:
  /// All of it outlives the manager.
  struct With {
    const Options& options;
    kube::Client client;
    Executor& executor;
    /// The host's files, read only.
    const os::Fs& host;
    /// This container's own, with the host's /run/nvidia among them.
    os::Fs& own;
    Kernel& kernel;
    Log& log;
    std::stop_token stop;
  };
  explicit Manager(With with) : with_(std::move(with)) {}

  /// kUnavailable: refused, and the text says why.
  Result<> UninstallDriver();

 private:
  Result<> Proceed(const kube::Node& node);
  Result<> RefuseHostDriver();
  Result<> RemoveLoadedDriver(const kube::Node& node);
  Result<> UnloadNouveau();
  Result<> WaitForOperands();
  using Taken = std::optional<PodOnNode> (*)(const data::JsonObject&);
  Result<std::vector<PodOnNode>> Pods(const std::string& label_selector, Taken taken);
  Result<> Evict(const std::vector<PodOnNode>& pods);
  Result<> Drain();
  Result<> CheckHolders();
  Result<> MakeRoom();
  Result<> TakeGpusBack();
  Result<> CheckNetworkDriver();
  Result<> CleanRoot();
  Result<> Resume();
  Result<> Label(const std::map<std::string, std::string>& labels);
  void Tell(std::string_view reason, const Error& refusal);

  const With with_;
};

}  // namespace gpuop::operands::driver_manager
