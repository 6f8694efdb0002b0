#include "operands/node_feature.h"

#include "api/nfd.h"

namespace gpuop::operands {

data::JsonObject NodeFeatureObject(const std::string& ns, const std::string& name, const std::string& node,
                                   data::JsonObject features, data::JsonObject labels) {
  return {{"apiVersion", api::kNodeFeature.ApiVersion()},
          {"kind", api::kNodeFeature.kind},
          {"metadata", {{"name", name}, {"namespace", ns}, {"labels", {{api::kNodeNameLabel, node}}}}},
          {"spec", {{"features", std::move(features)}, {"labels", std::move(labels)}}}};
}

data::JsonObject OwnerReference(std::string_view api_version, std::string_view kind, std::string_view name,
                                std::string_view uid) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}};
}

}  // namespace gpuop::operands
