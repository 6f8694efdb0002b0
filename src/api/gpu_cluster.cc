#include "api/gpu_cluster.h"

#include "api/read.h"

namespace gpuop::api {

Result<GpuCluster> GpuCluster::FromJson(const boost::json::object& in) { return ReadObject<GpuCluster>(in); }

}  // namespace gpuop::api
