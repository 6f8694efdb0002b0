#pragma once

#include <string_view>

#include "base/result.h"

namespace gpuop::os {

/// The Error for an errno value: "open /etc/x: no such file or directory". ENOENT becomes kNotFound, EEXIST
/// kAlreadyExists, EACCES, EPERM and EROFS kForbidden, ELOOP, ENOTDIR, EISDIR, EINVAL and ENOTEMPTY kInvalid,
/// ENAMETOOLONG and EFBIG kTooLarge, ENOSYS and EOPNOTSUPP kUnsupported, the rest kIo.
[[nodiscard]] std::unexpected<Error> FailErrno(int error, std::string_view doing);

}  // namespace gpuop::os
