#pragma once
// A program's way to the API over HTTP, and all that it stands on.

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/thread_executor.h"
#include "kube/client.h"
#include "kube/http_door.h"
#include "net/io_thread.h"
#include "os/fs.h"
#include "os/process.h"

namespace gpuop::kube {

/// An I/O thread, workers, a door. Small, and idle while nothing happens.
class ApiDoor {
 public:
  /// By a configuration that was found. `fs` outlives the door. Errors as HttpDoor::Make.
  static Result<std::unique_ptr<ApiDoor>> Open(const os::Fs& fs, ApiConfig config, std::size_t workers = 1);
  /// By `kubeconfig`, or where client-go finds a configuration when it is empty. `program` is the user agent, and owns
  /// what its clients write. Errors name what was looked for.
  static Result<std::unique_ptr<ApiDoor>> Open(const os::Fs& fs, const std::string& kubeconfig, std::string program,
                                               std::size_t workers = 1);

  Door& door() { return *door_; }
  net::IoThread& io() { return io_; }
  /// Its tasks may block.
  Executor& workers() { return workers_; }
  /// Owns fields by the user agent's name. Calls wait between attempts, until `stop` is asked for.
  Client MakeClient(std::stop_token stop);

 private:
  explicit ApiDoor(std::size_t workers) : workers_(workers) {}

  os::RealProcesses processes_;
  net::IoThread io_;
  ThreadExecutor workers_;
  std::unique_ptr<HttpDoor> door_;
};

/// A client (as MakeClient's) that holds the door it goes through: for programs that call rarely, and let go of both
/// when they have.
std::shared_ptr<const Client> HoldClient(std::unique_ptr<ApiDoor> api, std::stop_token stop);

}  // namespace gpuop::kube
