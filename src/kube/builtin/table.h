#pragma once
// What the built-in Kubernetes types look like and where they are served, from a table made of a real API server's
// documents (types.txt). A type is read when it is first asked for; afterwards it is shared.

#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"

namespace gpuop::kube::builtin {

/// A subresource as discovery lists it: "status" of "nodes".
struct BuiltinSubresource {
  std::string name, kind;
  /// Of the kind that is read and written there: policy/v1 for pods/eviction.
  std::string group, version;
  std::vector<std::string> verbs;
};

/// A built-in resource as discovery lists it.
struct BuiltinResource {
  std::string group, version, plural, singular, kind;
  bool namespaced = false;
  std::vector<std::string> verbs, short_names, categories;
  std::vector<BuiltinSubresource> subresources;
};

/// A type's group, version and kind (x-kubernetes-group-version-kind).
struct KindName {
  std::string group, version, kind;
};

/// All built-in resources in the groups that we serve, ordered by group ("" first), version and plural.
const std::vector<BuiltinResource>& Resources();
/// Null when there is none.
const BuiltinResource* FindResource(std::string_view group, std::string_view version, std::string_view plural);

/// The shape of a kind: ("apps", "v1", "DeploymentList") too. DeleteOptions and WatchEvent are found in every group
/// and version. Null when the table has none. Thread-safe; the same pointer each time.
///
/// Schemas made from the table follow these rules beyond data::Schema's:
/// * `format` names what is not plain JSON schema: "quantity", "int-or-string" (both also `int_or_string`),
/// "date-time",
///   "micro-time", "byte", "raw" (any object), "json" (any value) and "schema-or-bool", "schema-or-array",
///   "schema-or-strings" (alternatives in apiextensions.k8s.io/v1, with `items` the JSON schema's own type).
/// * `default_value` is what the OpenAPI document says (a zero for what Go always writes); the server's own defaulting
///   is elsewhere (sim/types/defaults.h).
data::SchemaPtr FindKind(std::string_view group, std::string_view version, std::string_view kind);
/// By the name that OpenAPI documents use: "io.k8s.api.core.v1.PodSpec".
data::SchemaPtr FindType(std::string_view name);
/// The names of all types, in the table's order.
std::vector<std::string> TypeNames();
/// What a type is as a kind; empty for types that are not. A `group` of "*" stands for every group and version.
std::vector<KindName> KindsOf(std::string_view type_name);

}  // namespace gpuop::kube::builtin
