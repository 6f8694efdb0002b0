#pragma once

#include "sim/api_server.h"

namespace gpuop::sim {

/// What the API server's default admission plugins do to a new Pod: the service account and its token volume
/// (ServiceAccount), priority (Priority), overhead and scheduling of a runtime class (RuntimeClass), and tolerations of
/// nodes that are not ready (DefaultTolerationSeconds).
void AddPodAdmission(ApiServer& server);

// Each plugin on its own: it changes `pod`, or says why not. `request` is the create.
Answer<> AdmitServiceAccount(const Store& store, Rng& rng, const Request& request, boost::json::object& pod);
Answer<> AdmitPriority(const Store& store, const Request& request, boost::json::object& pod);
Answer<> AdmitRuntimeClass(const Store& store, const Request& request, boost::json::object& pod);
void AdmitTolerations(boost::json::object& pod);

/// Puts the two system priority classes into the store, as far as they are not there.
void EnsurePriorityClasses(Store& store, WallTime now, Rng& rng);

}  // namespace gpuop::sim
