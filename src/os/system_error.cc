#include "os/system_error.h"

#include <cerrno>
#include <cstring>

namespace gpuop::os {
namespace {

Code CodeOf(int error) {
  switch (error) {
    case ENOENT: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kForbidden;
    case ELOOP:
    case ENOTDIR:
    case EISDIR:
    case EINVAL:
    case ENOTEMPTY: return Code::kInvalid;
    case ENAMETOOLONG:
    case EFBIG: return Code::kTooLarge;
    case ENOSYS:
    case EOPNOTSUPP: return Code::kUnsupported;
    default: return Code::kIo;
  }
}

}  // namespace

std::unexpected<Error> FailErrno(int error, std::string_view doing) {
  const char* words = strerrordesc_np(error);
  std::string text(doing);
  text.append(": ").append(words != nullptr ? words : "unknown error");
  // "No such file" reads better in the middle of a sentence as "no such file".
  const std::size_t first = doing.size() + 2;
  if (text[first] >= 'A' && text[first] <= 'Z') text[first] = static_cast<char>(text[first] - 'A' + 'a');
  return Fail(CodeOf(error), std::move(text));
}

}  // namespace gpuop::os
