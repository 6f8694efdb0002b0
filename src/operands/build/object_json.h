#pragma once

#include "operands/build/meta.h"

namespace gpuop::operands {

/// An object of that resource: apiVersion, kind, metadata, then the members of `rest`.
Object MakeObject(kube::Resource resource, const Meta& meta, data::JsonObject rest);

}  // namespace gpuop::operands
