// The schemas of all resources, from the types' own visitors.

#include <boost/json.hpp>

#include "api/cluster_policy.h"
#include "api/gpu_cluster.h"
#include "api/nfd.h"
#include "api/nvidia_driver.h"
#include "data/schema_of.h"

namespace gpuop::api {
namespace {

/// What every object has besides its spec and status.
template <class Spec, class Status>
data::SchemaPtr Whole(data::FieldRules spec_rules, std::vector<data::CelRule> rules = {}) {
  struct Root {
    data::FieldRules rules;
    std::string api_version, kind;
    void Visit(data::SchemaBuilder& v) {
      Spec spec;
      Status status;
      v("apiVersion", api_version, {.description = "Group and version of the API that the object is written for."});
      v("kind", kind, {.description = "Kind of the object."});
      v("spec", spec, rules);
      if constexpr (!std::same_as<Status, std::monostate>)
        v("status", status, {.description = "What the operator found; nobody else writes it."});
    }
  };
  data::SchemaBuilder builder;
  Root{std::move(spec_rules), {}, {}}.Visit(builder);
  data::Schema schema = std::move(builder).Take();
  auto metadata = std::make_shared<data::Schema>();
  metadata->type = data::Type::kObject;
  schema.properties.push_back({.name = "metadata", .schema = std::move(metadata)});
  std::ranges::sort(schema.properties, {}, &data::Property::name);
  if (!rules.empty()) {
    data::Constraints constraints;
    constraints.rules = std::move(rules);
    schema.constraints = std::make_shared<const data::Constraints>(std::move(constraints));
  }
  return std::make_shared<const data::Schema>(std::move(schema));
}

}  // namespace

data::SchemaPtr ClusterPolicySchema() {
  return Whole<ClusterPolicySpec, ClusterPolicyStatus>({.description = "The wished state of the cluster's GPU nodes."});
}

data::SchemaPtr NvidiaDriverSchema() {
  return Whole<NvidiaDriverSpec, NvidiaDriverStatus>(
      {.description = "The driver, and the nodes that get it.",
       .rules = {data::Rule(
           "has(self.default) && self.default ? !has(self.nodeSelector) || size(self.nodeSelector) == 0 : true",
           "the default driver serves the nodes that no other selects: it has no nodeSelector")}});
}

data::SchemaPtr GpuClusterSchema() {
  return Whole<GpuClusterSpec, GpuClusterStatus>(
      {.description = "GPUs by Dynamic Resource Allocation."},
      {data::Rule("self.metadata.name == 'gpu-cluster'", "there is one GPUCluster, and it is named gpu-cluster")});
}

data::SchemaPtr NodeFeatureSchema() {
  return Whole<NodeFeatureSpec, std::monostate>({.description = "What was found on a node.", .required = true});
}
data::SchemaPtr NodeFeatureRuleSchema() {
  return Whole<NodeFeatureRuleSpec, std::monostate>({.description = "Rules that make labels.", .required = true});
}
data::SchemaPtr NodeFeatureGroupSchema() {
  return Whole<NodeFeatureGroupSpec, NodeFeatureGroupStatus>(
      {.description = "Which nodes belong to the group.", .required = true});
}

}  // namespace gpuop::api
