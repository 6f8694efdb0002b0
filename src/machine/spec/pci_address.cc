#include "machine/spec/pci_address.h"

#include <charconv>
#include <cstdio>

#include "base/text.h"

namespace gpuop::machine {
namespace {

std::optional<std::uint32_t> HexNumber(std::string_view text, std::size_t least, std::size_t most,
                                       std::uint32_t limit) {
  if (text.size() < least || text.size() > most) return std::nullopt;
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (error != std::errc() || end != text.data() + text.size() || out > limit) return std::nullopt;
  return out;
}

}  // namespace

std::optional<PciAddress> ParsePciAddress(std::string_view text) {
  const auto dot = Cut(text, '.');
  if (!dot) return std::nullopt;
  auto parts = Split(dot->first, ':');
  if (parts.size() == 2) parts.insert(parts.begin(), "0000");
  if (parts.size() != 3) return std::nullopt;
  const auto domain = HexNumber(parts[0], 4, 8, 0xffffffff);
  const auto bus = HexNumber(parts[1], 2, 2, 0xff);
  const auto device = HexNumber(parts[2], 2, 2, 0x1f);
  const auto function = HexNumber(dot->second, 1, 1, 7);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return PciAddress{*domain, *bus, *device, *function};
}

std::string ToText(const PciAddress& a) {
  char out[32];
  std::snprintf(out, sizeof out, "%04x:%02x:%02x.%x", a.domain, a.bus, a.device, a.function);
  return out;
}

}  // namespace gpuop::machine
