#pragma once

#include <memory>

#include "sim/api_server.h"

namespace gpuop::sim {

/// Keeps the rules of ClusterRoles with an aggregationRule equal to what they collect. It watches the store and writes
/// by tasks on the server's executor, only where something differs.
class RoleAggregation {
 public:
  /// The server outlives it, or takes no more requests.
  explicit RoleAggregation(ApiServer& server);

 private:
  void Wake();
  void Sync();

  ApiServer& server_;
  bool woken_ = false;
  std::shared_ptr<RoleAggregation*> self_ = std::make_shared<RoleAggregation*>(this);
};

}  // namespace gpuop::sim
