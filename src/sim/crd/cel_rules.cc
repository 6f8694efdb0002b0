#include "sim/crd/cel_rules.h"

#include <algorithm>

#include "base/text.h"
#include "data/cel.h"
#include "data/json.h"
#include "data/path.h"
#include "sim/crd/structural.h"
#include "sim/crd/version_rules.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using data::Path;

const std::vector<std::string> kReasons = {"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid",
                                           "FieldValueRequired"};

/// The rule as the server's messages print it.
std::string Printed(const json::object& rule) {
  const auto or_null = [&](const char* field) {
    const json::value* v = Peek(rule, {field});
    return v == nullptr ? json::value(nullptr) : *v;
  };
  return data::ToJson(json::object{{"Rule", PeekString(rule, {"rule"})},
                                   {"Message", PeekString(rule, {"message"})},
                                   {"MessageExpression", PeekString(rule, {"messageExpression"})},
                                   {"Reason", or_null("reason")},
                                   {"FieldPath", PeekString(rule, {"fieldPath"})},
                                   {"OptionalOldSelf", or_null("optionalOldSelf")}});
}

class Rules {
 public:
  explicit Rules(std::vector<FieldError>& errors) : errors_(errors) {}

  /// `loose` is the nearest list whose items cannot be told apart from one write to the next; empty when there is none.
  void Check(const json::object& schema, const Path& path, const std::string& loose) {
    if (schema.empty()) return;
    const json::array& rules = PeekArray(schema, {"x-kubernetes-validations"});
    const Path at = path.Child("x-kubernetes-validations");
    for (std::size_t i = 0; i < rules.size(); ++i) CheckRule(AsObject(&rules[i]), schema, at.Index(i), loose);
    const Path properties = path.Child("properties");
    for (const auto& [name, value] : PeekObject(schema, {"properties"}))
      Check(AsObject(&value), properties.Key(name), loose);
    Check(PeekObject(schema, {"additionalProperties"}), path.Child("additionalProperties"), loose);
    if (const json::value* items = Peek(schema, {"items"}); items != nullptr) {
      const bool keyed = PeekString(schema, {"x-kubernetes-list-type"}) == "map";
      Check(AsObject(items), path.Child("items"), keyed || !loose.empty() ? loose : path.ToString());
    }
  }

 private:
  void Add(FieldError e) { errors_.push_back(std::move(e)); }

  void CheckRule(const json::object& rule, const json::object& schema, const Path& path, const std::string& loose) {
    const auto text = PeekString(rule, {"rule"}), message = PeekString(rule, {"message"});
    if (Trim(text).empty()) return Add(RequiredField(path.Child("rule").ToString(), "rule is not specified"));
    if (text.contains('\n') && message.empty())
      Add(RequiredField(path.Child("message").ToString(), "message must be specified if rule contains line breaks"));
    if (message.contains('\n'))
      Add(InvalidField(path.Child("message").ToString(), Quote(message), "message must not contain line breaks"));
    const auto reason = PeekString(rule, {"reason"}), field = PeekString(rule, {"fieldPath"});
    if (!reason.empty() && std::ranges::find(kReasons, reason) == kReasons.end())
      Add(UnsupportedValue(path.Child("reason").ToString(), reason, kReasons));
    if (!field.empty() && !field.contains('[') && SchemaAt(schema, field) == nullptr)
      Add(InvalidField(path.Child("fieldPath").ToString(), Quote(field), "must be a valid path"));
    Compile(rule, path, loose);
  }

  void Compile(const json::object& rule, const Path& path, const std::string& loose) {
    const auto text = PeekString(rule, {"rule"});
    const auto program = data::CelProgram::Compile(text);
    if (!program)
      return Add(
          InvalidField(path.Child("rule").ToString(), Printed(rule), "compilation failed: " + program.error().text));
    if (program->UsesOldSelf() && !loose.empty())
      Add(InvalidField(path.Child("rule").ToString(), Quote(text),
                       "oldSelf cannot be used on the uncorrelatable portion of the schema within " + loose));
    if (PeekBool(rule, {"optionalOldSelf"}) && !program->UsesOldSelf())
      Add(InvalidField(path.Child("optionalOldSelf").ToString(), "true",
                       "may not be set if oldSelf is not used in rule"));
    const auto expression = PeekString(rule, {"messageExpression"});
    if (expression.empty()) return;
    if (const auto compiled = data::CelProgram::Compile(expression); !compiled)
      Add(InvalidField(path.Child("messageExpression").ToString(), Printed(rule),
                       "messageExpression compilation failed: " + compiled.error().text));
  }

  std::vector<FieldError>& errors_;
};

}  // namespace

void CheckCelRules(const json::object& schema, const std::string& path, std::vector<FieldError>& errors) {
  Rules(errors).Check(schema, Path(path), "");
}

}  // namespace gpuop::sim
