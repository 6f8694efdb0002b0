#include "net/websocket.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include "base/check.h"
#include "base/text.h"
#include "net/detail/websocket_core.h"

namespace gpuop::net {
namespace {

using detail::FrameHead;
using detail::Moved;
using detail::Opcode;

constexpr std::size_t kLargestMessage = 16 * 1024 * 1024;
constexpr std::size_t kMostQueued = 16 * 1024 * 1024;
constexpr Duration kCloseLimit = std::chrono::seconds(5);
constexpr std::uint16_t kProtocolError = 1002;
constexpr std::uint16_t kNoCode = 1005;

}  // namespace

namespace detail {

std::string WebSocketAccept(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char sum[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum);
  return Base64Encode({reinterpret_cast<const char*>(sum), sizeof sum});
}

std::string WebSocketKey() {
  char bytes[16];
  GPUOP_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes), sizeof bytes) == 1);
  return Base64Encode({bytes, sizeof bytes});
}

}  // namespace detail

WebSocket::WebSocket(std::shared_ptr<Core> core, std::string subprotocol)
    : core_(std::move(core)), subprotocol_(std::move(subprotocol)) {}

WebSocket::~WebSocket() {
  core_->io().Dispatch([core = core_] { core->Drop(); });
}

void WebSocket::Send(bool binary, std::string message) {
  core_->io().Dispatch([core = core_, binary, m = std::move(message)]() mutable { core->Send(binary, std::move(m)); });
}

void WebSocket::Close(std::uint16_t code, std::string_view reason) {
  core_->io().Dispatch([core = core_, code, r = std::string(reason)] { core->Close(code, r); });
}

std::size_t WebSocket::Queued() const { return core_->queued(); }

void WebSocket::Core::Adopt(std::unique_ptr<detail::Transport> transport, std::string first, std::string input) {
  transport_ = std::move(transport);
  in_ = std::move(input);
  out_.Push(std::move(first));
  // Later, so that the owner has its WebSocket before the first sink call.
  io_.Post([self = shared_from_this()] {
    if (self->finished_) return;
    self->Flush();
    if (auto parsed = self->Parse(); !parsed) return self->Fail(std::move(parsed).error(), kProtocolError);
    self->WaitReadable();
  });
}

void WebSocket::Core::Send(bool binary, std::string message) {
  if (finished_ || close_sent_) return;
  Push(binary ? Opcode::kBinary : Opcode::kText, message);
  if (out_.size() > kMostQueued) Finish(gpuop::Fail(Code::kTooLarge, "WebSocket: the peer does not read"), "");
}

void WebSocket::Core::Close(std::uint16_t code, std::string_view reason) {
  if (finished_ || std::exchange(close_sent_, true)) return;
  std::string payload;
  if (code != kNoCode) {
    payload += static_cast<char>(code >> 8);
    payload += static_cast<char>(code & 0xff);
    payload += reason.substr(0, 123);
  }
  Push(Opcode::kClose, payload);
  timer_.Set(io_.Now() + kCloseLimit, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Finish(gpuop::Fail(Code::kTimeout, "WebSocket: no answer to close"), "");
  });
}

void WebSocket::Core::Drop() {
  sink_.reset();
  if (finished_) return;
  Close(1001, "");
  Finish(kNoCode, "");
}

void WebSocket::Core::WaitReadable() {
  if (!finished_) transport_->WhenReadable([self = shared_from_this()] { self->OnReadable(); });
}

void WebSocket::Core::OnReadable() {
  if (finished_) return;
  const std::span<char> scratch = detail::Scratch(io_);
  const Moved m = transport_->Read(scratch);
  switch (m.state) {
    case Moved::kAgain: break;
    case Moved::kEnd:
      return Finish(gpuop::Fail(Code::kUnavailable, "WebSocket: the peer closed the connection without saying so"), "");
    case Moved::kBroken: return Finish(std::unexpected(transport_->error()), "");
    case Moved::kSome:
      in_.append(scratch.data(), m.bytes);
      if (auto parsed = Parse(); !parsed) return Fail(std::move(parsed).error(), kProtocolError);
  }
  WaitReadable();
}

