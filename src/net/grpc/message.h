#pragma once
// What gRPC puts into HTTP/2: framed messages and the texts in headers ("gRPC over HTTP2", PROTOCOL-HTTP2.md).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::net {

/// `message` with the five bytes that tell its length.
std::string FrameMessage(std::string_view message);

/// Takes messages out of bytes as they come. Never holds more than one message and what came with it.
class MessageReader {
 public:
  /// `most`: the longest message that is taken.
  explicit MessageReader(std::size_t most) : most_(most) {}

  void Feed(std::string_view bytes) { buffer_.append(bytes); }
  /// The next message, if all of it is there. kTooLarge as soon as a length says so; kUnsupported: it is compressed,
  /// though nobody was told that we could read that.
  Result<std::optional<std::string>> Next();
  /// Whether the beginning of another message is left.
  bool in_message() const { return !buffer_.empty(); }

 private:
  std::size_t most_;
  std::string buffer_;
};

/// grpc-message: UTF-8 with everything but printable ASCII, and the percent sign, as %XX.
std::string EncodeStatusText(std::string_view text);
/// What is no %XX stays as it is.
std::string DecodeStatusText(std::string_view text);

/// grpc-timeout: at most eight digits and a unit. Rounds up.
std::string FormatTimeout(Duration limit);
std::optional<Duration> ParseTimeout(std::string_view text);

}  // namespace gpuop::net
