#pragma once
// Clusters for tests, put together from a few words each and asked as a person asks.

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/virtual_executor.h"
#include "cli/gpu/command.h"
#include "kube/door_fake.h"

namespace gpuop::cli::kubectl_gpu {

/// A node as the kubelet and the operands leave it when all is well; a field changes one thing.
struct NodeSetup {
  std::string name = "dgx";
  std::string arch = "amd64";
  std::int64_t capacity = 8, allocatable = 8;
  std::string resource = "nvidia.com/gpu";
  /// Whether discovery labelled it.
  bool labelled = true;
  /// YAML flow mappings.
  std::string more_resources = "", more_labels = "", taints = "";
  std::string ready = "True";
  bool cordoned = false;
  /// GPUReady: status, reason, message; none when the status is empty.
  std::string proof = "True", reason = "Proved", message = "every link of the chain was proved";
};

/// A Pod of an operand.
struct OperandSetup {
  std::string app = "nvidia-device-plugin-daemonset", node = "dgx";
  /// A YAML flow mapping that replaces the state of its container; empty: it is ready.
  std::string state = "";
  /// The name of the init container that the state is of; empty: the main one.
  std::string init = "";
};

/// A user's Pod.
struct PodSetup {
  std::string name = "trainer";
  std::int64_t gpus = 1;
  std::string resource = "nvidia.com/gpu";
  std::string node = "";
  /// YAML flow mappings added to spec and status.
  std::string spec = "", status = "";
  std::string log = "";
  /// Event on the Pod: reason and message.
  std::string event = "", event_message = "";
};

struct Situation {
  std::vector<NodeSetup> nodes = {NodeSetup{}};
  std::vector<OperandSetup> operands = {};
  std::vector<PodSetup> pods = {};
  bool policy = true;
  /// A YAML flow mapping: the policy's spec.
  std::string spec = "{}";
  /// Of the policy: its state.
  std::string state = "ready";
};

/// Puts a situation into a fake API server and asks it.
class Desk {
 public:
  explicit Desk(const Situation& situation);

  /// The words after `kubectl gpu`.
  Result<Report> Ask(const std::vector<std::string>& words);
  Result<ClusterFacts> Read();
  kube::FakeDoor& door() { return door_; }

 private:
  void Put(const NodeSetup& node);
  void Put(const OperandSetup& operand);
  void Put(const PodSetup& pod);

  VirtualExecutor executor_{1};
  kube::FakeDoor door_{executor_};
  kube::Client client_{door_};
};

}  // namespace gpuop::cli::kubectl_gpu
