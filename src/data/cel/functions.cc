// The functions that expressions may call, in one table.

#include <boost/json.hpp>

#include "base/text.h"
#include "data/cel/node.h"
#include "data/cel/operators.h"
#include "data/cel/text_functions.h"

namespace gpuop::data::cel {
namespace {

using Args = std::vector<Value>;

struct Function {
  std::string_view name;
  /// Arguments, the receiver counted.
  std::size_t least, most;
  bool method, global;
  Callable call;
};

const std::string* Text(const Args& args, std::size_t i) {
  return i < args.size() ? args[i].As<std::string>() : nullptr;
}
const std::int64_t* Int(const Args& args, std::size_t i) {
  return i < args.size() ? args[i].As<std::int64_t>() : nullptr;
}

Result<Value> Size(Args& args, std::uint64_t&) {
  const auto size = args[0].Size();
  if (!size) return NoOverload();
  return Value::OfInt(static_cast<std::int64_t>(*size));
}

/// A predicate on two texts, which costs what looking through the first one does.
template <bool (*kTest)(const std::string&, const std::string&)>
Result<Value> TextTest(Args& args, std::uint64_t& cost) {
  const auto* a = Text(args, 0);
  const auto* b = Text(args, 1);
  if (a == nullptr || b == nullptr) return NoOverload();
  cost += a->size() / 10;
  return Value::OfBool(kTest(*a, *b));
}
bool StartsWith(const std::string& a, const std::string& b) { return a.starts_with(b); }
bool EndsWith(const std::string& a, const std::string& b) { return a.ends_with(b); }
bool Contains(const std::string& a, const std::string& b) { return a.contains(b); }

template <Result<Value> (*kTry)(const std::string&, const std::string&)>
Result<Value> WithPattern(Args& args, std::uint64_t& cost) {
  const auto* text = Text(args, 0);
  const auto* pattern = Text(args, 1);
  if (text == nullptr || pattern == nullptr) return NoOverload();
  cost += (text->size() / 10 + 1) * (pattern->size() / 4 + 1);
  return kTry(*text, *pattern);
}

template <std::string (*kChange)(std::string_view)>
Result<Value> TextChange(Args& args, std::uint64_t& cost) {
  const auto* text = Text(args, 0);
  if (text == nullptr) return NoOverload();
  cost += text->size() / 10;
  return Value::OfText(kChange(*text));
}
std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}
std::string Trimmed(std::string_view text) { return std::string(Trim(text)); }

Result<Value> CallSubstring(Args& args, std::uint64_t& cost) {
  const auto* text = Text(args, 0);
  const auto* from = Int(args, 1);
  const auto* to = Int(args, 2);
  if (text == nullptr || from == nullptr || (args.size() == 3 && to == nullptr)) return NoOverload();
  cost += text->size() / 10;
  return Substring(*text, *from, to == nullptr ? std::nullopt : std::optional(*to));
}

Result<Value> CallCharAt(Args& args, std::uint64_t& cost) {
  const auto* text = Text(args, 0);
  const auto* at = Int(args, 1);
  if (text == nullptr || at == nullptr) return NoOverload();
  cost += text->size() / 10;
  return CharAt(*text, *at);
}

/// indexOf and lastIndexOf of a list's item.
Result<Value> ItemIndex(const Args& args, bool last, std::uint64_t& cost) {
  const std::size_t size = *args[0].Size();
  cost += size;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = last ? size - 1 - i : i;
    if (Equal(args[0].Item(at), args[1])) return Value::OfInt(static_cast<std::int64_t>(at));
  }
  return Value::OfInt(-1);
}
Result<Value> CallIndexOf(Args& args, std::uint64_t& cost) {
  if (args[0].IsList()) return ItemIndex(args, false, cost);
  const auto* text = Text(args, 0);
  const auto* part = Text(args, 1);
  const auto* from = Int(args, 2);
  if (text == nullptr || part == nullptr || (args.size() == 3 && from == nullptr)) return NoOverload();
  cost += text->size() / 10;
  return IndexOf(*text, *part, from == nullptr ? 0 : *from);
}
Result<Value> CallLastIndexOf(Args& args, std::uint64_t& cost) {
  if (args[0].IsList()) return ItemIndex(args, true, cost);
  const auto* text = Text(args, 0);
  const auto* part = Text(args, 1);
  if (text == nullptr || part == nullptr) return NoOverload();
  cost += text->size() / 10;
  return LastIndexOf(*text, *part);
}

