#pragma once
// ttrpc over one multiplexed unix socket, as NRI has it between a container engine and its plugins: each side calls the
// other on a logical connection of its own. A frame of the trunk is the connection's number and the length of what
// follows; inside is ttrpc: length, stream, type and flags, then a protobuf envelope. All numbers are big-endian.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"

namespace gpuop::net {

/// Our side of a trunk. Blocking; for one thread.
class TtrpcTrunk {
 public:
  /// Answers one request; `method` is "service/method". kUnsupported for a method that is not known.
  using Handler = std::function<Result<std::string>(const std::string& method, const std::string& request)>;
  /// A message may be this long, as ttrpc has it.
  static constexpr std::size_t kMaxMessage = 4U << 20;

  /// Errors as ConnectUnix.
  static Result<std::unique_ptr<TtrpcTrunk>> Connect(const std::string& path);
  /// A trunk over a socket that is connected already.
  explicit TtrpcTrunk(os::Fd socket) : socket_(std::move(socket)) {}

  /// One call on the logical connection `connection`. Requests that come meanwhile wait for Serve. kUnavailable: the
  /// other side has gone; kTimeout, kCancelled; another code: the other side's answer.
  Result<std::string> Call(std::uint32_t connection, const std::string& service, const std::string& method,
                           const std::string& request, Duration limit, const std::stop_token& stop);
  /// Answers the requests of `connection` until somebody asks to stop. kUnavailable: the other side has gone.
  Result<> Serve(std::uint32_t connection, const Handler& handler, const std::stop_token& stop);

 private:
  enum Type : std::uint8_t { kRequest = 1, kResponse = 2 };
  struct Message {
    std::uint32_t connection = 0, stream = 0;
    std::uint8_t type = 0;
    std::string body;
  };

  Result<> Send(std::uint32_t connection, std::uint32_t stream, Type type, std::uint8_t flags, const std::string& body);
  /// Waits for the next message of any connection.
  Result<Message> Next(std::optional<TimePoint> until, const std::stop_token& stop);
  /// Takes whole messages out of what has come.
  Result<> Unpack();
  Result<> Answer(const Message& message, const Handler& handler);

  const os::Fd socket_;
  std::string raw_;
  std::map<std::uint32_t, std::string> streams_;
  std::deque<Message> ready_, waiting_;
  std::uint32_t next_stream_ = 1;
};

}  // namespace gpuop::net
