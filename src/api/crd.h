#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "data/schema.h"
#include "kube/resource.h"

namespace gpuop::api {

/// A column that `kubectl get` prints.
struct Column {
  std::string name, type, path;
};

/// A custom resource as its CustomResourceDefinition describes it.
struct Definition {
  kube::Resource resource;
  std::string singular, description;
  std::vector<std::string> short_names;
  std::vector<Column> columns;
  bool has_status = false;
  data::SchemaPtr (*schema)() = nullptr;

  /// "clusterpolicies.nvidia.com"
  std::string name() const { return resource.GroupPlural(); }
};

/// All custom resources that this program defines: NVIDIA's and Node Feature Discovery's.
const std::vector<Definition>& Definitions();

/// apiextensions.k8s.io/v1 CustomResourceDefinition.
boost::json::object CustomResourceDefinitionOf(const Definition& definition);

/// A structural schema as OpenAPI v3 writes it.
boost::json::object OpenApiOf(const data::Schema& schema);

}  // namespace gpuop::api
