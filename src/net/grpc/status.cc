#include "net/grpc/status.h"

namespace gpuop::net {
namespace {

/// google.golang.org/grpc/codes, by the protocol's own names.
namespace grpc {

enum Status {
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  NOT_FOUND = 5,
  ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  ABORTED = 10,
  OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  UNAUTHENTICATED = 16,
};

}  // namespace grpc
}  // namespace

int GrpcCodeOf(Code code) {
  switch (code) {
    case Code::kInternal: return grpc::INTERNAL;
    case Code::kInvalid: return grpc::INVALID_ARGUMENT;
    case Code::kNotFound: return grpc::NOT_FOUND;
    case Code::kAlreadyExists: return grpc::ALREADY_EXISTS;
    case Code::kConflict: return grpc::ABORTED;
    case Code::kUnauthorized: return grpc::UNAUTHENTICATED;
    case Code::kForbidden: return grpc::PERMISSION_DENIED;
    case Code::kUnavailable: return grpc::UNAVAILABLE;
    case Code::kTimeout: return grpc::DEADLINE_EXCEEDED;
    case Code::kCancelled: return grpc::CANCELLED;
    case Code::kGone: return grpc::OUT_OF_RANGE;
    case Code::kTooLarge: return grpc::RESOURCE_EXHAUSTED;
    case Code::kTooManyRequests: return grpc::RESOURCE_EXHAUSTED;
    case Code::kUnsupported: return grpc::UNIMPLEMENTED;
    case Code::kIo: return grpc::UNKNOWN;
  }
  return grpc::UNKNOWN;
}

Code CodeOfGrpc(int status) {
  switch (status) {
    case grpc::CANCELLED: return Code::kCancelled;
    case grpc::INVALID_ARGUMENT: return Code::kInvalid;
    case grpc::DEADLINE_EXCEEDED: return Code::kTimeout;
    case grpc::NOT_FOUND: return Code::kNotFound;
    case grpc::ALREADY_EXISTS: return Code::kAlreadyExists;
    case grpc::PERMISSION_DENIED: return Code::kForbidden;
    case grpc::RESOURCE_EXHAUSTED: return Code::kTooManyRequests;
    case grpc::FAILED_PRECONDITION:
    case grpc::ABORTED: return Code::kConflict;
    case grpc::OUT_OF_RANGE: return Code::kGone;
    case grpc::UNIMPLEMENTED: return Code::kUnsupported;
    case grpc::UNAVAILABLE: return Code::kUnavailable;
    case grpc::UNAUTHENTICATED: return Code::kUnauthorized;
    default: return Code::kInternal;
  }
}

}  // namespace gpuop::net