Result<Value> CallSplit(Args& args, std::uint64_t& cost) {
  const auto* text = Text(args, 0);
  const auto* separator = Text(args, 1);
  const auto* limit = Int(args, 2);
  if (text == nullptr || separator == nullptr || (args.size() == 3 && limit == nullptr)) return NoOverload();
  cost += text->size();
  return SplitText(*text, *separator, limit == nullptr ? -1 : *limit);
}
Result<Value> CallReplace(Args& args, std::uint64_t& cost) {
  const auto* text = Text(args, 0);
  const auto* from = Text(args, 1);
  const auto* to = Text(args, 2);
  const auto* limit = Int(args, 3);
  if (text == nullptr || from == nullptr || to == nullptr || (args.size() == 4 && limit == nullptr))
    return NoOverload();
  cost += text->size() * (to->size() / 10 + 1);
  return Replace(*text, *from, *to, limit == nullptr ? -1 : *limit);
}
Result<Value> CallJoin(Args& args, std::uint64_t& cost) {
  if (args.size() == 2 && Text(args, 1) == nullptr) return NoOverload();
  cost += Weight(args[0]);
  return JoinTexts(args[0], args.size() == 2 ? *Text(args, 1) : "");
}
Result<Value> CallFormat(Args& args, std::uint64_t& cost) {
  const auto* format = Text(args, 0);
  if (format == nullptr) return NoOverload();
  cost += format->size() / 10;
  return FormatText(*format, args[1]);
}

Result<Value> IsSorted(Args& args, std::uint64_t& cost) {
  if (!args[0].IsList()) return NoOverload();
  const std::size_t size = *args[0].Size();
  cost += size;
  for (std::size_t i = 1; i < size; ++i) {
    const auto order = Compare(args[0].Item(i - 1), args[0].Item(i));
    if (!order) return NoOverload();
    if (*order > 0) return Value::OfBool(false);
  }
  return Value::OfBool(true);
}

/// The least (-1) or greatest (1) item.
template <int kSide>
Result<Value> Extreme(Args& args, std::uint64_t& cost) {
  if (!args[0].IsList()) return NoOverload();
  const std::size_t size = *args[0].Size();
  if (size == 0) return Fail(Code::kInvalid, kSide < 0 ? "min called on empty list" : "max called on empty list");
  cost += size;
  Value best = args[0].Item(0);
  for (std::size_t i = 1; i < size; ++i) {
    Value item = args[0].Item(i);
    const auto order = Compare(item, best);
    if (!order) return NoOverload();
    if (*order == kSide) best = std::move(item);
  }
  return best;
}

Result<Value> Sum(Args& args, std::uint64_t& cost) {
  if (!args[0].IsList()) return NoOverload();
  Value sum = Value::OfInt(0);
  for (std::size_t i = 0; i < *args[0].Size(); ++i) {
    if (i == 0) {
      sum = args[0].Item(0);
    } else {
      ASSIGN(sum, Arithmetic('+', sum, args[0].Item(i), cost));
    }
  }
  cost += Weight(args[0]);
  if (!sum.IsNumber()) return NoOverload();
  return sum;
}

Result<Value> MakeQuantity(Args& args, std::uint64_t&) {
  const auto* text = Text(args, 0);
  if (text == nullptr) return NoOverload();
  ASSIGN(Quantity quantity, Quantity::Parse(*text));
  return Value(Value::Rep(std::move(quantity)));
}
Result<Value> IsQuantity(Args& args, std::uint64_t&) {
  const auto* text = Text(args, 0);
  if (text == nullptr) return NoOverload();
  return Value::OfBool(Quantity::Parse(*text).has_value());
}
/// -1, 0 or 1 of two quantities.
Result<int> Order(const Args& args) {
  const auto* a = args[0].As<Quantity>();
  const auto* b = args[1].As<Quantity>();
  if (a == nullptr || b == nullptr) return NoOverload();
  return *a < *b ? -1 : *a == *b ? 0 : 1;
}
Result<Value> CompareTo(Args& args, std::uint64_t&) {
  ASSIGN(const int order, Order(args));
  return Value::OfInt(order);
}
Result<Value> IsLessThan(Args& args, std::uint64_t&) {
  ASSIGN(const int order, Order(args));
  return Value::OfBool(order < 0);
}
Result<Value> IsGreaterThan(Args& args, std::uint64_t&) {
  ASSIGN(const int order, Order(args));
  return Value::OfBool(order > 0);
}

Result<Value> HasValue(Args& args, std::uint64_t&) {
  const auto* optional = args[0].As<Optional>();
  if (optional == nullptr) return NoOverload();
  return Value::OfBool(optional->value != nullptr);
}
Result<Value> ValueOf(Args& args, std::uint64_t&) {
  const auto* optional = args[0].As<Optional>();
  if (optional == nullptr) return NoOverload();
  if (!optional->value) return Fail(Code::kInvalid, "optional.none() dereference");
  return Value(*optional->value);
}
Result<Value> OrValue(Args& args, std::uint64_t&) {
  const auto* optional = args[0].As<Optional>();
  if (optional == nullptr) return NoOverload();
  return optional->value ? Value(*optional->value) : args[1];
}
Result<Value> OrOptional(Args& args, std::uint64_t&) {
  const auto* optional = args[0].As<Optional>();
  if (optional == nullptr) return NoOverload();
  return optional->value ? args[0] : args[1];
}
Result<Value> OptionalOf(Args& args, std::uint64_t&) {
  return Value(Value::Rep(Optional{std::make_shared<const Value>(args[0])}));
}
Result<Value> OptionalNone(Args&, std::uint64_t&) { return Value(Value::Rep(Optional{})); }

