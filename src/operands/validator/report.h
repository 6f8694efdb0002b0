#pragma once

#include <string>

#include "api/chain.h"
#include "base/clock.h"
#include "data/json.h"
#include "kube/client.h"
#include "kube/types/node.h"

namespace gpuop::operands::validator {

/// Tells what was found: as a condition of the node (api::kGpuReadyCondition), and as an Event when the reason changes.
class NodeReport {
 public:
  NodeReport(kube::Client client, std::string node, const Clock& clock)
      : client_(std::move(client)), node_(std::move(node)), clock_(clock) {}

  /// Reads the node and writes what differs; an equal condition is not written again. Blocks.
  Result<> Write(const api::Finding& finding) const;
  /// An Event without a condition, for news that change nothing ("an Xid was reported").
  Result<> Tell(const api::Finding& finding) const;

 private:
  Result<> Event(const kube::Node& node, const api::Finding& finding) const;

  const kube::Client client_;
  const std::string node_;
  const Clock& clock_;
};

}  // namespace gpuop::operands::validator
