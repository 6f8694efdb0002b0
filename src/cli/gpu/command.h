#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/gpu/options.h"
#include "cli/gpu/report.h"
#include "kube/client.h"

namespace gpuop::cli {

namespace kubectl_gpu {

/// Fetches and answers. `ns` is the namespace of Pods. Errors: the cluster could not be asked, or there is no such
/// object.
Result<Report> Answer(const kube::Client& client, const Options& options, const std::string& ns, const Paint& paint);

}  // namespace kubectl_gpu

/// `kubectl gpu …`, under the names gpu and kubectl-gpu. Returns the exit codes that its help lists.
int RunKubectlGpu(std::span<char* const> args);

}  // namespace gpuop::cli
