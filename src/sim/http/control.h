#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/door.h"
#include "sim/api_server.h"
#include "sim/faults.h"
#include "sim/response.h"

namespace gpuop::sim {

/// The control endpoint /sim/v1/…: faults and facts about the embedded cluster, for tests and demonstrations. Described
/// in docs/embedded-cluster.md. It is not part of the Kubernetes API and asks for no credentials: it is served on
/// loopback only.
class Control {
 public:
  /// Makes something happen to a machine; kNotFound when there is none of that name.
  using DoToMachine = std::function<Result<>(std::string_view node, std::vector<std::string> words)>;

  /// Both outlive it.
  Control(ApiServer& server, Faults& faults, DoToMachine machines = {})
      : server_(server), faults_(faults), machines_(std::move(machines)) {}

  static bool Owns(std::string_view path);
  Response Handle(const kube::ApiRequest& request);

 private:
  Answer<Response> Route(const kube::ApiRequest& request);
  Answer<Response> AddFault(const kube::ApiRequest& request);
  Answer<Response> AddStorm(const kube::ApiRequest& request);
  Answer<Response> Compact(const kube::ApiRequest& request);
  Answer<Response> MachineFault(const kube::ApiRequest& request, std::string_view node);
  Answer<Response> SlowClients(const kube::ApiRequest& request);
  Response State() const;

  ApiServer& server_;
  Faults& faults_;
  DoToMachine machines_;
};

}  // namespace gpuop::sim
