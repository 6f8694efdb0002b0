#pragma once
// HTTP/2 (RFC 9113) over a socket, as far as gRPC needs it. Frames, flow control and HPACK are libnghttp2's.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct nghttp2_session;

namespace gpuop::net {

using Http2Headers = std::vector<std::pair<std::string, std::string>>;

/// What a session hears. Called from inside its Receive and Flush; may call everything else of it.
class Http2Events {
 public:
  /// The peer opens a stream (never heard by a client).
  virtual void OnOpen(std::int32_t stream) = 0;
  virtual void OnHeader(std::int32_t stream, std::string_view name, std::string_view value) = 0;
  /// A block of headers, or trailers, is complete.
  virtual void OnHeaders(std::int32_t stream) = 0;
  virtual void OnData(std::int32_t stream, std::string_view bytes) = 0;
  /// The peer says no more on it.
  virtual void OnEnd(std::int32_t stream) = 0;
  /// The stream is over for both; `error` is a code of RFC 9113, 7.
  virtual void OnClose(std::int32_t stream, std::uint32_t error) = 0;

 protected:
  ~Http2Events() = default;
};

/// One side of a connection. Has no thread, no lock and never waits: whoever owns it says when to read and write.
class Http2Session {
 public:
  enum class Side { kClient, kServer };
  static constexpr std::uint32_t kNoError = 0, kRefused = 7, kCancel = 8;

  Http2Session(Side side, Http2Events& events);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  /// Opens a stream whose body follows by Write and End; negative when the connection takes no more.
  std::int32_t Request(const Http2Headers& headers);
  /// Answers a stream; the body follows by Write and End.
  void Respond(std::int32_t stream, const Http2Headers& headers);
  /// Answers a stream with headers alone.
  void RespondAtOnce(std::int32_t stream, const Http2Headers& headers);
  /// Queues a part of the body.
  void Write(std::int32_t stream, std::string bytes);
  /// Ends the body after what was written, with trailers if there are any.
  void End(std::int32_t stream, Http2Headers trailers = {});
  void Reset(std::int32_t stream, std::uint32_t error);
  /// Parts of the body of which nothing has been sent.
  std::size_t waiting(std::int32_t stream) const;
  void DropWaiting(std::int32_t stream);
  /// Tells the peer that no new stream will be answered.
  void GoAway();
  /// Whether a client may open another stream.
  bool takes_requests() const;

  enum class Received { kMore, kAll, kEnd };
  /// Reads once, without waiting. kMore: there may be more at once; kEnd: the connection is over or its bytes are no
  /// HTTP/2, after which Flush may still tell the peer.
  Received Receive(int fd);
  enum class Sent { kAll, kBlocked, kEnd };
  /// Writes what there is as far as the socket takes it. kEnd: the connection is over.
  Sent Flush(int fd);

 private:
  friend struct Http2Callbacks;
  struct Body {
    std::deque<std::string> parts;
    std::size_t sent = 0;  ///< of the first part
    bool ended = false;
    Http2Headers trailers;
  };

  std::ptrdiff_t ReadBody(std::int32_t stream, std::uint8_t* to, std::size_t most, std::uint32_t* flags);

  Http2Events& events_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Body> bodies_;
  std::string out_;  ///< frames that the socket has not taken yet
};

}  // namespace gpuop::net
