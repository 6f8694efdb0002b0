#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::operands::nfd {

/// Unpacks a gzip file (RFC 1952); kTooLarge when more than `limit` bytes come out.
Result<std::string> Gunzip(std::string_view packed, std::size_t limit);

}  // namespace gpuop::operands::nfd
