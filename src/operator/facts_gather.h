#pragma once

#include "operands/facts.h"
#include "operator/fleet.h"
#include "operator/world.h"

namespace gpuop::op {

/// What the operator's own environment says: images by variable, its own image and pull secrets.
struct Surroundings {
  operands::StringMap image_env = {};
  std::string operator_image = {};
  std::vector<std::string> operator_pull_secrets = {};
};

/// What manifests must know, read from caches alone. The owner is left empty.
operands::Facts GatherFacts(World& world, const FleetSummary& fleet, const Surroundings& surroundings);

/// The reference by which `owner` owns what is made for it.
template <class T>
operands::OwnerRef OwnerRefTo(const T& owner) {
  const kube::Resource& r = T::kResource;
  return {.api_version = r.ApiVersion(), .kind = r.kind, .name = owner.meta.name, .uid = owner.meta.uid};
}

}  // namespace gpuop::op
