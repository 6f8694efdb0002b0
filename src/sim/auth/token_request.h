#pragma once

#include "sim/api_server.h"
#include "sim/auth/authenticator.h"

namespace gpuop::sim {

/// POST serviceaccounts/NAME/token: a token for the account, bound to an object if asked.
Answer<Response> CreateToken(ApiServer& server, Authenticator& authenticator, Request& request);

/// Fills a new Secret of type kubernetes.io/service-account-token with its token, namespace and certificate authority
/// (`ca`, PEM; may be empty), when the account that it names exists.
void FillTokenSecret(const Store& store, Authenticator& authenticator, std::string_view ca,
                     boost::json::object& secret);

}  // namespace gpuop::sim
