#pragma once
// gRPC on unix sockets, the server's side. Messages are bytes here; what they mean is the caller's protobuf.

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"

namespace gpuop::net {

/// The answers of one server-streaming call. Thread-safe. Dropping it before Finish ends the call with kUnavailable.
class GrpcStream {
 public:
  /// Messages that may wait for a peer that does not read.
  static constexpr std::size_t kMostWaiting = 256;

  virtual ~GrpcStream() = default;
  /// Queues a message. False when the call is over, or ends now (kTooManyRequests) because the peer does not read.
  virtual bool Send(std::string message) = 0;
  /// Ends the call after what was sent. Only the first call counts.
  virtual void Finish(Result<> how) = 0;
  /// Asked to stop once the call is over in whatever way: the peer cancelled or went away, its deadline passed, the
  /// server stops.
  virtual std::stop_token over() const = 0;
};

/// Answers one request. May block; runs on the server's executor. `over` is asked when nobody waits for the answer.
using GrpcUnary = std::function<Result<std::string>(const std::string& request, std::stop_token over)>;
/// Begins to answer one request; the stream may be kept and fed from anywhere. Runs on the server's executor.
using GrpcStreaming = std::function<void(const std::string& request, std::shared_ptr<GrpcStream> answers)>;
/// By full name: "/v1beta1.Registration/Register".
using GrpcMethods = std::map<std::string, std::variant<GrpcUnary, GrpcStreaming>>;

struct GrpcServerOptions {
  /// Where the socket appears: absolute, at most 107 bytes together with the folder (unix(7)).
  std::string path;
  mode_t mode = 0600;
  /// Longest message in either direction.
  std::size_t max_message = 4U << 20;
  /// Handlers run on the server's own thread instead of the executor, one after another, and must not block: no second
  /// thread is woken for a call.
  bool on_own_thread = false;
};

/// A server on a unix socket. Unknown methods are answered with UNIMPLEMENTED, errors with the code of
/// net/grpc/status.h and their text. One thread of its own; handlers run on the executor, unless the options say
/// otherwise.
class GrpcServer {
 public:
  /// When this returns the server answers at `path`, where the socket appeared at once, with its mode: whoever can
  /// connect gets an answer. A socket that was there, of a dead server or a living one, is replaced; anything else
  /// there is kAlreadyExists. `executor` must outlive the server.
  static Result<std::unique_ptr<GrpcServer>> Start(GrpcServerOptions options, GrpcMethods methods, Executor& executor);

  virtual ~GrpcServer() = default;
  /// Removes the socket (if it is still ours), takes no more calls, ends streams with kUnavailable and gives other
  /// calls `grace` to be answered before they are cancelled. When it returns no handler will start, though one that
  /// does not heed `over` may still run. The destructor does it without grace. Call it from one thread, once.
  virtual void Stop(Duration grace) = 0;
};

}  // namespace gpuop::net
