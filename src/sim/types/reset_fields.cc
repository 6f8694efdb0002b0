#include "sim/types/reset_fields.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "kube/builtin/table.h"

namespace gpuop::sim::types {

namespace {

const FieldSet& SetOf(std::vector<FieldPath> paths) {
  auto* set = new FieldSet;  // one for each kind of endpoint, never freed
  for (const FieldPath& path : paths) set->Insert(path);
  return *set;
}

/// Built-in kinds whose status endpoint leaves all of metadata alone.
bool StatusKeepsMetadata(const ResourceInfo& info) {
  return info.custom || info.kind == "ServiceCIDR" || info.kind == "ResourceClaim" || info.kind == "VolumeAttachment" ||
         info.kind == "CustomResourceDefinition" || info.kind == "ValidatingAdmissionPolicy" ||
         info.kind == "APIService";
}

}  // namespace

const FieldSet* ResetFields(const ResourceInfo& info, std::string_view subresource) {
  static const FieldSet& status = SetOf({{"f:status"}});
  static const FieldSet& spec = SetOf({{"f:spec"}});
  static const FieldSet& spec_and_metadata = SetOf({{"f:spec"}, {"f:metadata"}});
  static const FieldSet& spec_and_labels = SetOf({{"f:spec"}, {"f:metadata", "f:labels"}});
  static const FieldSet& pod_status =
      SetOf({{"f:spec"}, {"f:metadata", "f:deletionTimestamp"}, {"f:metadata", "f:ownerReferences"}});
  if (subresource.empty() || subresource == "scale") return info.status_isolated ? &status : nullptr;
  if (subresource != "status") return nullptr;
  if (info.kind == "Deployment" && info.group == "apps") return &spec_and_labels;
  if (info.kind == "Pod" && info.group.empty()) return &pod_status;
  return StatusKeepsMetadata(info) ? &spec_and_metadata : &spec;
}

data::SchemaPtr WithObjectMeta(const data::Schema& schema) {
  auto out = std::make_shared<data::Schema>(schema);
  const auto set = [&](std::string_view name, data::SchemaPtr type) {
    const auto it = std::ranges::find(out->properties, name, &data::Property::name);
    data::Property& property = it != out->properties.end() ? *it : out->properties.emplace_back();
    property.name = name;
    property.schema = std::move(type);
  };
  auto text = std::make_shared<data::Schema>();
  text->type = data::Type::kString;
  set("apiVersion", text);
  set("kind", text);
  set("metadata", kube::builtin::FindType("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  std::ranges::sort(out->properties, {}, &data::Property::name);
  if (out->type == data::Type::kAny) out->type = data::Type::kObject;
  return out;
}

}  // namespace gpuop::sim::types
