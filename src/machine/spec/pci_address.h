#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuop::machine {

/// domain:bus:device.function.
struct PciAddress {
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
  bool operator==(const PciAddress&) const = default;
};

/// "0000:07:00.0", with 4 or 8 digits of domain, upper or lower case; "07:00.0" is in domain 0.
std::optional<PciAddress> ParsePciAddress(std::string_view text);
/// As sysfs names it: "0000:07:00.0".
std::string ToText(const PciAddress& address);

}  // namespace gpuop::machine
