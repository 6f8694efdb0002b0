#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/door.h"
#include "sim/request.h"
#include "sim/resource.h"
#include "sim/status.h"
#include "sim/user.h"

namespace gpuop::sim {

/// A request path of the API, taken apart. "/apis/apps/v1/namespaces/x/deployments/d/scale".
struct ApiPath {
  std::string group, version, ns, resource, name, subresource;
  /// /api/v1/watch/…, the old form of ?watch=true.
  bool watch = false;
  /// More parts follow the subresource (proxy paths).
  bool deeper = false;
};

/// nullopt when the path names no resource: "/version", "/apis/apps/v1", a broken escape.
std::optional<ApiPath> ParseApiPath(std::string_view path);

/// What authorization asks about; also for paths that are no resource.
Attributes AttributesOf(const kube::ApiRequest& http, const User& user);

/// The parsed request, with the resource found in `registry` and the options checked. UnknownPath or MethodNotAllowed
/// where nothing serves it.
Answer<Request> ParseRequest(const kube::ApiRequest& http, Attributes attributes, const Registry& registry);

}  // namespace gpuop::sim