Result<> WebSocket::Core::Parse() {
  std::size_t at = 0;
  while (!finished_) {
    ASSIGN(const std::optional<FrameHead> head, detail::ReadFrameHead(std::string_view(in_).substr(at)));
    if (!head) break;
    if (head->mask.has_value() == is_client_) return gpuop::Fail(Code::kInvalid, "WebSocket: wrong masking");
    if (head->payload_size > kLargestMessage)
      return gpuop::Fail(Code::kTooLarge, "WebSocket: the message is too large");
    if (in_.size() - at < head->head_size + head->payload_size) break;
    const std::span<char> payload(in_.data() + at + head->head_size, head->payload_size);
    if (head->mask) detail::ApplyMask(payload, *head->mask);
    at += head->head_size + payload.size();
    TRY(OnFrame(*head, {payload.data(), payload.size()}));
  }
  in_.erase(0, at);
  return {};
}

Result<> WebSocket::Core::OnFrame(const FrameHead& head, std::string_view payload) {
  switch (head.opcode) {
    case Opcode::kPing:
      if (!close_sent_) Push(Opcode::kPong, payload);
      if (out_.size() > kMostQueued) return gpuop::Fail(Code::kTooLarge, "WebSocket: the peer does not read");
      return {};
    case Opcode::kPong: return {};
    case Opcode::kClose: return OnCloseFrame(payload);
    default: return OnData(head, payload);
  }
}

Result<> WebSocket::Core::OnData(const FrameHead& head, std::string_view payload) {
  const bool begins = head.opcode != Opcode::kContinue;
  if (begins == (message_kind_ != Opcode::kContinue))
    return gpuop::Fail(Code::kInvalid, "WebSocket: parts out of order");
  if (begins) message_kind_ = head.opcode;
  if (message_.size() + payload.size() > kLargestMessage)
    return gpuop::Fail(Code::kTooLarge, "WebSocket: the message is too large");
  message_.append(payload);
  if (!head.final) return {};
  const bool binary = std::exchange(message_kind_, Opcode::kContinue) == Opcode::kBinary;
  const std::string message = std::exchange(message_, {});
  if (!binary && !IsUtf8(message)) return gpuop::Fail(Code::kInvalid, "WebSocket: text that is not UTF-8");
  if (auto sink = sink_) sink->OnMessage(binary, message);
  return {};
}

Result<> WebSocket::Core::OnCloseFrame(std::string_view payload) {
  std::uint16_t code = kNoCode;
  if (payload.size() == 1) return gpuop::Fail(Code::kInvalid, "WebSocket: half a close code");
  if (payload.size() >= 2) {
    code = static_cast<std::uint16_t>(static_cast<unsigned char>(payload[0]) << 8 |
                                      static_cast<unsigned char>(payload[1]));
    payload.remove_prefix(2);
    if (!detail::IsCloseCode(code) || !IsUtf8(payload))
      return gpuop::Fail(Code::kInvalid, "WebSocket: bad close frame");
  }
  const std::string reason(payload);
  if (!close_sent_) Close(code, "");
  Finish(code, reason);
  return {};
}

void WebSocket::Core::Push(Opcode opcode, std::string_view payload) {
  std::optional<detail::MaskKey> mask;
  if (is_client_) {
    mask.emplace();
    GPUOP_CHECK(RAND_bytes(mask->data(), static_cast<int>(mask->size())) == 1);
  }
  out_.Push(detail::WriteFrame(opcode, payload, mask));
  Flush();
}

void WebSocket::Core::Flush() {
  if (writing_ || !transport_) return;
  const Moved m = out_.WriteTo(*transport_);
  queued_.store(out_.size(), std::memory_order_relaxed);
  if (m.state == Moved::kAgain) {
    writing_ = true;
    transport_->WhenWritable([self = shared_from_this()] {
      self->writing_ = false;
      self->Flush();
    });
  } else if (m.state == Moved::kSome) {
    if (end_after_flush_) transport_.reset();
  } else if (!finished_) {
    Finish(std::unexpected(transport_->error()), "");
  }
}

void WebSocket::Core::Fail(Error error, std::uint16_t code) {
  Close(error.code == Code::kTooLarge ? std::uint16_t{1009} : code, "");
  Finish(std::unexpected(std::move(error)), "");
}

// What is queued (the close frame) still goes out, for as long as the close limit allows.
void WebSocket::Core::Finish(Result<std::uint16_t> code, std::string_view reason) {
  if (std::exchange(finished_, true)) return;
  timer_.Cancel();
  if (auto sink = std::exchange(sink_, nullptr)) sink->OnClose(std::move(code), reason);
  io_.Post([self = shared_from_this()] {
    self->end_after_flush_ = true;
    self->Flush();
  });
  timer_.Set(io_.Now() + kCloseLimit, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->transport_.reset();
  });
}

}  // namespace gpuop::net
