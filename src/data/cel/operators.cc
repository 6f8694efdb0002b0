#include "data/cel/operators.h"

#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "data/utf8.h"

namespace gpuop::data::cel {
namespace {

template <class Int>
Result<Value> IntArithmetic(char op, Int a, Int b, std::string_view overflow) {
  Int out = 0;
  bool bad = false;
  if (op == '+') bad = __builtin_add_overflow(a, b, &out);
  if (op == '-') bad = __builtin_sub_overflow(a, b, &out);
  if (op == '*') bad = __builtin_mul_overflow(a, b, &out);
  if (op == '/' || op == '%') {
    if (b == 0) return Fail(Code::kInvalid, op == '/' ? "division by zero" : "modulus by zero");
    bad = std::is_signed_v<Int> && a == std::numeric_limits<Int>::min() && b == static_cast<Int>(-1);
    if (!bad) out = op == '/' ? a / b : a % b;
  }
  if (bad) return Fail(Code::kInvalid, std::string(overflow));
  return Value(Value::Rep(out));
}

Result<Value> Concatenate(const Value& a, const Value& b, std::uint64_t& cost) {
  if (a.As<std::string>() && b.As<std::string>()) {
    cost += (a.As<std::string>()->size() + b.As<std::string>()->size()) / 10;
    return Value::OfText(*a.As<std::string>() + *b.As<std::string>());
  }
  if (a.As<Bytes>() && b.As<Bytes>()) return Value(Value::Rep(Bytes{a.As<Bytes>()->bytes + b.As<Bytes>()->bytes}));
  if (!a.IsList() || !b.IsList()) return NoOverload();
  List items;
  for (const Value* list : {&a, &b})
    for (std::size_t i = 0; i < *list->Size(); ++i) items.push_back(list->Item(i));
  cost += items.size();
  return Value::OfList(std::move(items));
}

}  // namespace

std::size_t Weight(const Value& value) {
  if (const auto* text = value.As<std::string>()) return text->size() / 10;
  if (!value.IsList() && !value.IsMap()) return 1;
  return *value.Size();
}

Result<Value> Arithmetic(char op, const Value& a, const Value& b, std::uint64_t& cost) {
  if (a.As<std::int64_t>() && b.As<std::int64_t>())
    return IntArithmetic(op, *a.As<std::int64_t>(), *b.As<std::int64_t>(), "integer overflow");
  if (a.As<std::uint64_t>() && b.As<std::uint64_t>())
    return IntArithmetic(op, *a.As<std::uint64_t>(), *b.As<std::uint64_t>(), "unsigned integer overflow");
  if (a.As<double>() && b.As<double>() && op != '%') {
    const double x = *a.As<double>();
    const double y = *b.As<double>();
    return Value(Value::Rep(op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y));
  }
  return op == '+' ? Concatenate(a, b, cost) : NoOverload();
}

Result<Value> Relation(Rel rel, const Value& a, const Value& b, std::uint64_t& cost) {
  cost += std::min(Weight(a), Weight(b));
  if (rel == Rel::kEqual) return Value::OfBool(Equal(a, b));
  if (rel == Rel::kNotEqual) return Value::OfBool(!Equal(a, b));
  const auto order = Compare(a, b);
  if (!order) return a.IsNumber() && b.IsNumber() ? Result<Value>(Value::OfBool(false)) : NoOverload();
  switch (rel) {
    case Rel::kLess: return Value::OfBool(*order < 0);
    case Rel::kLessEqual: return Value::OfBool(*order <= 0);
    case Rel::kGreater: return Value::OfBool(*order > 0);
    default: return Value::OfBool(*order >= 0);
  }
}

Result<Value> In(const Value& item, const Value& container, std::uint64_t& cost) {
  if (container.IsMap()) return Value::OfBool(container.Find(item).has_value());
  if (!container.IsList()) return NoOverload();
  const std::size_t size = *container.Size();
  cost += size;
  for (std::size_t i = 0; i < size; ++i)
    if (Equal(container.Item(i), item)) return Value::OfBool(true);
  return Value::OfBool(false);
}

Result<Value> Negate(const Value& a) {
  if (const auto* i = a.As<std::int64_t>()) return IntArithmetic<std::int64_t>('-', 0, *i, "integer overflow");
  if (const auto* d = a.As<double>()) return Value(Value::Rep(-*d));
  return NoOverload();
}

Result<Value> ToInt(const Value& a) {
  if (a.As<std::int64_t>()) return a;
  if (const auto* u = a.As<std::uint64_t>()) {
    if (*u > static_cast<std::uint64_t>(INT64_MAX)) return Fail(Code::kInvalid, "integer overflow");
    return Value::OfInt(static_cast<std::int64_t>(*u));
  }
  if (const auto* d = a.As<double>()) {
    if (!(*d > -9.3e18 && *d < 9.2233720368547e18)) return Fail(Code::kInvalid, "integer overflow");
    return Value::OfInt(static_cast<std::int64_t>(*d));
  }
  if (const auto* text = a.As<std::string>()) {
    if (const auto i = ParseInt(*text)) return Value::OfInt(*i);
    return Fail(Code::kInvalid, "type conversion error from 'string' to 'int'");
  }
  return NoOverload();
}

Result<Value> ToUint(const Value& a) {
  if (a.As<std::uint64_t>()) return a;
  if (const auto* d = a.As<double>()) {
    if (!(*d >= 0 && *d < 1.8446744073709e19)) return Fail(Code::kInvalid, "unsigned integer overflow");
    return Value(Value::Rep(static_cast<std::uint64_t>(*d)));
  }
  if (const auto* text = a.As<std::string>()) {
    std::uint64_t out = 0;
    const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), out);
    if (ec == std::errc() && end == text->data() + text->size()) return Value(Value::Rep(out));
    return Fail(Code::kInvalid, "type conversion error from 'string' to 'uint'");
  }
  const auto* i = a.As<std::int64_t>();
  if (i == nullptr) return NoOverload();
  if (*i < 0) return Fail(Code::kInvalid, "unsigned integer overflow");
  return Value(Value::Rep(static_cast<std::uint64_t>(*i)));
}

