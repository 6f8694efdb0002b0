#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/thread_executor.h"
#include "kube/http_door.h"

namespace gpuop::e2e {

/// What a program needs to speak to an API server over HTTP, made from a kubeconfig.
class Wire {
 public:
  static Result<std::unique_ptr<Wire>> FromKubeconfig(const std::string& path);

  /// A door of its own (with connections of its own) for `user`; an empty name is whom the kubeconfig names, any other
  /// is impersonated.
  Result<std::unique_ptr<kube::Door>> DoorFor(const std::string& user, const std::vector<std::string>& groups);

 private:
  Wire() = default;

  net::IoThread io_;
  ThreadExecutor workers_{1};
  std::unique_ptr<os::Fs> fs_;
  os::RealProcesses processes_;
  kube::ApiConfig config_;
};

}  // namespace gpuop::e2e
