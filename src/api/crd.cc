#include "api/crd.h"

#include <boost/json.hpp>

#include "api/cluster_policy.h"
#include "api/gpu_cluster.h"
#include "api/nfd.h"
#include "api/nvidia_driver.h"

namespace gpuop::api {
namespace {

using boost::json::array;
using boost::json::object;

array Texts(const std::vector<std::string>& texts) { return array(texts.begin(), texts.end()); }

template <class T>
void Put(object& out, std::string_view name, const std::optional<T>& value) {
  if (!value) return;
  // Whole numbers as integers, as people write them.
  if constexpr (std::same_as<T, double>) {
    const auto whole = static_cast<std::int64_t>(*value);
    if (static_cast<double>(whole) == *value) {
      out[name] = whole;
      return;
    }
  }
  out[name] = *value;
}

array RulesOf(const std::vector<data::CelRule>& rules) {
  array out;
  for (const data::CelRule& rule : rules) out.push_back(object{{"message", rule.message}, {"rule", rule.rule}});
  return out;
}

void PutConstraints(object& out, const data::Constraints& c) {
  if (!c.enumeration.empty()) out["enum"] = array(c.enumeration.begin(), c.enumeration.end());
  if (!c.pattern.empty()) out["pattern"] = c.pattern;
  Put(out, "minimum", c.minimum);
  Put(out, "maximum", c.maximum);
  Put(out, "minLength", c.min_length);
  Put(out, "maxLength", c.max_length);
  Put(out, "minItems", c.min_items);
  Put(out, "maxItems", c.max_items);
  if (!c.rules.empty()) out["x-kubernetes-validations"] = RulesOf(c.rules);
}

void PutType(object& out, const data::Schema& schema) {
  static constexpr std::string_view kNames[] = {"", "string", "integer", "number", "boolean", "object", "array"};
  if (schema.int_or_string) {
    out["anyOf"] = array{object{{"type", "integer"}}, object{{"type", "string"}}};
    out["x-kubernetes-int-or-string"] = true;
  } else if (schema.type != data::Type::kAny) {
    out["type"] = kNames[static_cast<std::size_t>(schema.type)];
  }
  if (!schema.format.empty()) out["format"] = schema.format;
  if (schema.nullable) out["nullable"] = true;
  if (schema.preserve_unknown) out["x-kubernetes-preserve-unknown-fields"] = true;
}

void PutMembers(object& out, const data::Schema& schema) {
  object properties;
  array required;
  for (const data::Property& property : schema.properties) {
    properties[property.name] = OpenApiOf(*property.schema);
    if (property.required) required.emplace_back(property.name);
  }
  if (!properties.empty()) out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  if (schema.values) out["additionalProperties"] = OpenApiOf(*schema.values);
  if (schema.atomic_map) out["x-kubernetes-map-type"] = "atomic";
  if (schema.items) out["items"] = OpenApiOf(*schema.items);
  if (schema.list_type == data::ListType::kMap) {
    out["x-kubernetes-list-type"] = "map";
    out["x-kubernetes-list-map-keys"] = Texts(schema.list_keys);
  } else if (schema.list_type == data::ListType::kSet) {
    out["x-kubernetes-list-type"] = "set";
  }
}

object ColumnOf(const Column& column) {
  return {{"jsonPath", column.path}, {"name", column.name}, {"type", column.type}};
}

}  // namespace

object OpenApiOf(const data::Schema& schema) {
  object out;
  if (!schema.description.empty()) out["description"] = schema.description;
  PutType(out, schema);
  if (schema.default_value) out["default"] = *schema.default_value;
  if (schema.constraints) PutConstraints(out, *schema.constraints);
  PutMembers(out, schema);
  return out;
}

const std::vector<Definition>& Definitions() {
  static const std::vector<Definition> kAll = [] {
    const Column status{"Status", "string", ".status.state"}, is_default{"Default", "boolean", ".spec.default"};
    const Column age_text{"Age", "string", ".metadata.creationTimestamp"};
    const Column age{"Age", "date", ".metadata.creationTimestamp"};
    return std::vector<Definition>{
        {ClusterPolicy::kResource,
         "clusterpolicy",
         "A ClusterPolicy says what software the cluster's GPU nodes shall have. The oldest one counts.",
         {},
         {status, age_text},
         true,
         ClusterPolicySchema},
        {NvidiaDriver::kResource,
         "nvidiadriver",
         "An NVIDIADriver says which GPU driver the nodes that it selects shall have.",
         {"nvd", "nvdriver", "nvdrivers"},
         {status, is_default, age},
         true,
         NvidiaDriverSchema},
        {GpuCluster::kResource,
         "gpucluster",
         "A GPUCluster says how GPUs are offered by Dynamic Resource Allocation.",
         {"gc"},
         {status, age},
         true,
         GpuClusterSchema},
        {kNodeFeature,
         "nodefeature",
         "A NodeFeature holds what was found on one node.",
         {},
         {},
         false,
         NodeFeatureSchema},
        {kNodeFeatureRule,
         "nodefeaturerule",
         "A NodeFeatureRule makes labels, annotations and taints of features.",
         {"nfr"},
         {},
         false,
         NodeFeatureRuleSchema},
        {kNodeFeatureGroup,
         "nodefeaturegroup",
         "A NodeFeatureGroup is a set of nodes with features in common.",
         {"nfg"},
         {},
         true,
         NodeFeatureGroupSchema},
    };
  }();
  return kAll;
}

object CustomResourceDefinitionOf(const Definition& d) {
  object schema = OpenApiOf(*d.schema());
  object described{{"description", d.description}};
  for (auto& member : schema) described[member.key()] = std::move(member.value());

  object version{{"name", d.resource.version}, {"served", true}, {"storage", true}};
  version["schema"] = object{{"openAPIV3Schema", std::move(described)}};
  if (d.has_status) version["subresources"] = object{{"status", object{}}};
  if (!d.columns.empty()) {
    array columns;
    for (const Column& column : d.columns) columns.push_back(ColumnOf(column));
    version["additionalPrinterColumns"] = std::move(columns);
  }
  object names{{"kind", d.resource.kind},
               {"listKind", d.resource.kind + "List"},
               {"plural", d.resource.plural},
               {"singular", d.singular}};
  if (!d.short_names.empty()) names["shortNames"] = Texts(d.short_names);
  object out{{"apiVersion", "apiextensions.k8s.io/v1"},
             {"kind", "CustomResourceDefinition"},
             {"metadata", object{{"name", d.name()}}},
             {"spec", object{{"group", d.resource.group},
                             {"names", std::move(names)},
                             {"scope", d.resource.namespaced ? "Namespaced" : "Cluster"},
                             {"versions", array{std::move(version)}}}}};
  // Groups of *.k8s.io belong to the Kubernetes project and must say who approved them; this is NFD's own reference.
  if (d.resource.group.ends_with(".k8s-sigs.io"))
    out["metadata"].as_object()["annotations"] =
        object{{"api-approved.kubernetes.io", "https://github.com/kubernetes/enhancements/pull/1750"}};
  return out;
}

}  // namespace gpuop::api
