#pragma once
// Operators and conversions of the language. All fail with NoOverload() for operands that they do not take.

#include "data/cel/value.h"

namespace gpuop::data::cel {

/// Steps that looking at the whole value is worth.
std::size_t Weight(const Value& value);
/// + - * / %; + also joins texts, bytes and lists. kInvalid on overflow and division by zero.
Result<Value> Arithmetic(char op, const Value& a, const Value& b, std::uint64_t& cost);
/// How two values are compared. `cost` grows by the steps that a comparison took.
enum class Rel : std::uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
Result<Value> Relation(Rel rel, const Value& a, const Value& b, std::uint64_t& cost);
/// Whether a list or the keys of a map have `item`.
Result<Value> In(const Value& item, const Value& container, std::uint64_t& cost);
/// Unary minus; kInvalid on overflow.
Result<Value> Negate(const Value& a);

/// Conversions; kInvalid for a value that the type cannot hold.
Result<Value> ToInt(const Value& a);
Result<Value> ToUint(const Value& a);
Result<Value> ToDouble(const Value& a);
Result<Value> ToText(const Value& a);
Result<Value> ToBool(const Value& a);

}  // namespace gpuop::data::cel
