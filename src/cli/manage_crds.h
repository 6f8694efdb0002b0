#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace gpuop::cli {

/// Applies the definitions of these names, or all when there are none, in the order of `gpu-operator crds`. kInvalid
/// for a name that is not ours; the first refusal ends it.
Result<> ApplyCrds(const kube::Client& client, const std::vector<std::string>& names);

/// Deletes them, and with them all their objects. One that is not there is no error.
Result<> DeleteCrds(const kube::Client& client, const std::vector<std::string>& names);

/// `gpu-operator manage-crds apply|delete [--kubeconfig FILE] [NAME…]`: what the chart's hooks run. Returns 0, 1 after
/// a failure, 2 for a wrong command line.
int RunManageCrds(std::span<char* const> args);

}  // namespace gpuop::cli
