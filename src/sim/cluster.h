#pragma once
// The embedded cluster's control plane, wired: the one object that tests and `gpu-operator sim` make.

#include <cstdint>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/rng.h"
#include "base/virtual_executor.h"
#include "sim/api_server.h"
#include "sim/core_door.h"
#include "sim/event_expiry.h"
#include "sim/faults.h"
#include "sim/plugins.h"
#include "sim/resource.h"
#include "sim/store.h"
#include "sim/types/type_system.h"
#include "sim/user.h"

namespace gpuop::sim {

/// Store, registry, API server and faults on one executor, with the namespaces that every cluster has. Everything runs
/// on the executor's thread.
class ControlPlane {
 public:
  /// `executor` outlives it. `seed` decides uids, generated names and faults with a probability.
  ControlPlane(Executor& executor, std::uint64_t seed, HistoryLimit history = {});
  ~ControlPlane();

  /// Makes what every cluster has (the namespaces, the Service kubernetes, roles, APIServices) unless it is there, as
  /// after a restart.
  void Bootstrap();

  Store& store() { return store_; }
  Registry& registry() { return registry_; }
  ApiServer& server() { return *server_; }
  Plugins& plugins() { return *plugins_; }
  Faults& faults() { return faults_; }
  types::Types& types() { return types_; }
  Executor& executor() { return executor_; }
  /// A door for `user`, through which faults strike. Outlived by the control plane.
  std::unique_ptr<CoreDoor> DoorFor(User user) {
    return std::make_unique<CoreDoor>(*server_, std::move(user), &faults_);
  }

 private:
  void Make(std::string path, std::string body);

  Executor& executor_;
  Rng rng_, fault_rng_;
  Store store_;
  Registry registry_;
  Faults faults_{fault_rng_};
  types::Types types_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<Plugins> plugins_;
  std::unique_ptr<EventExpiry> event_expiry_;
};

/// A control plane on a virtual clock, for tests: one thread, no sockets, and a run that is a function of its seed.
/// Every commit goes into the executor's trace.
class Cluster {
 public:
  explicit Cluster(std::uint64_t seed, HistoryLimit history = {});

  VirtualExecutor& executor() { return executor_; }
  ControlPlane& control_plane() { return plane_; }
  ApiServer& server() { return plane_.server(); }
  Store& store() { return plane_.store(); }
  Faults& faults() { return plane_.faults(); }
  /// The administrator's door.
  kube::Door& door() { return *admin_; }
  std::unique_ptr<CoreDoor> DoorFor(User user) { return plane_.DoorFor(std::move(user)); }
  /// Runs the cluster for a span of virtual time.
  void RunFor(Duration span) { executor_.RunFor(span); }

  /// One request as the administrator, without faults: for a test's own preparations.
  kube::ApiResponse Call(const std::string& method, const std::string& path, const std::string& body = {},
                         const std::string& content_type = "application/json");

 private:
  VirtualExecutor executor_;
  ControlPlane plane_;
  std::unique_ptr<CoreDoor> admin_;
};

}  // namespace gpuop::sim
