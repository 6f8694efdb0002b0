#pragma once

#include "base/result.h"

namespace gpuop::net {

/// The gRPC status code (google.golang.org/grpc/codes, 0 to 16) that says `code` to a peer.
int GrpcCodeOf(Code code);
/// The Code for a peer's status; what has no counterpart, 0 included, is kInternal.
Code CodeOfGrpc(int status);

}  // namespace gpuop::net
