#pragma once
// What NVIDIA's operator v26.7 leaves in a cluster, as recorded from it (testdata/manifests/oracle_default.json).

#include <boost/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gpuop::e2e {

/// Its objects for the default policy, with the collection that each is posted to: those whose whole shape is recorded
/// (DaemonSets, accounts, roles, bindings, RuntimeClasses), and ConfigMaps with other contents. All belong to the
/// policy with that uid.
std::vector<std::pair<std::string, boost::json::object>> NvidiaObjects(const std::string& policy_uid);

}  // namespace gpuop::e2e
