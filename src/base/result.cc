#include "base/result.h"

namespace gpuop {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInternal: return "Internal";
    case Code::kInvalid: return "Invalid";
    case Code::kNotFound: return "NotFound";
    case Code::kAlreadyExists: return "AlreadyExists";
    case Code::kConflict: return "Conflict";
    case Code::kUnauthorized: return "Unauthorized";
    case Code::kForbidden: return "Forbidden";
    case Code::kUnavailable: return "Unavailable";
    case Code::kTimeout: return "Timeout";
    case Code::kCancelled: return "Cancelled";
    case Code::kGone: return "Gone";
    case Code::kTooLarge: return "TooLarge";
    case Code::kTooManyRequests: return "TooManyRequests";
    case Code::kUnsupported: return "Unsupported";
    case Code::kIo: return "Io";
  }
  return "Unknown";
}

}  // namespace gpuop
