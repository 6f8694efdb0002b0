#include "operands/nfd/rules/expression.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::operands::nfd {
namespace {

/// A version's numbers: what stands behind them (a pre-release) is passed over, missing ones are zero.
Result<std::vector<std::int64_t>> VersionOf(std::string_view text) {
  std::string_view rest = Trim(text);
  if (rest.starts_with('v')) rest.remove_prefix(1);
  std::vector<std::int64_t> out;
  for (;;) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto number = ParseInt(rest.substr(0, end));
    if (!number || (out.empty() && end > 1 && rest.starts_with('0'))) {
      if (!out.empty() && end == 0) return out;  // "1.": what follows the point is passed over
      return Fail(Code::kInvalid, Quote(text) + " is no version");
    }
    out.push_back(*number);
    if (end >= rest.size() || rest[end] != '.') return out;
    rest.remove_prefix(end + 1);
  }
}

template <class T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

Result<std::int64_t> IntegerOf(std::string_view text) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto number = ParseInt(digits);
  if (!number || (text.starts_with('+') && digits.starts_with('-')))
    return Fail(Code::kInvalid, "not an integer: " + Quote(text));
  return *number;
}

}  // namespace

Expression::Op Expression::OpOf(std::string_view name) {
  static constexpr std::pair<std::string_view, Op> kOps[] = {
      {"", Op::kAny},          {"In", Op::kIn},
      {"NotIn", Op::kNotIn},   {"InRegexp", Op::kInRegexp},
      {"Exists", Op::kExists}, {"DoesNotExist", Op::kDoesNotExist},
      {"Gt", Op::kGt},         {"Ge", Op::kGe},
      {"Lt", Op::kLt},         {"Le", Op::kLe},
      {"GtLt", Op::kGtLt},     {"GeLe", Op::kGeLe},
      {"IsTrue", Op::kIsTrue}, {"IsFalse", Op::kIsFalse}};
  const auto* const it = std::ranges::find(kOps, name, &std::pair<std::string_view, Op>::first);
  return it == std::end(kOps) ? Op::kUnknown : it->second;
}

Expression::Expression(const api::NfdExpression& spec) : spec_(spec), op_(OpOf(spec.op)) { Prepare(); }

void Expression::Prepare() {
  const auto wrong = [this](std::string text) { fault_ = Error{Code::kInvalid, "op " + spec_.op + ": " + text}; };
  const std::size_t count = spec_.value.size();
  switch (op_) {
    case Op::kUnknown: fault_ = Error{Code::kInvalid, "op " + Quote(spec_.op) + " is unknown"}; return;
    case Op::kIn:
    case Op::kNotIn:
      if (count == 0) wrong("needs one value at least");
      return;
    case Op::kInRegexp:
      if (count == 0) return wrong("needs one value at least");
      for (const std::string& value : spec_.value) {
        auto pattern = data::Regex::Compile(value);
        if (!pattern) return wrong(pattern.error().text);
        patterns_.push_back(*std::move(pattern));
      }
      return;
    case Op::kGt:
    case Op::kGe:
    case Op::kLt:
    case Op::kLe:
      if (count != 1) return wrong("takes one value, got " + std::to_string(count));
      break;
    case Op::kGtLt:
    case Op::kGeLe:
      if (count != 2) return wrong("takes two values, got " + std::to_string(count));
      break;
    default:
      if (count != 0) wrong("takes no value");
      return;
  }
  if (!spec_.type.empty() && spec_.type != "version") return wrong("type " + Quote(spec_.type) + " is unknown");
  // A value that cannot be read, and bounds that hold nothing between them, are seen once, here.
  const auto order = Compare(spec_.value.front(), spec_.value.back());
  if (!order) return wrong(order.error().text);
  if (count == 2 && *order >= 0) wrong("the first value must be below the second");
}

Result<int> Expression::Compare(std::string_view a, std::string_view b) const {
  if (spec_.type == "version") {
    ASSIGN(auto x, VersionOf(a));
    ASSIGN(auto y, VersionOf(b));
    const std::size_t size = std::max(x.size(), y.size());
    x.resize(size);
    y.resize(size);
    return Order(x, y);
  }
  ASSIGN(const std::int64_t x, IntegerOf(a));
  ASSIGN(const std::int64_t y, IntegerOf(b));
  return Order(x, y);
}

Result<bool> Expression::InOrder(std::string_view value) const {
  ASSIGN(const int low, Compare(value, spec_.value.front()));
  switch (op_) {
    case Op::kGt: return low > 0;
    case Op::kGe: return low >= 0;
    case Op::kLt: return low < 0;
    case Op::kLe: return low <= 0;
    default: break;
  }
  ASSIGN(const int high, Compare(value, spec_.value.back()));
  return op_ == Op::kGtLt ? low > 0 && high < 0 : low >= 0 && high <= 0;
}

Result<bool> Expression::MatchesFlag(bool there) const {
  if (op_ == Op::kUnknown) return std::unexpected(*fault_);
  if (op_ != Op::kAny && op_ != Op::kExists && op_ != Op::kDoesNotExist) return false;
  if (fault_) return std::unexpected(*fault_);
  return op_ == Op::kAny || there == (op_ == Op::kExists);
}

Result<bool> Expression::Matches(std::optional<std::string_view> value) const {
  if (op_ == Op::kAny || op_ == Op::kExists || op_ == Op::kDoesNotExist || op_ == Op::kUnknown)
    return MatchesFlag(value.has_value());
  if (!value) return false;
  if (fault_) return std::unexpected(*fault_);
  switch (op_) {
    case Op::kIn: return std::ranges::find(spec_.value, *value) != spec_.value.end();
    case Op::kNotIn: return std::ranges::find(spec_.value, *value) == spec_.value.end();
    case Op::kInRegexp:
      return std::ranges::any_of(patterns_, [&](const data::Regex& pattern) { return pattern.Search(*value); });
    case Op::kIsTrue: return *value == "true";
    case Op::kIsFalse: return *value == "false";
    default: return InOrder(*value);
  }
}

}  // namespace gpuop::operands::nfd
