#pragma once
// A request after its path and parameters have been understood.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/door.h"
#include "sim/resource.h"
#include "sim/status.h"
#include "sim/user.h"

namespace gpuop::sim {

enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

/// What is asked of whom, as authorization sees it.
struct Attributes {
  User user;
  /// get, list, watch, create, update, patch, delete, deletecollection; for paths that are no resource the lower-case
  /// HTTP method.
  std::string verb;
  std::string group, version, resource, subresource, ns, name;
  /// Only for what is no resource: "/healthz".
  std::string path;
  bool IsResource() const { return !resource.empty(); }
};

/// A request for a resource. `resource`, `http` and `attributes` do not change after parsing; admission may add
/// warnings.
struct Request {
  const kube::ApiRequest* http = nullptr;
  Attributes attributes;
  ResourcePtr resource;
  /// Null for the main resource.
  const Subresource* subresource = nullptr;
  /// Nothing is kept.
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  /// Who owns the fields written (?fieldManager, or the user agent's name; never empty).
  std::string field_manager;
  /// A server-side apply, whose managedFields are made already.
  bool applied = false;
  /// Told to the client as Warning headers.
  std::vector<std::string> warnings;

  const User& user() const { return attributes.user; }
  const std::string& verb() const { return attributes.verb; }
  const std::string& ns() const { return attributes.ns; }
  const std::string& name() const { return attributes.name; }
  /// The query parameter's value; nullopt when it was not given.
  std::optional<std::string_view> Param(std::string_view name) const;
};

/// The first query parameter of that name.
std::optional<std::string_view> FindParam(const kube::ApiRequest& http, std::string_view name);
/// A boolean parameter: there, and not "false" or "0" (any Go spelling a client sends for true counts).
bool BoolParam(const kube::ApiRequest& http, std::string_view name);

}  // namespace gpuop::sim