template <Result<Value> (*kConvert)(const Value&)>
Result<Value> Convert(Args& args, std::uint64_t&) {
  return kConvert(args[0]);
}
template <char kOp>
Result<Value> CallArithmetic(Args& args, std::uint64_t& cost) {
  if (args.size() == 1) return Negate(args[0]);
  return Arithmetic(kOp, args[0], args[1], cost);
}
Result<Value> Not(Args& args, std::uint64_t&) {
  const bool* truth = args[0].As<bool>();
  if (truth == nullptr) return NoOverload();
  return Value::OfBool(!*truth);
}
template <Rel kRel>
Result<Value> CallRelation(Args& args, std::uint64_t& cost) {
  return Relation(kRel, args[0], args[1], cost);
}
Result<Value> CallIn(Args& args, std::uint64_t& cost) { return In(args[0], args[1], cost); }
Result<Value> TypeOf(Args& args, std::uint64_t&) {
  return Value(Value::Rep(TypeValue{std::string(args[0].TypeName())}));
}
Result<Value> Same(Args& args, std::uint64_t&) { return args[0]; }

constexpr Function kFunctions[] = {
    {"size", 1, 1, true, true, Size},
    {"startsWith", 2, 2, true, false, TextTest<StartsWith>},
    {"endsWith", 2, 2, true, false, TextTest<EndsWith>},
    {"contains", 2, 2, true, false, TextTest<Contains>},
    {"matches", 2, 2, true, true, WithPattern<Matches>},
    {"find", 2, 2, true, false, WithPattern<FindMatch>},
    {"lowerAscii", 1, 1, true, false, TextChange<ToLower>},
    {"upperAscii", 1, 1, true, false, TextChange<Upper>},
    {"trim", 1, 1, true, false, TextChange<Trimmed>},
    {"substring", 2, 3, true, false, CallSubstring},
    {"charAt", 2, 2, true, false, CallCharAt},
    {"indexOf", 2, 3, true, false, CallIndexOf},
    {"lastIndexOf", 2, 2, true, false, CallLastIndexOf},
    {"split", 2, 3, true, false, CallSplit},
    {"replace", 3, 4, true, false, CallReplace},
    {"join", 1, 2, true, false, CallJoin},
    {"format", 2, 2, true, false, CallFormat},
    {"isSorted", 1, 1, true, false, IsSorted},
    {"min", 1, 1, true, false, Extreme<-1>},
    {"max", 1, 1, true, false, Extreme<1>},
    {"sum", 1, 1, true, false, Sum},
    {"quantity", 1, 1, false, true, MakeQuantity},
    {"isQuantity", 1, 1, false, true, IsQuantity},
    {"compareTo", 2, 2, true, false, CompareTo},
    {"isLessThan", 2, 2, true, false, IsLessThan},
    {"isGreaterThan", 2, 2, true, false, IsGreaterThan},
    {"hasValue", 1, 1, true, false, HasValue},
    {"value", 1, 1, true, false, ValueOf},
    {"orValue", 2, 2, true, false, OrValue},
    {"or", 2, 2, true, false, OrOptional},
    {"optional.of", 1, 1, false, true, OptionalOf},
    {"optional.none", 0, 0, false, true, OptionalNone},
    {"int", 1, 1, false, true, Convert<ToInt>},
    {"uint", 1, 1, false, true, Convert<ToUint>},
    {"double", 1, 1, false, true, Convert<ToDouble>},
    {"string", 1, 1, false, true, Convert<ToText>},
    {"bool", 1, 1, false, true, Convert<ToBool>},
    {"type", 1, 1, false, true, TypeOf},
    {"dyn", 1, 1, false, true, Same},
    {"!", 1, 1, false, false, Not},
    {"in", 2, 2, false, false, CallIn},
    {"+", 2, 2, false, false, CallArithmetic<'+'>},
    {"-", 1, 2, false, false, CallArithmetic<'-'>},
    {"*", 2, 2, false, false, CallArithmetic<'*'>},
    {"/", 2, 2, false, false, CallArithmetic<'/'>},
    {"%", 2, 2, false, false, CallArithmetic<'%'>},
    {"==", 2, 2, false, false, CallRelation<Rel::kEqual>},
    {"!=", 2, 2, false, false, CallRelation<Rel::kNotEqual>},
    {"<", 2, 2, false, false, CallRelation<Rel::kLess>},
    {"<=", 2, 2, false, false, CallRelation<Rel::kLessEqual>},
    {">", 2, 2, false, false, CallRelation<Rel::kGreater>},
    {">=", 2, 2, false, false, CallRelation<Rel::kGreaterEqual>},
};

}  // namespace

Callable FindFunction(std::string_view name, std::size_t args, Form form) {
  const auto* f = std::ranges::find(kFunctions, name, &Function::name);
  if (f == std::end(kFunctions) || args < f->least || args > f->most) return nullptr;
  const bool allowed = form == Form::kMethod     ? f->method
                       : form == Form::kFunction ? f->global
                                                 : !f->method && !f->global;
  return allowed ? f->call : nullptr;
}

}  // namespace gpuop::data::cel
