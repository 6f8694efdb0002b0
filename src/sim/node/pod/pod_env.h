#pragma once
// What a Pod's containers are told: variables, field references, and the expansion of $(NAME). Pure.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/node/pod/pod_wish.h"

namespace gpuop::sim::node {

/// What the node knows of a Pod that runs on it.
struct PodFacts {
  std::string pod_ip, host_ip;
  TextMap allocatable;  ///< of the node: what a container without limits may use
};

/// The data of a ConfigMap, or of a Secret (decoded).
using ObjectData = std::map<std::string, std::string>;
/// Reads one; kNotFound as the kubelet says it (`configmap "x" not found`).
using ReadObject = std::function<Result<ObjectData>(const std::string& name)>;

/// Where values come from.
struct Sources {
  ReadObject config_map, secret;
  /// A token of the Pod's service account.
  std::function<Result<std::string>(const TokenProjection&)> token;
};

/// The value of "metadata.name", "status.podIP", "metadata.labels['x']" …; kInvalid "unsupported fieldPath: …".
Result<std::string> FieldValue(const PodWish& pod, const PodFacts& facts, std::string_view path);
/// The value of "limits.cpu" and the like, in units of the divisor, rounded up.
Result<std::string> ResourceValue(const PodWish& pod, const ContainerWish& container, const PodFacts& facts,
                                  const ResourceFieldRef& ref);

/// $(NAME) becomes the variable's value; $$ is one dollar; what is not known stays as it is.
std::string Expand(std::string_view text, const std::map<std::string, std::string>& values);

/// A container's variables in the order they were made: `image` first ("NAME=value"), then the API server's address,
/// then its own, each able to refer to earlier ones. Errors are those of CreateContainerConfigError.
Result<std::vector<std::string>> PlanEnv(const PodWish& pod, const ContainerWish& container, const PodFacts& facts,
                                         const Sources& sources, const std::vector<std::string>& image);

}  // namespace gpuop::sim::node
