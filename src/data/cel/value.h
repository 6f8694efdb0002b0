#pragma once
// Values of the Common Expression Language.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "data/json.h"
#include "data/quantity.h"

namespace gpuop::data::cel {

class Value;
using List = std::vector<Value>;
using Map = std::vector<std::pair<Value, Value>>;

/// The name of a type, which is a value too: type(1) == int.
struct TypeValue {
  std::string name;
};
/// bytes, which are no text.
struct Bytes {
  std::string bytes;
};
/// A value or none.
struct Optional {
  std::shared_ptr<const Value> value;
};

/// A value. Lists and objects of the input are referred to, not copied, and must outlive it.
class Value {
 public:
  using Rep = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Bytes, TypeValue,
                           Optional, Quantity, const JsonArray*, const JsonObject*, std::shared_ptr<const List>,
                           std::shared_ptr<const Map>>;

  Value() : rep_(nullptr) {}
  Value(Rep rep) : rep_(std::move(rep)) {}
  static Value Of(const Json& json);
  static Value OfList(List list) { return Rep(std::make_shared<const List>(std::move(list))); }
  static Value OfText(std::string text) { return Rep(std::move(text)); }
  static Value OfBool(bool b) { return Rep(b); }
  static Value OfInt(std::int64_t i) { return Rep(i); }

  template <class T>
  const T* As() const {
    return std::get_if<T>(&rep_);
  }
  bool IsList() const { return As<const JsonArray*>() || As<std::shared_ptr<const List>>(); }
  bool IsMap() const { return As<const JsonObject*>() || As<std::shared_ptr<const Map>>(); }
  bool IsNumber() const { return As<std::int64_t>() || As<std::uint64_t>() || As<double>(); }

  /// Items of a list, keys of a map, characters of a text, bytes.
  std::optional<std::size_t> Size() const;
  /// A list's item; `index` is within its size.
  Value Item(std::size_t index) const;
  /// A map's keys in order.
  List Keys() const;
  /// A map's value under `key`; nullopt when it has none.
  std::optional<Value> Find(const Value& key) const;

  /// "int", "string", "list", …
  std::string_view TypeName() const;
  /// The value as JSON, as far as JSON has one.
  Json ToJson() const;

 private:
  Rep rep_;
};

/// A function on values. The number grows by what the call is worth beyond one step.
using Callable = Result<Value> (*)(std::vector<Value>& args, std::uint64_t& cost);

/// Equality of the language: numbers by value, different types are unequal.
bool Equal(const Value& a, const Value& b);
/// -1, 0, 1; nullopt when the two cannot be ordered.
std::optional<int> Compare(const Value& a, const Value& b);
/// "no such overload", for operands that a function does not take.
std::unexpected<Error> NoOverload();

}  // namespace gpuop::data::cel