Result<Value> ToDouble(const Value& a) {
  if (a.As<double>()) return a;
  if (const auto* i = a.As<std::int64_t>()) return Value(Value::Rep(static_cast<double>(*i)));
  if (const auto* u = a.As<std::uint64_t>()) return Value(Value::Rep(static_cast<double>(*u)));
  const auto* text = a.As<std::string>();
  if (text == nullptr) return NoOverload();
  double out = 0;
  const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (ec == std::errc() && end == text->data() + text->size()) return Value(Value::Rep(out));
  return Fail(Code::kInvalid, "type conversion error from 'string' to 'double'");
}

Result<Value> ToText(const Value& a) {
  if (a.As<std::string>()) return a;
  if (const auto* bytes = a.As<Bytes>()) {
    if (!IsUtf8(bytes->bytes)) return Fail(Code::kInvalid, "invalid UTF-8 in bytes, cannot convert to string");
    return Value::OfText(bytes->bytes);
  }
  if (a.As<bool>() || a.IsNumber()) return Value::OfText(data::ToJson(a.ToJson()));
  if (const auto* quantity = a.As<Quantity>()) return Value::OfText(quantity->ToString());
  return NoOverload();
}

Result<Value> ToBool(const Value& a) {
  if (a.As<bool>()) return a;
  const auto* text = a.As<std::string>();
  if (text == nullptr) return NoOverload();
  if (const auto b = ParseBool(*text)) return Value::OfBool(*b);
  return Fail(Code::kInvalid, "type conversion error from 'string' to 'bool'");
}

}  // namespace gpuop::data::cel
