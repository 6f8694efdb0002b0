#pragma once

#include "sim/auth/authenticator.h"
#include "sim/request.h"

namespace gpuop::sim {

/// Who the sender of a request is after it asked to be somebody else (the Impersonate headers of `as`); `user` without
/// them. Being somebody may be allowed for single verbs and resources ("impersonate-on:user-info:get" on what is asked
/// for, and "impersonate:user-info" on whom to be; of a node or a service account nothing but the name can be asked
/// for) or, as of old, for everything ("impersonate"). Who may neither is told of the first check that failed.
Answer<User> Impersonate(const Rbac& rbac, User user, const Credentials& as, const Attributes& asked);

}  // namespace gpuop::sim
