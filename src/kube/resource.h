#pragma once
// What the API serves, and where: group, version and plural on one side, URL paths on the other.

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gpuop::kube {

/// A kind of object and the path element it is served under.
struct Resource {
  std::string group;  ///< "" for the core group
  std::string version;
  std::string plural;  ///< "daemonsets"
  std::string kind;    ///< "DaemonSet"
  bool namespaced = true;

  /// "v1" or "apps/v1", as in an object's apiVersion.
  std::string ApiVersion() const;
  /// "pods" or "daemonsets.apps", as in the API server's messages.
  std::string GroupPlural() const;
  auto operator<=>(const Resource&) const = default;
};

/// One object, or one of its subresources ("status", "scale", "eviction", "log"). `ns` is empty for cluster-scoped
/// kinds; `name` is empty where a whole collection is meant.
struct ObjectRef {
  Resource resource;
  std::string ns, name;
  std::string subresource;

  auto operator<=>(const ObjectRef&) const = default;
};

/// The resource that a typed object (types/*.h) is served as.
template <class T>
const Resource& ResourceOf() {
  return T::kResource;
}

/// A reference to an object of type T: `Ref<Pod>("default", "web")`, `Ref<Node>("n1")`.
template <class T>
ObjectRef Ref(std::string ns, std::string name) {
  return {ResourceOf<T>(), std::move(ns), std::move(name), {}};
}
template <class T>
ObjectRef Ref(std::string name) {
  return {ResourceOf<T>(), {}, std::move(name), {}};
}

/// "namespace/name", or "name" when there is no namespace: how queues and caches name objects.
std::string KeyOf(std::string_view ns, std::string_view name);
/// The namespace (may be empty) and name of a key.
std::pair<std::string_view, std::string_view> SplitKey(std::string_view key);

/// "/apis/apps/v1/namespaces/default/daemonsets/agent/status"; percent-encoded where needed.
std::string PathOf(const ObjectRef& ref);

/// A path taken apart as the API server does it.
struct RequestPath {
  std::string group, version;
  std::string ns;      ///< for "/api/v1/namespaces/x" it is "x", as is `name`
  std::string plural;  ///< empty for "/api/v1" itself
  std::string name;
  std::string subresource;
  /// What follows the subresource ("/nodes/n1/proxy/metrics" has "metrics"), slashes kept, decoded.
  std::string rest;

  auto operator<=>(const RequestPath&) const = default;
};

/// Reads a percent-encoded path; nullopt when it is not below /api/VERSION or /apis/GROUP/VERSION, or is badly encoded.
std::optional<RequestPath> ParsePath(std::string_view path);

/// Splits "apps/v1" into group and version; "v1" has the empty group.
std::pair<std::string_view, std::string_view> SplitApiVersion(std::string_view api_version);

}  // namespace gpuop::kube
