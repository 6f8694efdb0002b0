#pragma once
// The frames of a WebSocket (RFC 6455 §5), without any I/O.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::net::detail {

enum class Opcode : std::uint8_t { kContinue = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

using MaskKey = std::array<unsigned char, 4>;

/// What stands before a frame's payload.
struct FrameHead {
  bool final = true;
  Opcode opcode = Opcode::kBinary;
  std::optional<MaskKey> mask;
  std::uint64_t payload_size = 0;
  std::size_t head_size = 0;
};

/// Reads a frame's head; nullopt when `bytes` ends in the middle of it. kInvalid for what §5 forbids.
Result<std::optional<FrameHead>> ReadFrameHead(std::string_view bytes);
/// A whole final frame, masked when there is a key.
std::string WriteFrame(Opcode opcode, std::string_view payload, std::optional<MaskKey> mask);
/// Masks or unmasks (the same) in place.
void ApplyMask(std::span<char> payload, const MaskKey& mask);
/// Whether a close frame may carry `code` (§7.4).
bool IsCloseCode(std::uint16_t code);

}  // namespace gpuop::net::detail
