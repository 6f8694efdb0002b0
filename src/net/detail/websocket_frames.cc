#include "net/detail/websocket_frames.h"

namespace gpuop::net::detail {
namespace {

unsigned Byte(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

std::uint64_t BigEndian(std::string_view bytes) {
  std::uint64_t n = 0;
  for (char c : bytes) n = n << 8 | static_cast<unsigned char>(c);
  return n;
}

bool IsOpcode(unsigned n) { return n <= 2 || (n >= 8 && n <= 10); }

}  // namespace

Result<std::optional<FrameHead>> ReadFrameHead(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const unsigned first = Byte(bytes, 0);
  const unsigned second = Byte(bytes, 1);
  if ((first & 0x70) != 0) return Fail(Code::kInvalid, "WebSocket: a reserved bit is set");
  if (!IsOpcode(first & 0x0f)) return Fail(Code::kInvalid, "WebSocket: unknown kind of frame");
  FrameHead head{.final = (first & 0x80) != 0, .opcode = static_cast<Opcode>(first & 0x0f), .mask = {}};
  const unsigned size = second & 0x7f;
  const bool control = head.opcode >= Opcode::kClose;
  if (control && (size > 125 || !head.final))
    return Fail(Code::kInvalid, "WebSocket: a control frame is long or in parts");
  const std::size_t size_bytes = size == 126 ? 2 : size == 127 ? 8 : 0;
  const std::size_t mask_bytes = (second & 0x80) != 0 ? 4 : 0;
  head.head_size = 2 + size_bytes + mask_bytes;
  if (bytes.size() < head.head_size) return std::nullopt;
  head.payload_size = size_bytes == 0 ? size : BigEndian(bytes.substr(2, size_bytes));
  if (head.payload_size >> 63 != 0) return Fail(Code::kInvalid, "WebSocket: impossible frame size");
  if (mask_bytes != 0) {
    MaskKey key;
    for (std::size_t i = 0; i < 4; ++i) key[i] = static_cast<unsigned char>(bytes[2 + size_bytes + i]);
    head.mask = key;
  }
  return head;
}

std::string WriteFrame(Opcode opcode, std::string_view payload, std::optional<MaskKey> mask) {
  std::string frame;
  frame.reserve(payload.size() + 14);
  frame += static_cast<char>(0x80 | static_cast<unsigned>(opcode));
  const unsigned masked = mask ? 0x80U : 0U;
  const std::uint64_t size = payload.size();
  int size_bytes = 0;
  if (size <= 125) {
    frame += static_cast<char>(masked | size);
  } else {
    size_bytes = size <= 0xffff ? 2 : 8;
    frame += static_cast<char>(masked | (size_bytes == 2 ? 126U : 127U));
  }
  for (int i = size_bytes - 1; i >= 0; --i) frame += static_cast<char>(size >> (8 * i) & 0xff);
  if (!mask) return frame.append(payload);
  frame.append(reinterpret_cast<const char*>(mask->data()), mask->size());
  const std::size_t at = frame.size();
  frame.append(payload);
  ApplyMask(std::span(frame).subspan(at), *mask);
  return frame;
}

void ApplyMask(std::span<char> payload, const MaskKey& mask) {
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<char>(static_cast<unsigned char>(payload[i]) ^ mask[i % 4]);
}

bool IsCloseCode(std::uint16_t code) {
  return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
         (code >= 3000 && code <= 4999);
}

}  // namespace gpuop::net::detail
