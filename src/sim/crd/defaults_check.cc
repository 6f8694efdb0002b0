#include "sim/crd/defaults_check.h"

#include "data/json.h"
#include "data/path.h"
#include "data/schema_check.h"
#include "data/schema_validate.h"
#include "sim/crd/field_errors.h"
#include "sim/crd/schema_reader.h"
#include "sim/crd/structural.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using data::Path;

class Defaults {
 public:
  explicit Defaults(std::vector<FieldError>& errors) : errors_(errors) {}

  void Check(const json::object& schema, const Path& path, bool root, bool in_metadata) {
    if (schema.empty()) return;
    const json::value* value = Peek(schema, {"default"});
    if (value != nullptr && in_metadata)
      errors_.push_back(ForbiddenField(path.Child("default").ToString(), "must not be set in top-level metadata"));
    else if (value != nullptr)
      CheckValue(schema, *value, path.Child("default").ToString(), root);
    const Path properties = path.Child("properties");
    for (const auto& [name, property] : PeekObject(schema, {"properties"}))
      Check(AsObject(&property), properties.Key(name), false, in_metadata || (root && name == "metadata"));
    for (const char* field : {"items", "additionalProperties"})
      Check(PeekObject(schema, {field}), path.Child(field), false, in_metadata);
  }

 private:
  void CheckValue(const json::object& schema, const json::value& value, const std::string& path, bool root) {
    if (root)
      for (const char* field : {"apiVersion", "kind"})
        if (PeekString(value, {field}).empty()) errors_.push_back(RequiredField(path + "." + field));
    const data::SchemaPtr shape = ReadSchema(schema);
    json::value pruned = value;
    if (!data::Prune(pruned, *shape, root).empty()) {
      errors_.push_back(InvalidField(path, data::ToJson(value), "must not have unknown fields"));
      return;
    }
    data::ApplyDefaults(pruned, *shape);
    for (const data::FieldError& e : data::SchemaValidator(shape).Validate(pruned)) {
      // A note that rules did not run, or that a part failed, is no error of its own.
      FieldError found = FromData(e);
      if (e.path == "<nil>" && e.value.has_value() && e.value->is_null()) continue;
      found.field = e.path.empty() || e.path == "<nil>" ? path
                    : e.path.starts_with('[')           ? path + e.path
                                                        : path + "." + e.path;
      errors_.push_back(std::move(found));
    }
  }

  std::vector<FieldError>& errors_;
};

}  // namespace

void CheckSchemaDefaults(const json::object& schema, const std::string& path, std::vector<FieldError>& errors) {
  Defaults(errors).Check(schema, Path(path), true, false);
}

}  // namespace gpuop::sim
