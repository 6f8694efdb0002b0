#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/executor.h"
#include "base/result.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/apps.h"
#include "kube/types/node.h"

namespace gpuop::cli {

/// Deletes the ClusterPolicies and NVIDIADrivers that a label selector names. The answer is how many others there are
/// still, which keep the operator at work. A kind that is not served has none.
Result<std::size_t> DeletePolicies(const kube::Client& client, const std::string& selector);

/// What an operator without a policy takes away: DaemonSets of operands in a namespace, and our labels on nodes.
class Leftovers {
 public:
  /// `gone` is called on the executor when nothing is left, perhaps more than once. Starts at once; ends with the
  /// object.
  Leftovers(Executor& executor, const kube::Client& client, const std::string& ns, std::function<void()> gone);

  /// "3 DaemonSets, 2 nodes with labels": what is left as far as known.
  std::string Text() const;

 private:
  void Look();

  kube::Cache<kube::DaemonSet> daemonsets_;
  kube::Cache<kube::Node> nodes_;
  std::function<void()> gone_;
};

/// `gpu-operator cleanup --namespace NS --selector LABELS [--limit 60s] [--kubeconfig FILE]`: what the chart runs
/// before it is uninstalled, while the operator still works. Waits until everything is gone, or for `limit`, and says
/// what is left. Returns 0 even then (an uninstallation is not to be held up), 1 when the API refuses, 2 for a wrong
/// command line.
int RunCleanup(std::span<char* const> args);

}  // namespace gpuop::cli
