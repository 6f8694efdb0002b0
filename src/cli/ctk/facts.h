#pragma once

#include "container/generate/generate.h"
#include "gpu/inventory.h"

namespace gpuop::cli {

/// What CDI generation needs of an inventory. GPUs that could not be read are left out.
container::MachineFacts FactsOf(const gpu::Inventory& inventory);

}  // namespace gpuop::cli
