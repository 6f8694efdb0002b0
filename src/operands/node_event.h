#pragma once

#include <string_view>

#include "base/clock.h"
#include "kube/client.h"
#include "kube/types/node.h"

namespace gpuop::operands {

/// Something to be told about a node, as `kubectl describe node` shows it.
struct NodeNews {
  bool warning = true;
  /// One word in CamelCase.
  std::string_view reason;
  std::string_view message;
  /// Who tells: "nvidia-validator".
  std::string_view program;
};
/// Writes one Event about `node`, at once and without counting: for news that are rare by themselves.
Result<> WriteNodeEvent(const kube::Client& client, const kube::Node& node, const NodeNews& news, WallTime now);

}  // namespace gpuop::operands
