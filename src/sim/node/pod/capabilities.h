#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuop::sim::node {

/// The capabilities that containers have unless they ask for others (bit n: capability n).
std::uint64_t DefaultCapabilities();
/// All that there are.
std::uint64_t AllCapabilities();
/// The bit of "SYS_ADMIN" or "CAP_SYS_ADMIN"; 0 for a name that is none.
std::uint64_t CapabilityBit(std::string_view name);
/// "CAP_CHOWN", …
std::vector<std::string> CapabilityNames(std::uint64_t bits);

}  // namespace gpuop::sim::node
