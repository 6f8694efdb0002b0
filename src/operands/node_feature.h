#pragma once
// NodeFeature objects (nfd.k8s-sigs.io/v1alpha1), as those write them who find what a node has.

#include <string>
#include <string_view>

#include "data/json.h"

namespace gpuop::operands {

/// The object `ns`/`name` about `node`; `features` and `labels` are its spec's.
data::JsonObject NodeFeatureObject(const std::string& ns, const std::string& name, const std::string& node,
                                   data::JsonObject features, data::JsonObject labels);

/// An entry of metadata.ownerReferences: the object goes when its owners have gone.
data::JsonObject OwnerReference(std::string_view api_version, std::string_view kind, std::string_view name,
                                std::string_view uid);

}  // namespace gpuop::operands
