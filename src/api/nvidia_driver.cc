#include "api/nvidia_driver.h"

#include "api/read.h"

namespace gpuop::api {

Result<NvidiaDriver> NvidiaDriver::FromJson(const boost::json::object& in) { return ReadObject<NvidiaDriver>(in); }

}  // namespace gpuop::api
