#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"

namespace gpuop::net {

/// A blocking connection to the unix socket at `path`, for those who talk on a thread of their own. Waits at most
/// `limit`, above zero, while the server's queue of those who connect is full. kInvalid for a path that is too long,
/// kUnavailable when nobody listens there, kTimeout when the queue stayed full.
Result<os::Fd> ConnectUnix(const std::string& path, Duration limit);

}  // namespace gpuop::net
