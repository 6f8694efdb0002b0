#pragma once

#include "kube/door.h"
#include "sim/api_server.h"

namespace gpuop::sim {

class Faults;

/// The decision that an HTTP status stands for.
Code CodeOfStatus(int status);

/// The in-process door: requests go straight into the core as `user`, answers come back from the same call; what
/// streams carry arrives by tasks on the core's executor. Used only on the core's thread.
class CoreDoor final : public kube::Door {
 public:
  /// `server` and `faults` outlive the door; null faults: none are injected.
  CoreDoor(ApiServer& server, User user, Faults* faults = nullptr)
      : server_(server), user_(std::move(user)), faults_(faults) {}

  /// Answers at once. An injected delay that is longer than `limit` is a kTimeout without effect.
  Result<kube::ApiResponse> Call(const kube::ApiRequest& request, Duration limit, std::stop_token stop) override;
  std::unique_ptr<kube::Stream> Open(const kube::ApiRequest& request, std::shared_ptr<kube::StreamSink> sink) override;

 private:
  ApiServer& server_;
  User user_;
  Faults* faults_;
};

}  // namespace gpuop::sim
