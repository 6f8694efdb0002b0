#include "data/cel/value.h"

#include <boost/json.hpp>
#include <cmath>

#include "base/text.h"
#include "data/utf8.h"

namespace gpuop::data::cel {
namespace {

template <class A, class B>
int Order(A a, B b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

std::optional<int> CompareNumbers(const Value& a, const Value& b) {
  if (const auto* x = a.As<std::int64_t>()) {
    if (const auto* y = b.As<std::int64_t>()) return Order(*x, *y);
    if (const auto* y = b.As<std::uint64_t>()) return *x < 0 ? -1 : Order(static_cast<std::uint64_t>(*x), *y);
  }
  if (const auto* x = a.As<std::uint64_t>()) {
    if (const auto* y = b.As<std::uint64_t>()) return Order(*x, *y);
    if (const auto* y = b.As<std::int64_t>()) return *y < 0 ? 1 : Order(*x, static_cast<std::uint64_t>(*y));
  }
  const auto number = [](const Value& v) {
    if (const auto* i = v.As<std::int64_t>()) return static_cast<double>(*i);
    if (const auto* u = v.As<std::uint64_t>()) return static_cast<double>(*u);
    return *v.As<double>();
  };
  const double x = number(a);
  const double y = number(b);
  if (std::isnan(x) || std::isnan(y)) return std::nullopt;
  return Order(x, y);
}

bool EqualLists(const Value& a, const Value& b) {
  const std::size_t n = *a.Size();
  if (n != *b.Size()) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (!Equal(a.Item(i), b.Item(i))) return false;
  return true;
}

bool EqualMaps(const Value& a, const Value& b) {
  if (*a.Size() != *b.Size()) return false;
  return std::ranges::all_of(a.Keys(), [&](const Value& key) {
    const auto other = b.Find(key);
    return other && Equal(*a.Find(key), *other);
  });
}

}  // namespace

Value Value::Of(const Json& json) {
  switch (json.kind()) {
    case boost::json::kind::null: return {};
    case boost::json::kind::bool_: return Rep(json.get_bool());
    case boost::json::kind::int64: return Rep(std::int64_t{json.get_int64()});
    case boost::json::kind::uint64: return Rep(std::uint64_t{json.get_uint64()});
    case boost::json::kind::double_: return Rep(json.get_double());
    case boost::json::kind::string: return Rep(std::string(AsView(json.get_string())));
    case boost::json::kind::array: return Rep(&json.get_array());
    case boost::json::kind::object: return Rep(&json.get_object());
  }
  return {};
}

std::optional<std::size_t> Value::Size() const {
  if (const auto* text = As<std::string>()) return CountRunes(*text);
  if (const auto* bytes = As<Bytes>()) return bytes->bytes.size();
  if (const auto* array = As<const JsonArray*>()) return (*array)->size();
  if (const auto* object = As<const JsonObject*>()) return (*object)->size();
  if (const auto* list = As<std::shared_ptr<const List>>()) return (*list)->size();
  if (const auto* map = As<std::shared_ptr<const Map>>()) return (*map)->size();
  return std::nullopt;
}

Value Value::Item(std::size_t index) const {
  if (const auto* array = As<const JsonArray*>()) return Of((**array)[index]);
  return (**As<std::shared_ptr<const List>>())[index];
}

List Value::Keys() const {
  List keys;
  if (const auto* object = As<const JsonObject*>()) {
    for (const auto& member : **object) keys.push_back(OfText(std::string(member.key())));
  } else if (const auto* map = As<std::shared_ptr<const Map>>()) {
    for (const auto& [key, value] : **map) keys.push_back(key);
  }
  return keys;
}

std::optional<Value> Value::Find(const Value& key) const {
  if (const auto* object = As<const JsonObject*>()) {
    const auto* name = key.As<std::string>();
    const Json* found = name == nullptr ? nullptr : (*object)->if_contains(*name);
    if (found == nullptr) return std::nullopt;
    return Of(*found);
  }
  if (const auto* map = As<std::shared_ptr<const Map>>())
    for (const auto& [name, value] : **map)
      if (Equal(name, key)) return value;
  return std::nullopt;
}

std::string_view Value::TypeName() const {
  static constexpr std::string_view kNames[] = {
      "null_type",           "bool", "int", "uint", "double", "string", "bytes", "type", "optional_type",
      "kubernetes.Quantity", "list", "map", "list", "map"};
  return kNames[rep_.index()];
}

Json Value::ToJson() const {
  if (const auto* b = As<bool>()) return *b;
  if (const auto* i = As<std::int64_t>()) return *i;
  if (const auto* u = As<std::uint64_t>()) return *u;
  if (const auto* d = As<double>()) return *d;
  if (const auto* text = As<std::string>()) return Json(*text);
  if (const auto* bytes = As<Bytes>()) return Json(Base64Encode(bytes->bytes));
  if (const auto* type = As<TypeValue>()) return Json(type->name);
  if (const auto* quantity = As<Quantity>()) return Json(quantity->ToString());
  if (const auto* optional = As<Optional>()) return optional->value ? optional->value->ToJson() : Json();
  if (IsList()) {
    JsonArray out;
    for (std::size_t i = 0; i < *Size(); ++i) out.push_back(Item(i).ToJson());
    return out;
  }
  if (IsMap()) {
    JsonObject out;
    for (const Value& key : Keys()) {
      const auto* name = key.As<std::string>();
      out[name != nullptr ? *name : data::ToJson(key.ToJson())] = Find(key)->ToJson();
    }
    return out;
  }
  return nullptr;
}

bool Equal(const Value& a, const Value& b) {
  if (a.IsNumber() && b.IsNumber()) return CompareNumbers(a, b) == 0;
  if (a.IsList() && b.IsList()) return EqualLists(a, b);
  if (a.IsMap() && b.IsMap()) return EqualMaps(a, b);
  if (a.TypeName() != b.TypeName()) return false;
  if (const auto* x = a.As<bool>()) return *x == *b.As<bool>();
  if (const auto* x = a.As<std::string>()) return *x == *b.As<std::string>();
  if (const auto* x = a.As<Bytes>()) return x->bytes == b.As<Bytes>()->bytes;
  if (const auto* x = a.As<TypeValue>()) return x->name == b.As<TypeValue>()->name;
  if (const auto* x = a.As<Quantity>()) return *x == *b.As<Quantity>();
  if (const auto* x = a.As<Optional>()) {
    const auto* y = b.As<Optional>();
    return x->value && y->value ? Equal(*x->value, *y->value) : !x->value && !y->value;
  }
  return true;  // null
}

std::optional<int> Compare(const Value& a, const Value& b) {
  if (a.IsNumber() && b.IsNumber()) return CompareNumbers(a, b);
  if (a.TypeName() != b.TypeName()) return std::nullopt;
  if (const auto* x = a.As<bool>()) return Order(*x, *b.As<bool>());
  if (const auto* x = a.As<std::string>()) return Order(x->compare(*b.As<std::string>()), 0);
  if (const auto* x = a.As<Bytes>()) return Order(x->bytes.compare(b.As<Bytes>()->bytes), 0);
  return std::nullopt;
}

std::unexpected<Error> NoOverload() { return Fail(Code::kInvalid, "no such overload"); }

}  // namespace gpuop::data::cel
