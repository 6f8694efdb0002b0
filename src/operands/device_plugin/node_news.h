#pragma once
// What a node's people are told of its GPUs: a condition of the Node, and an Event when that changes.

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/strand.h"
#include "kube/client.h"
#include "kube/types/node.h"
#include "operands/device_plugin/news_setting.h"
#include "operands/device_plugin/plugin.h"
#include "os/fs.h"

namespace gpuop::operands::device_plugin {

/// Of the condition kNewsCondition.
struct NodeNews {
  bool healthy = true;
  /// "AllHealthy", or a name of api/chain.h.
  std::string reason;
  std::string message;
  bool operator==(const NodeNews&) const = default;
};

/// `expected` GPUs are on the node's buses.
NodeNews NewsOf(const Report& report, std::size_t expected);
/// GPUs on PCI that a driver other than vfio-pci may have: 3D controllers, or, where there are none, VGA ones.
std::size_t CountPciGpus(const os::Fs& host);

/// Sees to it that the Node says the news. The API is opened for each change and let go of again, since changes are
/// few; a write that fails is tried again with back-off. A condition that says so already costs one read.
class NodeTeller {
 public:
  /// Makes a client, and all that it stands on as long as it is held.
  using OpenClient = std::function<Result<std::shared_ptr<const kube::Client>>()>;

  /// Tasks on `executor` may block: they open the API and call it. What is passed in outlives the teller.
  NodeTeller(Executor& executor, OpenClient open, std::string node, Log& log)
      : open_(std::move(open)), node_(std::move(node)), log_(log), strand_(executor) {}

  void Tell(NodeNews news);

 private:
  void Turn();
  Result<> Write(const NodeNews& news);

  const OpenClient open_;
  const std::string node_;
  Log& log_;
  // Of the strand.
  NodeNews wanted_;
  bool behind_ = false;
  std::uint64_t turn_ = 0;
  Duration delay_{};
  Strand strand_;
};

}  // namespace gpuop::operands::device_plugin
