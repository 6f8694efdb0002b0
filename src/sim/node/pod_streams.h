#pragma once
// kubectl logs and kubectl exec of Pods on machines, as the API server passes them on.

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "sim/api_server.h"
#include "sim/node/machine_node.h"

namespace gpuop::sim::node {

/// Answers pods/NAME/log and pods/NAME/exec for Pods on machines; others are answered as before. Made on the server's
/// thread, before requests come; outlives them.
class PodStreams {
 public:
  /// The machine of that name, or null.
  using FindMachine = std::function<MachineNode*(std::string_view node)>;

  PodStreams(ApiServer& server, FindMachine find);
  ~PodStreams();
  PodStreams(const PodStreams&) = delete;
  PodStreams& operator=(const PodStreams&) = delete;

 private:
  class Follow;
  Answer<Response> Log(Request& request);
  Answer<Response> Exec(Request& request);

  ApiServer& server_;
  FindMachine find_;
  /// What goes on: each ends itself.
  std::shared_ptr<std::set<std::shared_ptr<void>>> open_ = std::make_shared<std::set<std::shared_ptr<void>>>();
};

}  // namespace gpuop::sim::node
