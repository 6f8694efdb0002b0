#include "net/grpc/http2_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace gpuop::net {
namespace {

constexpr std::size_t kChunk = 16384;
/// Calls at a time on one connection.
constexpr std::uint32_t kMostStreams = 100;

std::vector<nghttp2_nv> ToNv(const Http2Headers& headers) {
  std::vector<nghttp2_nv> out;
  out.reserve(headers.size());
  const auto bytes = [](const std::string& s) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(s.data()));
  };
  for (const auto& [name, value] : headers)
    out.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  return out;
}

std::string_view View(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

/// What nghttp2 calls; `session` is the Http2Session.
struct Http2Callbacks {
  static Http2Session& Of(void* session) { return *static_cast<Http2Session*>(session); }

  static int OnOpen(nghttp2_session*, const nghttp2_frame* frame, void* session) {
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
      Of(session).events_.OnOpen(frame->hd.stream_id);
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* session) {
    Of(session).events_.OnHeader(frame->hd.stream_id, View(name, name_size), View(value, value_size));
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* session) {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS) Of(session).events_.OnHeaders(frame->hd.stream_id);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) Of(session).events_.OnEnd(frame->hd.stream_id);
    return 0;
  }

  static int OnData(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data, std::size_t size,
                    void* session) {
    Of(session).events_.OnData(stream, View(data, size));
    return 0;
  }

  static int OnClose(nghttp2_session*, std::int32_t stream, std::uint32_t error, void* session) {
    Of(session).bodies_.erase(stream);
    Of(session).events_.OnClose(stream, error);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, std::int32_t stream, std::uint8_t* to, std::size_t most,
                          std::uint32_t* flags, nghttp2_data_source*, void* session) {
    return Of(session).ReadBody(stream, to, most, flags);
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* out = nullptr;
    GPUOP_CHECK(nghttp2_session_callbacks_new(&out) == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(out, OnOpen);
    nghttp2_session_callbacks_set_on_header_callback(out, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(out, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(out, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(out, OnClose);
    return out;
  }

  static constexpr nghttp2_data_provider kBody{.source = {}, .read_callback = ReadBody};
};

Http2Session::Http2Session(Side side, Http2Events& events) : events_(events) {
  static nghttp2_session_callbacks* const callbacks = Http2Callbacks::Make();
  nghttp2_option* option = nullptr;
  GPUOP_CHECK(nghttp2_option_new(&option) == 0);
  // Go's clients send a socket's path as :authority, which is no authority of RFC 3986. What matters is checked here.
  nghttp2_option_set_no_http_messaging(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  const auto make = side == Side::kServer ? nghttp2_session_server_new2 : nghttp2_session_client_new2;
  const int made = make(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  GPUOP_CHECK(made == 0);
  const nghttp2_settings_entry settings[] = {
      side == Side::kServer ? nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostStreams}
                            : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 1);
}

Http2Session::~Http2Session() { nghttp2_session_del(session_); }

std::int32_t Http2Session::Request(const Http2Headers& headers) {
  const auto nv = ToNv(headers);
  const std::int32_t stream =
      nghttp2_submit_request(session_, nullptr, nv.data(), nv.size(), &Http2Callbacks::kBody, nullptr);
  if (stream > 0) bodies_[stream];
  return stream;
}

void Http2Session::Respond(std::int32_t stream, const Http2Headers& headers) {
  const auto nv = ToNv(headers);
  bodies_[stream];
  nghttp2_submit_response(session_, stream, nv.data(), nv.size(), &Http2Callbacks::kBody);
}

void Http2Session::RespondAtOnce(std::int32_t stream, const Http2Headers& headers) {
  const auto nv = ToNv(headers);
  nghttp2_submit_response(session_, stream, nv.data(), nv.size(), nullptr);
}

void Http2Session::Write(std::int32_t stream, std::string bytes) {
  const auto body = bodies_.find(stream);
  if (body == bodies_.end()) return;
  body->second.parts.push_back(std::move(bytes));
  nghttp2_session_resume_data(session_, stream);
}

void Http2Session::End(std::int32_t stream, Http2Headers trailers) {
  const auto body = bodies_.find(stream);
  if (body == bodies_.end()) return;
  body->second.ended = true;
  body->second.trailers = std::move(trailers);
  nghttp2_session_resume_data(session_, stream);
}

void Http2Session::Reset(std::int32_t stream, std::uint32_t error) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, error);
}

std::size_t Http2Session::waiting(std::int32_t stream) const {
  const auto body = bodies_.find(stream);
  return body == bodies_.end() ? 0 : body->second.parts.size() - (body->second.sent > 0 ? 1 : 0);
}

void Http2Session::DropWaiting(std::int32_t stream) {
  if (const auto body = bodies_.find(stream); body != bodies_.end())
    body->second.parts.resize(body->second.sent > 0 ? 1 : 0);
}

void Http2Session::GoAway() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

bool Http2Session::takes_requests() const { return nghttp2_session_check_request_allowed(session_) != 0; }

std::ptrdiff_t Http2Session::ReadBody(std::int32_t stream, std::uint8_t* to, std::size_t most, std::uint32_t* flags) {
  const auto found = bodies_.find(stream);
  if (found == bodies_.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  Body& body = found->second;
  std::size_t taken = 0;
  while (taken < most && !body.parts.empty()) {
    const std::string& part = body.parts.front();
    const std::size_t n = std::min(most - taken, part.size() - body.sent);
    std::memcpy(to + taken, part.data() + body.sent, n);
    taken += n;
    body.sent += n;
    if (body.sent < part.size()) break;
    body.parts.pop_front();
    body.sent = 0;
  }
  if (!body.parts.empty()) return static_cast<std::ptrdiff_t>(taken);
  if (!body.ended) return taken > 0 ? static_cast<std::ptrdiff_t>(taken) : NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (!body.trailers.empty()) {
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const auto nv = ToNv(body.trailers);
    nghttp2_submit_trailer(session_, stream, nv.data(), nv.size());
  }
  return static_cast<std::ptrdiff_t>(taken);
}

Http2Session::Received Http2Session::Receive(int fd) {
  std::uint8_t buffer[kChunk];
  ssize_t n = 0;
  do n = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::kAll;
  if (n <= 0 || nghttp2_session_mem_recv(session_, buffer, static_cast<std::size_t>(n)) < 0) return Received::kEnd;
  return static_cast<std::size_t>(n) == sizeof buffer ? Received::kMore : Received::kAll;
}

Http2Session::Sent Http2Session::Flush(int fd) {
  for (;;) {
    while (out_.size() < kChunk) {
      const std::uint8_t* frame = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &frame);
      if (size < 0) return Sent::kEnd;
      if (size == 0) break;
      out_.append(View(frame, static_cast<std::size_t>(size)));
    }
    if (out_.empty()) return nghttp2_session_want_read(session_) != 0 ? Sent::kAll : Sent::kEnd;
    const ssize_t n = ::send(fd, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Sent::kBlocked : Sent::kEnd;
    out_.erase(0, static_cast<std::size_t>(n));
  }
}

}  // namespace gpuop::net
