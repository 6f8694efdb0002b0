#pragma once

#include <string>

struct ssl_st;
struct x509_store_ctx_st;

namespace gpuop::net::detail {

/// Notes whom the session's peer must be (for the words of an error), and makes room for what is wrong with it.
void ExpectPeer(ssl_st* ssl, std::string name);
/// OpenSSL's verify callback: leaves in the session, in words, why a certificate was not accepted.
int RememberProblem(int good, x509_store_ctx_st* context);

}  // namespace gpuop::net::detail
