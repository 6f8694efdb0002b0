#pragma once

#include "sim/api_server.h"
#include "sim/auth/rbac.h"

namespace gpuop::sim {

/// Whether the asker may write this Role, ClusterRole or binding: only somebody who holds every permission in it, or
/// may `escalate` roles or `bind` the role. An admission check for every write; others pass.
Answer<> CheckEscalation(const Rbac& rbac, const Request& request, const boost::json::object* object,
                         const boost::json::object* old);

}  // namespace gpuop::sim
