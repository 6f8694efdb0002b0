#pragma once

#include "sim/api_server.h"

namespace gpuop::sim {

/// Gives Services what a cluster has to give: addresses of 10.96.0.0/16 and node ports of 30000-32767, each once. What
/// was asked for by number is refused when it is taken or lies outside. An address is free again when its Service is
/// gone.
void AddServiceAddresses(ApiServer& server);

}  // namespace gpuop::sim
