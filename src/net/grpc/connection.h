#pragma once
// One client of a gRPC server.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "net/grpc/http2_session.h"
#include "net/grpc/message.h"
#include "net/grpc/server.h"
#include "os/fd.h"

namespace gpuop::net {

/// What all connections of a server share.
struct GrpcService {
  const GrpcMethods methods;
  Executor& executor;
  const std::size_t max_message;
  const bool on_own_thread;
  const os::Fd epoll, wake;
  /// From now on no handler starts.
  std::atomic<bool> closed = false;

  /// Makes the server's thread look at its connections.
  void Wake() const;
};

/// The server's thread reads; whoever has an answer writes it himself, so that it need not change threads, and leaves
/// to the server's thread only what the socket does not take at once. Handlers, and those who wait for the end of a
/// call, are never called under the lock; the latter by the server's thread alone.
class GrpcConnection final : public std::enable_shared_from_this<GrpcConnection>, private Http2Events {
 public:
  GrpcConnection(std::shared_ptr<GrpcService> service, os::Fd socket)
      : service_(std::move(service)), socket_(std::move(socket)) {}

  // For the server's thread.

  /// Registers with the epoll and greets. False: it is over already.
  bool Open() EXCLUDES(mu_);
  /// The socket can be read or written. False: the connection is over and wants its Close.
  bool OnReady() EXCLUDES(mu_);
  /// Ends calls whose time has passed and tells those who wait for the end of calls; the next call's time.
  std::optional<TimePoint> OnTime(TimePoint now) EXCLUDES(mu_);
  /// Takes no more calls and ends streams with `how`.
  void Quiesce(const Result<>& how) EXCLUDES(mu_);
  bool has_calls() const EXCLUDES(mu_);
  /// Ends all calls, without another word to the client.
  void Close() EXCLUDES(mu_);

  // For any thread.

  bool Send(std::int32_t stream, const std::string& message) EXCLUDES(mu_);
  void Finish(std::int32_t stream, const Result<>& how) EXCLUDES(mu_);

 private:
  struct Call {
    explicit Call(std::size_t most) : reader(most) {}
    std::string http_method, path, content_type, timeout;
    std::optional<TimePoint> until;
    MessageReader reader;
    const std::variant<GrpcUnary, GrpcStreaming>* handler = nullptr;
    std::stop_source over;
    /// The client has said all; its request is with the handler; our headers are out; our last word is.
    bool received = false, begun = false, responded = false, ended = false;
    /// A handler's single answer is there, so that nobody waits for the call's end.
    bool answered = false;
  };

  void OnOpen(std::int32_t stream) override REQUIRES(mu_);
  void OnHeader(std::int32_t stream, std::string_view name, std::string_view value) override REQUIRES(mu_);
  void OnHeaders(std::int32_t stream) override REQUIRES(mu_);
  void OnData(std::int32_t stream, std::string_view bytes) override REQUIRES(mu_);
  void OnEnd(std::int32_t stream) override REQUIRES(mu_);
  void OnClose(std::int32_t stream, std::uint32_t error) override REQUIRES(mu_);

  void Begin(std::int32_t stream, Call& call, std::string request) REQUIRES(mu_);
  void Respond(std::int32_t stream, Call& call) REQUIRES(mu_);
  /// Our last word on a call; only the first counts.
  void Conclude(std::int32_t stream, Call& call, const Result<>& how) REQUIRES(mu_);
  void Answer(std::int32_t stream, const Result<std::string>& answer) EXCLUDES(mu_);
  /// Calls of which the client still sends something that nobody reads are reset (RFC 9113, 8.1).
  void ResetCutShort() REQUIRES(mu_);
  /// Writes; false when the connection is over.
  bool Flush() REQUIRES(mu_);
  /// The same from other threads, which leave it to the server's to end the connection.
  void FlushFromAnywhere() REQUIRES(mu_);

  const std::shared_ptr<GrpcService> service_;
  mutable Mutex mu_;
  os::Fd socket_ GUARDED_BY(mu_);
  Http2Session session_ GUARDED_BY(mu_){Http2Session::Side::kServer, *this};
  std::map<std::int32_t, Call> calls_ GUARDED_BY(mu_);
  bool wants_to_write_ GUARDED_BY(mu_) = false;
  /// Calls that are answered before all of their request has come.
  std::vector<std::int32_t> cut_short_ GUARDED_BY(mu_);
  /// What to do outside the lock: handlers to start, ends to tell.
  std::vector<Executor::Task> starts_ GUARDED_BY(mu_);
  std::vector<std::stop_source> overs_ GUARDED_BY(mu_);
};

}  // namespace gpuop::net
