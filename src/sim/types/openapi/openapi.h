#pragma once
// The API's description of itself: /openapi/v3, a document for each group and version, and /openapi/v2.

#include <optional>
#include <string>
#include <string_view>

#include "sim/resource.h"

namespace gpuop::sim {
class ApiServer;
}

namespace gpuop::sim::types {

/// The index: every document's path, with a hash that changes when the document does.
std::string OpenApiIndex(const Registry& registry);
/// The document of "api/v1" or "apis/apps/v1"; nullopt when nothing is served there.
std::optional<std::string> OpenApiDocument(const Registry& registry, std::string_view group_version);
/// All groups in one Swagger 2.0 document.
std::string SwaggerDocument(const Registry& registry);

/// Serves all of it below /openapi. The registry is the server's and outlives it.
void ServeOpenApi(ApiServer& server, const Registry& registry);

}  // namespace gpuop::sim::types
