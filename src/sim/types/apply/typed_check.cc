#include <boost/json.hpp>
#include <set>

#include "data/json.h"
#include "sim/types/apply/typed_value.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using data::Type;

namespace {

std::string Printed(const json::value& value) { return data::ToJson(value); }

/// What Go calls the value's type.
std::string_view GoKind(const json::value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_int64()) return "int64";
  if (value.is_double()) return "float64";
  return value.is_object() ? "map[string]interface {}" : "[]interface {}";
}

class Checker {
 public:
  explicit Checker(bool allow_duplicates) : allow_duplicates_(allow_duplicates) {}

  void Check(Shape shape, const json::value& value) {
    if (value.is_null()) return;
    switch (shape.KindOf(&value)) {
      case Shape::Kind::kScalar: return Scalar(shape, value);
      case Shape::Kind::kList: return List(shape, value);
      case Shape::Kind::kMap: return Map(shape, value);
    }
  }

  std::vector<std::string> errors;

 private:
  void Say(std::string what) { errors.push_back(PathText(at_) + ": " + std::move(what)); }

  void Scalar(Shape shape, const json::value& value) {
    const data::Schema* schema = shape.schema();
    if (schema == nullptr || schema->type == Type::kAny || schema->int_or_string) {
      if (value.is_object() || value.is_array()) Say("expected any scalar, got " + Printed(value));
      return;
    }
    switch (schema->type) {
      case Type::kString:
        if (!value.is_string()) Say("expected string, got &value.valueUnstructured{Value:" + Printed(value) + "}");
        break;
      case Type::kBoolean:
        if (!value.is_bool()) Say("expected boolean, got " + Printed(value));
        break;
      default:
        if (!value.is_number()) Say("expected numeric (int or float), got " + std::string(GoKind(value)));
    }
  }

  void List(Shape shape, const json::value& value) {
    if (!value.is_array()) return Say("expected list, got &{" + Printed(value) + "}");
    const bool atomic = shape.Atomic(Shape::Kind::kList);
    std::set<std::string> seen;
    std::size_t i = 0;
    for (const json::value& element : value.get_array()) {
      std::string name = "i:" + std::to_string(i++);
      if (!atomic) {
        auto named = shape.ElementName(element);
        if (!named) return Say("element " + std::to_string(i - 1) + ": " + named.error());
        name = *std::move(named);
        if (!seen.insert(name).second && !allow_duplicates_) Say("duplicate entries for key " + PathText({name}));
      }
      at_.push_back(std::move(name));
      Check(shape.Items(), element);
      at_.pop_back();
    }
  }

  void Map(Shape shape, const json::value& value) {
    if (!value.is_object()) return Say("expected map, got &{" + Printed(value) + "}");
    for (const auto& [key, element] : value.get_object()) {
      at_.push_back("f:" + std::string(key));
      const Shape::Member member = shape.Field({key.data(), key.size()});
      if (member.known)
        Check(member.shape, element);
      else
        Say("field not declared in schema");
      at_.pop_back();
    }
  }

  bool allow_duplicates_;
  FieldPath at_;
};

}  // namespace

std::vector<std::string> CheckTyped(Shape shape, const json::value& value, bool allow_duplicates) {
  Checker checker(allow_duplicates);
  checker.Check(shape, value);
  return std::move(checker.errors);
}

}  // namespace gpuop::sim::types
