#include "data/label_selector.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "data/field_error.h"
#include "data/names.h"

namespace gpuop::data {
namespace {

using Op = LabelRequirement::Op;

Json List(const std::vector<std::string>& values) {
  JsonArray out;
  for (const std::string& value : values) out.emplace_back(value);
  return out;
}

std::optional<FieldError> CheckKey(std::string path, std::string_view key) {
  const Messages messages = CheckQualifiedName(key);
  if (messages.empty()) return std::nullopt;
  return FieldError::Invalid(std::move(path), Json(key), Join(messages, "; "));
}

std::optional<FieldError> CheckValues(Op op, const std::vector<std::string>& values) {
  switch (op) {
    case Op::kIn:
    case Op::kNotIn:
      if (!values.empty()) return std::nullopt;
      return FieldError::Invalid("values", nullptr, "for 'in', 'notin' operators, values set can't be empty");
    case Op::kExists:
    case Op::kDoesNotExist:
      if (values.empty()) return std::nullopt;
      return FieldError::Invalid("values", List(values), "values set must be empty for exists and does not exist");
    case Op::kGreater:
    case Op::kLess:
      if (values.size() != 1)
        return FieldError::Invalid("values", List(values), "for 'Gt', 'Lt' operators, exactly one value is required");
      if (ParseInt(values[0])) return std::nullopt;
      return FieldError::Invalid("values[0]", Json(values[0]),
                                 "for 'Gt', 'Lt' operators, the value must be an integer");
    default:
      if (values.size() == 1) return std::nullopt;
      return FieldError::Invalid("values", List(values), "exact-match compatibility requires one single value");
  }
}

/// Checks and orders a requirement's parts.
Result<LabelRequirement> Make(std::string key, Op op, std::vector<std::string> values) {
  std::vector<FieldError> errors;
  if (auto error = CheckKey("key", key)) errors.push_back(*std::move(error));
  if (auto error = CheckValues(op, values)) errors.push_back(*std::move(error));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Messages messages = CheckLabelValue(values[i]);
    if (messages.empty()) continue;
    errors.push_back(
        FieldError::Invalid("values[" + std::to_string(i) + "][" + key + "]", Json(values[i]), Join(messages, "; ")));
  }
  if (!errors.empty()) return Fail(Code::kInvalid, Aggregate(errors));
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return LabelRequirement{std::move(key), op, std::move(values)};
}

/// Splits a selector into words and symbols. `in` and `notin` are words: only their place makes them operators.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  /// The next token; empty at the end. A symbol that is none is a failure, kept in `error`.
  std::string_view Next() {
    const std::size_t start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(start, rest_.size()));
    if (rest_.empty()) return {};
    std::size_t n = 1;
    if (IsSymbol(rest_[0])) {
      if (rest_.starts_with("==") || rest_.starts_with("!=")) n = 2;
    } else {
      n = std::min(rest_.find_first_of("=!(),>< \t\r\n"), rest_.size());
    }
    const std::string_view token = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return token;
  }

  static bool IsSymbol(char c) { return std::string_view("=!(),><").contains(c); }
  static bool IsWord(std::string_view token) { return !token.empty() && !IsSymbol(token[0]); }

 private:
  std::string_view rest_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.Next()) {}

  Result<std::vector<LabelRequirement>> Parse() {
    std::vector<LabelRequirement> out;
    while (!token_.empty()) {
      if (!Lexer::IsWord(token_) && token_ != "!") return Found("!, identifier, or 'end of string'");
      auto requirement = Requirement();
      if (!requirement) return std::unexpected(std::move(requirement).error().During("unable to parse requirement"));
      out.push_back(*std::move(requirement));
      if (token_.empty()) break;
      if (token_ != ",") return Found("',' or 'end of string'");
      Advance();
      if (!Lexer::IsWord(token_) && token_ != "!") return Found("identifier after ','");
    }
    return out;
  }

 private:
  void Advance() { token_ = lexer_.Next(); }
  std::string_view Take() { return std::exchange(token_, lexer_.Next()); }
  std::unexpected<Error> Found(std::string_view expected) const {
    return Fail(Code::kInvalid, "found '" + std::string(token_) + "', expected: " + std::string(expected));
  }

  Result<LabelRequirement> Requirement() {
    const bool absent = token_ == "!";
    if (absent) Advance();
    if (!Lexer::IsWord(token_)) return Found("identifier");
    std::string key(Take());
    if (const auto error = CheckKey("<nil>", key)) return Fail(Code::kInvalid, error->ToString());
    if (absent) return Make(std::move(key), Op::kDoesNotExist, {});
    if (token_.empty() || token_ == ",") return Make(std::move(key), Op::kExists, {});
    ASSIGN(const Op op, Operator());
    std::vector<std::string> values;
    if (op == Op::kIn || op == Op::kNotIn) {
      ASSIGN(values, Values());
    } else {
      ASSIGN(std::string value, ExactValue());
      values.push_back(std::move(value));
    }
    return Make(std::move(key), op, std::move(values));
  }

  Result<Op> Operator() {
    static constexpr std::pair<std::string_view, Op> kOps[] = {
        {"in", Op::kIn},        {"notin", Op::kNotIn}, {"=", Op::kEquals}, {"==", Op::kDoubleEquals},
        {"!=", Op::kNotEquals}, {">", Op::kGreater},   {"<", Op::kLess},
    };
    for (const auto& [text, op] : kOps) {
      if (token_ != text) continue;
      Advance();
      return op;
    }
    return Found("in, notin, =, ==, !=, gt, lt");
  }

  Result<std::string> ExactValue() {
    if (token_.empty() || token_ == ",") return std::string();
    if (!Lexer::IsWord(token_)) return Found("identifier");
    return std::string(Take());
  }

  /// "(a,b,,)": a missing word is an empty value.
  Result<std::vector<std::string>> Values() {
    if (token_ != "(") return Fail(Code::kInvalid, "found '" + std::string(token_) + "' expected: '('");
    Advance();
    std::vector<std::string> values;
    for (;;) {
      values.emplace_back(Lexer::IsWord(token_) ? Take() : std::string_view());
      if (token_ == ")") break;
      if (token_ != ",")
        return Found(values.back().empty() && values.size() == 1 ? "',', ')' or identifier" : "',' or ')'");
      Advance();
    }
    Advance();
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    return values;
  }

  Lexer lexer_;
  std::string_view token_;
};

