#pragma once

#include <memory>

#include "base/executor.h"
#include "kube/config/config.h"
#include "kube/door.h"
#include "net/io_thread.h"
#include "os/fs.h"
#include "os/process.h"

namespace gpuop::kube {

/// The way to a Kubernetes API over HTTP. Thread-safe. Every request carries the configuration's credentials, which
/// are refreshed as they rotate or expire; an answer of 401 refreshes them once and asks again.
///
/// An answer of more than 64 MiB is kTooLarge: lists of that size are read in pages.
///
/// Streams: a watch's documents are told one by one whatever portions they arrive in; a document of more than 64 MiB,
/// or a stream that ends in the middle of one, is an error. Other streams are passed on as they come.
///
/// Error texts say what was asked of whom: "GET https://10.0.0.1:6443/api/v1/nodes: connect 10.0.0.1:6443: connection
/// refused".
class HttpDoor final : public Door {
 public:
  /// `workers` runs what may block before a stream can be opened (an exec plugin). What is passed in outlives the door,
  /// and the door its streams. kInvalid and kUnsupported for a configuration that cannot be used.
  static Result<std::unique_ptr<HttpDoor>> Make(net::IoThread& io, Executor& workers, const os::Fs& fs,
                                                os::Processes& processes, ApiConfig config);
  ~HttpDoor() override;

  Result<ApiResponse> Call(const ApiRequest& request, Duration limit, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::shared_ptr<StreamSink> sink) override;
  const ApiConfig& config() const;

  /// What the door and its streams share (http_door.cc).
  struct Core;

 private:
  explicit HttpDoor(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  std::shared_ptr<Core> core_;
};

}  // namespace gpuop::kube
