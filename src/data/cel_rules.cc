#include "data/cel_rules.h"

#include <boost/json.hpp>

#include "base/text.h"

namespace gpuop::data {
namespace {

using Kind = FieldError::Kind;

/// What all rules on one object may cost together: Kubernetes' figure.
constexpr std::uint64_t kBudget = 10'000'000;

std::string_view TypeName(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  return value.is_double() ? "number" : "integer";
}

Kind KindOf(std::string_view reason) {
  if (reason == "FieldValueForbidden") return Kind::kForbidden;
  if (reason == "FieldValueRequired") return Kind::kRequired;
  if (reason == "FieldValueDuplicate") return Kind::kDuplicate;
  return Kind::kInvalid;
}

std::string RuleName(const CelRule& rule) { return rule.message.empty() ? rule.rule : rule.message; }

/// The text before a rule is trimmed as the API server trims it.
std::string MessageOf(const CelRule& rule) {
  return rule.message.empty() ? "failed rule: " + std::string(Trim(rule.rule)) : std::string(Trim(rule.message));
}

}  // namespace

const Json* Counterpart(const Json& item, const JsonArray* old, const Schema& list) {
  if (old == nullptr || list.list_type != ListType::kMap || !item.is_object()) return nullptr;
  for (const Json& candidate : *old) {
    if (!candidate.is_object()) continue;
    const bool same = std::ranges::all_of(list.list_keys, [&](const std::string& key) {
      const Json* a = item.get_object().if_contains(key);
      const Json* b = candidate.get_object().if_contains(key);
      return a != nullptr && b != nullptr ? JsonEqual(*a, *b) : a == b;
    });
    if (same) return &candidate;
  }
  return nullptr;
}

/// One walk over a value with what is left of the budget.
struct CelRules::Run {
  const CelRules& rules;
  std::vector<FieldError>& errors;
  std::uint64_t budget = kBudget;
  bool over = false;

  void Value(const Json& value, const Json* old, const Schema* schema, const Path& path) {
    if (schema == nullptr || value.is_null() || over) return;
    if (const Constraints* constraints = schema->constraints.get()) Rules(value, old, *constraints, path);
    if (const JsonObject* object = value.if_object()) {
      const JsonObject* old_object = old == nullptr ? nullptr : old->if_object();
      for (const auto& member : *object) {
        const Json* old_member = old_object == nullptr ? nullptr : old_object->if_contains(member.key());
        if (const Property* property = schema->Find(member.key())) {
          Value(member.value(), old_member, property->schema.get(), path.Child(member.key()));
        } else {
          Value(member.value(), old_member, schema->values.get(), path.Key(member.key()));
        }
      }
    } else if (const JsonArray* array = value.if_array()) {
      const JsonArray* old_array = old == nullptr ? nullptr : old->if_array();
      for (std::size_t i = 0; i < array->size(); ++i)
        Value((*array)[i], Counterpart((*array)[i], old_array, *schema), schema->items.get(), path.Index(i));
    }
  }

  void Rules(const Json& value, const Json* old, const Constraints& constraints, const Path& path) {
    const auto it = rules.rules_.find(&constraints);
    if (it == rules.rules_.end()) return;
    const bool same = old != nullptr && JsonEqual(value, *old);
    for (std::size_t i = 0; i < it->second.size() && !over; ++i) {
      const Rule& rule = it->second[i];
      if (!same || !rule.program || rule.program->UsesOldSelf()) One(value, old, constraints.rules[i], rule, path);
    }
  }

  void One(const Json& value, const Json* old, const CelRule& rule, const Rule& compiled, const Path& path) {
    const std::string place = PathText(path);
    const Json type(TypeName(value));
    if (!compiled.program) {
      errors.push_back(
          FieldError::Invalid(place, type, "rule compile error: compilation failed: " + compiled.program.error().text));
      return;
    }
    if (compiled.program->UsesOldSelf() && old == nullptr && !rule.optional_old_self) return;
    const CelProgram::Input input{&value, old, rule.optional_old_self};
    const auto result = Evaluate(*compiled.program, input);
    if (!result) {
      errors.push_back(FieldError::Invalid(place, type, Explain(result.error(), rule)));
      return;
    }
    if (*result == true) return;
    Report(value, rule, compiled, input, path);
  }

  Result<Json> Evaluate(const CelProgram& program, const CelProgram::Input& input) {
    std::uint64_t cost = 0;
    auto result = program.Evaluate(input, std::min(budget, CelProgram::kCostLimit), &cost);
    budget -= std::min(budget, cost);
    if (!result && result.error().code == Code::kTooLarge) over = true;
    return result;
  }

  static std::string Explain(const Error& error, const CelRule& rule) {
    if (error.code == Code::kTooLarge)
      return "'" + error.text +
             "': no further validation rules will be run due to call cost exceeds limit for rule: " + RuleName(rule);
    if (error.text.starts_with("no such overload"))
      return "'" + error.text +
             "': call arguments did not match a supported operator, function or macro signature for rule: " +
             RuleName(rule);
    return error.text + " evaluating rule: " + RuleName(rule);
  }

  void Report(const Json& value, const CelRule& rule, const Rule& compiled, const CelProgram::Input& input,
              const Path& path) {
    std::string detail = MessageOf(rule);
    if (compiled.message) {
      const auto text = Evaluate(*compiled.message, input);
      // An empty or many-lined message is as good as none.
      if (text && text->is_string() && !Trim(AsView(text->get_string())).empty() &&
          !AsView(text->get_string()).contains('\n'))
        detail = AsView(text->get_string());
    }
    std::string place = path.ToString();
    if (!rule.field_path.empty()) place += rule.field_path;  // it begins with a dot or a bracket
    if (place.starts_with('.')) place.erase(0, 1);
    if (place.empty()) place = "<nil>";
    const Kind kind = KindOf(rule.reason);
    const bool shown = !value.is_structured() && (kind == Kind::kInvalid || kind == Kind::kDuplicate);
    if (kind == Kind::kDuplicate) detail.clear();
    errors.push_back({kind, std::move(place), std::move(detail), shown ? std::optional(value) : std::nullopt});
  }

  static std::string PathText(const Path& path) {
    std::string text = path.ToString();
    return text.empty() ? "<nil>" : text;
  }
};

std::vector<std::string> CelRules::Add(const Constraints& constraints) {
  std::vector<std::string> problems;
  if (constraints.rules.empty()) return problems;
  std::vector<Rule>& compiled = rules_[&constraints];
  for (const CelRule& rule : constraints.rules) {
    Rule next{CelProgram::Compile(rule.rule), std::nullopt};
    if (!next.program) problems.push_back("compilation failed: " + next.program.error().text);
    if (!rule.message_expression.empty()) {
      auto message = CelProgram::Compile(rule.message_expression);
      if (message) {
        next.message = *std::move(message);
      } else {
        problems.push_back("messageExpression compilation failed: " + message.error().text);
      }
    }
    compiled.push_back(std::move(next));
  }
  return problems;
}

void CelRules::Check(const Json& value, const Json* old, const Schema& schema, std::vector<FieldError>& errors) const {
  if (rules_.empty()) return;
  Run{*this, errors}.Value(value, old, &schema, Path());
}

}  // namespace gpuop::data
