#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "kube/types/cluster.h"

namespace gpuop::op {

/// A CustomResourceDefinition as the cluster has it: whether it is served, and what a definition of ours lacks there.
struct ServedCrd {
  static inline const kube::Resource kResource = kube::CustomResourceDefinition::kResource;
  kube::ObjectMeta meta;
  bool established = false;
  /// Of definitions that this program brings: fields that the served schema does not have, so that the server drops
  /// them ("spec.cdi.nriPluginEnabled"). At most kMostMissing.
  std::vector<std::string> missing;
  static constexpr std::size_t kMostMissing = 10;

  static Result<ServedCrd> FromJson(const boost::json::object& in);
  bool operator==(const ServedCrd&) const = default;
};

}  // namespace gpuop::op
