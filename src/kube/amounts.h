#pragma once
// How much a Pod asks for and a node has, in numbers.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/types/pod.h"

namespace gpuop::kube {

/// Amounts by resource name: cpu in thousandths, everything else in whole units. Absent is zero.
using Amounts = std::map<std::string, std::int64_t, std::less<>>;

/// An amount, zero when absent.
std::int64_t AmountOf(const Amounts& amounts, std::string_view resource);
/// Amounts from quantities by resource name; what is no quantity counts as zero (the API server lets none in).
Amounts AmountsOf(const StringMap& quantities);
/// Adds `what`, `times` times over; a sum of zero is left out.
void AddTo(Amounts& to, const Amounts& what, std::int64_t times = 1);

/// One container's part in a pod's request.
struct ContainerRequest {
  Amounts requests;
  bool restartable = false;  ///< an init container with restartPolicy Always
};
/// What the pod asks of a node: containers and restartable init containers together, or, where greater, the largest
/// moment of initialisation; plus overhead.
/// (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers)
Amounts PodRequests(const std::vector<ContainerRequest>& init, const std::vector<ContainerRequest>& containers,
                    const Amounts& overhead);
/// The same of a Pod as the API server keeps it.
Amounts PodRequests(const PodSpec& pod);

}  // namespace gpuop::kube
