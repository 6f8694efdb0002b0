#pragma once

#include "sim/auth/authenticator.h"
#include "sim/http/http_door.h"

namespace gpuop::sim {

/// What a request's headers and connection show of its sender.
Credentials CredentialsOf(const net::Request& request);

/// Says who sent a request, by `authenticator`; a request that shows nothing comes from `otherwise`.
HttpDoor::Identify IdentifyBy(const Authenticator& authenticator, User otherwise);

}  // namespace gpuop::sim
