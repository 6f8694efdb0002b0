#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuop::operands {

/// FNV-1a of 32 bits, by which NVIDIA's names and digests are made.
std::uint32_t Fnv1a32(std::string_view text);

/// FNV-1a's decimal digits in an alphabet without vowels: "2269c984-db9a-4b0e-9fd5-86df0ad269f7" is "7c6d7bd86b".
std::string NameHash(std::string_view text);

}  // namespace gpuop::operands
