#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"

namespace gpuop::net {

/// Asks grpc.health.v1.Health/Check over a connected socket, which it takes: the serving status of `service` (0
/// UNKNOWN, 1 SERVING, 2 NOT_SERVING, 3 SERVICE_UNKNOWN). Blocks, at most `limit`. Errors have the code of
/// net/grpc/status.h and the peer's text.
Result<int> GrpcHealth(os::Fd socket, const std::string& service, Duration limit);

}  // namespace gpuop::net
