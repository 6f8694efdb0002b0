#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "base/result.h"
#include "operands/facts.h"

namespace gpuop::operands {

/// The ConfigMaps and Secrets in the operator's namespace that rendering asks Facts about.
struct References {
  std::set<std::string> config_maps = {}, secrets = {};
  bool operator==(const References&) const = default;
};
References ReferencesOf(const api::ClusterPolicySpec& policy);
References ReferencesOf(const api::NvidiaDriverSpec& driver);

/// The keys of a ConfigMap that the policy names in `field`; kNotFound when there is none.
Result<std::vector<std::string>> KeysOf(const std::string& config_map, const std::string& field, const Facts& facts);

/// kNotFound when the Secret that the policy names in `field` does not exist.
Result<> RequireSecret(const std::string& secret, const std::string& field, const Facts& facts);

}  // namespace gpuop::operands
