#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::data {

/// A span as Go's time.ParseDuration reads it, and metav1.Duration with it: "1h30m", "-1.5s", "100ms", "0".
/// Errors (kInvalid) are Go's.
Result<Duration> ParseDuration(std::string_view text);
/// A span as Go prints it: "1h30m0s", "1.5s", "0s".
std::string FormatDuration(Duration span);

}  // namespace gpuop::data
