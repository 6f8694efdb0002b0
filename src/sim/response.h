#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sim/status.h"

namespace gpuop::net {
struct Request;
class Responder;
}  // namespace gpuop::net

namespace gpuop::sim {

/// Bytes that somebody else may own too: a stored object's text, an event's text.
using Text = std::shared_ptr<const std::string>;

/// A body as a row of pieces, so that a list of stored objects is written without being copied together first.
class Body {
 public:
  struct Piece {
    std::shared_ptr<const void> owner;  // null for bytes that live for ever
    std::string_view bytes;
  };

  Body() = default;
  explicit Body(std::string text) { Append(std::move(text)); }

  void Append(std::string text);
  /// `bytes` live as long as `owner` does; a null owner means for ever.
  void Append(std::shared_ptr<const void> owner, std::string_view bytes);

  const std::vector<Piece>& pieces() const { return pieces_; }
  std::size_t size() const { return size_; }
  /// One string of all pieces.
  std::string Join() const;

 private:
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
};

/// What the server answers.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  Body body;
  /// Each becomes a Warning header: `299 - "text"`.
  std::vector<std::string> warnings;
  std::optional<Duration> retry_after;
  /// Not null: the answer is a stream, or another protocol, that only HTTP can carry; this takes the request over on
  /// the I/O thread. The in-process door sends the rest of the Response as it stands.
  std::function<void(const net::Request& request, net::Responder responder)> takeover;

  static Response Json(std::string text, int status = 200);
  static Response Plain(std::string text, int status = 200);
  /// The Status as an answer, with Retry-After where it carries one.
  static Response Of(const Status& failure);
};

}  // namespace gpuop::sim
