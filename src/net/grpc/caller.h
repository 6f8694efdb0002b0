#pragma once
// The client's side of one connection.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/grpc/http2_session.h"
#include "net/grpc/message.h"
#include "os/fd.h"

namespace gpuop::net {

/// Makes calls over a connected socket, one at a time and on the caller's thread: between calls nobody reads.
class GrpcCaller final : private Http2Events {
 public:
  struct Order {
    const std::string& method;
    const std::string& request;
    std::optional<TimePoint> until;
    const std::stop_token& stop;
  };

  /// `name` begins the texts of errors that are not the server's.
  GrpcCaller(os::Fd socket, std::string name, std::size_t max_message)
      : socket_(std::move(socket)), name_(std::move(name)), max_message_(max_message), reader_(max_message) {}

  /// Reads what came since the last call. False: the connection takes no other call.
  bool Refresh();
  /// One call. Each message of the answer goes to `on_message`, which returns false when it has enough. Errors as
  /// GrpcClient has them, without the method's name.
  Result<> Call(const Order& order, const std::function<bool(std::string message)>& on_message);
  /// After a call: the server has certainly not begun to answer it.
  bool untouched() const { return untouched_; }
  /// Whether the connection is in good order after a call.
  bool reusable() const { return reusable_; }

 private:
  void OnOpen(std::int32_t) override {}
  void OnHeader(std::int32_t stream, std::string_view name, std::string_view value) override;
  void OnHeaders(std::int32_t) override {}
  void OnData(std::int32_t stream, std::string_view bytes) override;
  void OnEnd(std::int32_t stream) override;
  void OnClose(std::int32_t stream, std::uint32_t error) override;

  void Begin(const Order& order);
  /// Hands on the messages that are there; false when that was enough.
  Result<bool> Deliver(const std::function<bool(std::string message)>& on_message);
  /// Waits until the socket can be read or written.
  Result<> Wait(const Order& order, int wake, bool to_write);
  /// What the answer's end means.
  Result<> Verdict() const;

  const os::Fd socket_;
  const std::string name_;
  const std::size_t max_message_;
  Http2Session session_{Http2Session::Side::kClient, *this};
  // Of the call under way.
  std::int32_t stream_ = 0;
  MessageReader reader_;
  /// The answer is complete; the stream is over; the connection is; and what the caller may ask afterwards.
  bool answered_ = false, closed_ = false, ended_ = false, untouched_ = false, reusable_ = false;
  std::uint32_t reset_ = 0;
  std::string http_status_, grpc_status_, grpc_message_;
};

}  // namespace gpuop::net
