#pragma once

#include <stop_token>

namespace gpuop {

/// Blocks the calling thread until `stop` is asked for.
void WaitForStop(const std::stop_token& stop);

}  // namespace gpuop
