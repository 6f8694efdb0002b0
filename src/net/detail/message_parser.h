#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace gpuop::net::detail {

/// The start line and fields of a message.
struct MessageHead {
  std::string method;  ///< of a request
  std::string target;  ///< of a request, as sent
  int status = 0;      ///< of a response
  int minor_version = 1;
  Headers headers;
};

/// Reads one HTTP/1.x message after another from bytes that arrive in any portions.
class MessageParser {
 public:
  enum class Kind { kRequest, kResponse };

  /// A start line, or the fields together, of more than `head_limit` bytes are kTooLarge.
  MessageParser(Kind kind, std::size_t head_limit);
  ~MessageParser();
  MessageParser(const MessageParser&) = delete;
  MessageParser& operator=(const MessageParser&) = delete;

  /// Gets ready for the next message. `no_body`: it has none whatever its fields say (the answer to HEAD).
  void Next(bool no_body = false);

  using OnBody = std::move_only_function<void(std::string_view)>;
  /// Takes bytes and says how many: the rest is offered again, with more behind it. Stops where the head ends and
  /// where the message ends. Errors: kTooLarge for the head, kInvalid for what is not HTTP.
  Result<std::size_t> Feed(std::string_view bytes, OnBody& on_body);
  /// The peer sends no more. An error when the message needed more.
  Result<> End();

  /// Whether a byte of this message has been seen.
  bool Begun() const;
  bool HeadDone() const;
  bool Done() const;
  /// After the head: whether the connection can carry another message.
  bool KeepAlive() const;
  /// After the head: the body's size where the head says so.
  std::optional<std::uint64_t> ContentLength() const;
  const MessageHead& head() const;
  MessageHead TakeHead();

 private:
  struct Core;
  template <bool kIsRequest>
  struct Reader;
  std::unique_ptr<Core> core_;
};

}  // namespace gpuop::net::detail
