#include "sim/types/go_names.h"

#include <string_view>

namespace gpuop::sim::types {

std::string GoShortName(const data::Schema& schema) { return schema.name.substr(schema.name.rfind('.') + 1); }

std::string GoTypeName(const data::Schema& schema) {
  if (!schema.name.empty()) {
    const std::size_t last = schema.name.rfind('.');
    return schema.name.substr(last == 0 ? 0 : schema.name.rfind('.', last - 1) + 1);
  }
  switch (schema.type) {
    case data::Type::kString: return schema.format == "byte" ? "[]uint8" : "string";
    case data::Type::kBoolean: return "bool";
    case data::Type::kInteger: return schema.format;
    case data::Type::kNumber: return "float64";
    case data::Type::kArray: return "[]" + GoTypeName(*schema.items);
    case data::Type::kObject:
      return schema.values == nullptr ? "map[string]interface {}" : "map[string]" + GoTypeName(*schema.values);
    case data::Type::kAny: break;
  }
  return "interface {}";
}

}  // namespace gpuop::sim::types
