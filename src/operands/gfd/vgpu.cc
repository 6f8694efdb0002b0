#include "operands/gfd/vgpu.h"

namespace gpuop::operands::gfd {
namespace {

constexpr std::size_t kStatus = 0x06, kFirstCapability = 0x34, kText = 10;
constexpr unsigned kHasCapabilities = 0x10, kVendorCapability = 0x09;
constexpr unsigned kHostDriverRecord = 0;

unsigned At(std::string_view bytes, std::size_t offset) {
  return offset < bytes.size() ? static_cast<unsigned char>(bytes[offset]) : 0;
}

/// A text that ends at its first zero byte.
std::string Text(std::string_view bytes) { return std::string(bytes.substr(0, bytes.find('\0'))); }

/// The vendor capability, from its id on; empty when there is none.
std::string_view VendorCapability(std::string_view space) {
  if ((At(space, kStatus) & kHasCapabilities) == 0) return {};
  std::size_t at = At(space, kFirstCapability) & 0xfcU;
  for (int steps = 0; at >= 0x40 && at + 2 < space.size() && steps < 48; ++steps) {  // a ring is no list
    if (At(space, at) == kVendorCapability) return space.substr(at, At(space, at + 2));
    at = At(space, at + 1) & 0xfcU;
  }
  return {};
}

}  // namespace

std::optional<VgpuHost> ParseVgpu(std::string_view config_space) {
  // id, next, length, 'V', 'F', then records of id, length (both of these bytes counted), content.
  const std::string_view capability = VendorCapability(config_space);
  if (capability.size() < 5 || capability.substr(3, 2) != "VF") return std::nullopt;
  for (std::string_view rest = capability.substr(5); rest.size() >= 2;) {
    const unsigned id = At(rest, 0), length = At(rest, 1);
    if (length < 2 || length > rest.size()) return std::nullopt;
    if (id == kHostDriverRecord) {
      const std::string_view content = rest.substr(2, length - 2);
      if (content.size() < 2 * kText) return std::nullopt;
      return VgpuHost{Text(content.substr(0, kText)), Text(content.substr(kText, kText))};
    }
    rest.remove_prefix(length);
  }
  return std::nullopt;
}

}  // namespace gpuop::operands::gfd
