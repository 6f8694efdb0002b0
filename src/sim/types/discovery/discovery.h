#pragma once
// Discovery documents, plain and aggregated: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api

#include <optional>
#include <string>
#include <string_view>

#include "sim/resource.h"

namespace gpuop::sim {
class ApiServer;
}

namespace gpuop::sim::types {

/// A discovery document and its content type.
struct DiscoveryDocument {
  std::string content_type, body;
};

/// What stands at /api, /apis, /api/V, /apis/G or /apis/G/V. At /api and /apis the Accept header decides between the
/// plain document and the aggregated one (v2 or v2beta1). nullopt: nothing is served there.
std::optional<DiscoveryDocument> Discover(const Registry& registry, std::string_view path, std::string_view accept);

/// Serves discovery below /api and /apis. The registry is the server's and outlives it.
void ServeDiscovery(ApiServer& server, const Registry& registry);

}  // namespace gpuop::sim::types
