#pragma once
// Waits until nodes are fit, and tells each step on the way.

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "cli/gpu/facts.h"
#include "cli/gpu/node_view.h"
#include "kube/client.h"

namespace gpuop::cli::kubectl_gpu {

/// What was told of each node already. Pure: facts in, lines out.
class Progress {
 public:
  /// The nodes that are waited for; none: all that have GPUs, of which there must be one.
  explicit Progress(std::vector<std::string> names) : names_(std::move(names)) {}

  /// One line for each node whose state is another than the last time: "dgx  waiting  Pod …: ContainerCreating". A
  /// cordon is told and keeps no node from being fit: a node is proved before it is given back.
  std::vector<std::string> Look(const ClusterFacts& facts);
  /// Whether all nodes that are waited for are fit, as of the last look.
  bool Done() const { return worst_ == Standing::kFit; }
  /// The worst of their standings; kWaiting for a node that is not there.
  Standing worst() const { return worst_; }
  /// What is not fit as of the last look, and how it stands: "dgx is waiting: Pod …", "there is no node dgy".
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  bool Awaited(const NodeView& node) const;

  std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> said_;
  std::vector<std::string> missing_;
  Standing worst_ = Standing::kWaiting;
};

struct WaitOrder {
  std::vector<std::string> names = {};
  Duration limit = std::chrono::seconds(60);
  std::string operator_ns = {};
};

/// How a wait ended.
struct Waited {
  Standing worst = Standing::kWaiting;
  std::vector<std::string> missing = {};  ///< as of Progress
  Duration took = {};
};

/// Follows nodes and operands by watches until all are fit, the time is over or `stop` is asked for; what they are like
/// then. `tell` gets the lines.
Result<Waited> WaitUntilFit(Executor& executor, const kube::Client& client, const WaitOrder& order,
                            const std::function<void(const std::string&)>& tell, std::stop_token stop);

}  // namespace gpuop::cli::kubectl_gpu
