#pragma once

#include <map>

#include "data/schema_validate.h"
#include "sim/hooks.h"

namespace gpuop::sim {

/// What the API server does to custom resources by their structural schemas: pruning with strict or warned unknown
/// fields, defaulting (on reading too), validation with CEL rules, conversion by apiVersion alone. Reading of bodies
/// and field ownership are somebody else's. Lives with the core.
class CustomTypes final : public TypeSystem {
 public:
  /// `metadata` is the shape of ObjectMeta; null when nobody knows it (then metadata passes as it is).
  explicit CustomTypes(data::SchemaPtr metadata) : metadata_(std::move(metadata)) {}

  Answer<> Conform(const Request& request, boost::json::object& object, std::vector<std::string>& problems) override;
  void Default(const Request& request, boost::json::object& object) override;
  std::vector<FieldError> Validate(const Request& request, const boost::json::object& object,
                                   const boost::json::object* old) override;
  Answer<> Convert(const ResourceInfo& to, boost::json::object& object) override;

 private:
  struct Held {
    /// Kept alive, because it is found by its address.
    data::SchemaPtr schema;
    data::SchemaValidator validator;
    bool has_rules = false;
  };
  const Held& HeldBy(const data::SchemaPtr& schema);

  data::SchemaPtr metadata_;
  /// By schema; dropped together when there are many.
  std::map<const data::Schema*, Held> validators_;
};

}  // namespace gpuop::sim
