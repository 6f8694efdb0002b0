#pragma once
// gRPC on unix sockets, the client's side.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::net {

/// A connection to the server at a unix socket, made when first needed and again after the server came back. Calls
/// block, never on an I/O thread; any number at a time. Errors of the server keep their text and have the code of
/// net/grpc/status.h; kUnavailable is "no such socket PATH" or says what else kept us from it, kTimeout and kCancelled
/// are this side's.
class GrpcClient {
 public:
  explicit GrpcClient(std::string path, std::size_t max_message = 4U << 20);
  ~GrpcClient();
  GrpcClient(const GrpcClient&) = delete;
  GrpcClient& operator=(const GrpcClient&) = delete;

  /// One request, one answer, at most `limit`. `method` is its full name: "/v1beta1.Registration/Register".
  Result<std::string> Call(const std::string& method, const std::string& request, Duration limit,
                           std::stop_token stop = {});

  /// One request, any number of answers, each given to `on_message` in order on this thread. Returns when the server
  /// ended the stream (an error unless in good order), when `on_message` returned false (not an error), or when `limit`
  /// (nullopt: none) has passed.
  Result<> Stream(const std::string& method, const std::string& request,
                  const std::function<bool(const std::string&)>& on_message, std::optional<Duration> limit,
                  std::stop_token stop = {});

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace gpuop::net