Result<LabelRequirement> FromExpression(const Json& expression) {
  static constexpr std::pair<std::string_view, Op> kOps[] = {
      {"In", Op::kIn}, {"NotIn", Op::kNotIn}, {"Exists", Op::kExists}, {"DoesNotExist", Op::kDoesNotExist}};
  const std::string_view name = StringOr(expression, "operator");
  const auto* op = std::ranges::find(kOps, name, [](const auto& o) { return o.first; });
  if (op == std::end(kOps)) return Fail(Code::kInvalid, Quote(name) + " is not a valid label selector operator");
  std::vector<std::string> values;
  if (const JsonArray* list = GetArray(expression, "values"))
    for (const Json& value : *list) values.emplace_back(StringOr(value, ""));
  return Make(std::string(StringOr(expression, "key")), op->second, std::move(values));
}

}  // namespace

bool LabelRequirement::Matches(std::optional<std::string_view> value) const {
  switch (op) {
    case Op::kExists: return value.has_value();
    case Op::kDoesNotExist: return !value.has_value();
    case Op::kNotIn:
    case Op::kNotEquals: return !value || std::ranges::find(values, *value) == values.end();
    case Op::kIn:
    case Op::kEquals:
    case Op::kDoubleEquals: return value && std::ranges::find(values, *value) != values.end();
    default: break;
  }
  const auto number = value ? ParseInt(*value) : std::nullopt;
  const auto bound = values.empty() ? std::nullopt : ParseInt(values[0]);
  if (!number || !bound) return false;
  return op == Op::kGreater ? *number > *bound : *number < *bound;
}

std::string LabelRequirement::ToString() const {
  const std::string list = Join(values, ",");
  switch (op) {
    case Op::kExists: return key;
    case Op::kDoesNotExist: return "!" + key;
    case Op::kEquals: return key + "=" + list;
    case Op::kDoubleEquals: return key + "==" + list;
    case Op::kNotEquals: return key + "!=" + list;
    case Op::kGreater: return key + ">" + list;
    case Op::kLess: return key + "<" + list;
    case Op::kIn: return key + " in (" + list + ")";
    case Op::kNotIn: break;
  }
  return key + " notin (" + list + ")";
}

LabelSelector::LabelSelector(std::vector<LabelRequirement> requirements) : requirements_(std::move(requirements)) {
  std::ranges::sort(requirements_, {}, [](const LabelRequirement& r) { return std::tie(r.key, r.op, r.values); });
}

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  ASSIGN(auto requirements, Parser(text).Parse());
  return LabelSelector(std::move(requirements));
}

Result<LabelSelector> LabelSelector::FromJson(const Json* selector) {
  if (selector == nullptr || selector->is_null()) return Nothing();
  if (!selector->is_object()) return Fail(Code::kInvalid, "a label selector is an object");
  std::vector<LabelRequirement> requirements;
  if (const JsonObject* labels = GetObject(*selector, "matchLabels")) {
    for (const auto& label : *labels) {
      ASSIGN(auto requirement, Make(std::string(label.key()), Op::kEquals, {std::string(StringOr(label.value(), ""))}));
      requirements.push_back(std::move(requirement));
    }
  }
  if (const JsonArray* expressions = GetArray(*selector, "matchExpressions")) {
    for (const Json& expression : *expressions) {
      ASSIGN(auto requirement, FromExpression(expression));
      requirements.push_back(std::move(requirement));
    }
  }
  return LabelSelector(std::move(requirements));
}

LabelSelector LabelSelector::Of(const std::map<std::string, std::string>& labels) {
  std::vector<LabelRequirement> requirements;
  for (const auto& [key, value] : labels) requirements.push_back({key, Op::kEquals, {value}});
  return LabelSelector(std::move(requirements));
}

LabelSelector LabelSelector::Nothing() {
  LabelSelector out;
  out.nothing_ = true;
  return out;
}

bool LabelSelector::Matches(const JsonObject* labels) const {
  return MatchesBy([&](std::string_view key) -> std::optional<std::string_view> {
    const Json* value = labels == nullptr ? nullptr : labels->if_contains(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return AsView(value->get_string());
  });
}

bool LabelSelector::Matches(const std::map<std::string, std::string>& labels) const {
  return MatchesBy([&](const std::string& key) -> std::optional<std::string_view> {
    const auto it = labels.find(key);
    if (it == labels.end()) return std::nullopt;
    return it->second;
  });
}

std::string LabelSelector::ToString() const {
  std::vector<std::string> parts;
  for (const LabelRequirement& requirement : requirements_) parts.push_back(requirement.ToString());
  return Join(parts, ",");
}

}  // namespace gpuop::data
