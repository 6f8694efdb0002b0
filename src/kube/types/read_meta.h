#pragma once

#include <boost/json/object.hpp>

#include "kube/types/meta.h"

namespace gpuop::kube {

/// The metadata of an object of any kind. kInvalid names the field.
Result<ObjectMeta> ReadMeta(const boost::json::object& object);

}  // namespace gpuop::kube
