#include "api/cluster_policy.h"

#include "api/read.h"

namespace gpuop::api {

Result<ClusterPolicy> ClusterPolicy::FromJson(const boost::json::object& in) { return ReadObject<ClusterPolicy>(in); }

}  // namespace gpuop::api
