#include "operands/nfd/rules/rule.h"

#include "base/text.h"
#include "data/reader.h"

namespace gpuop::operands::nfd {
namespace {

TextMap Copy(const std::map<std::string, std::string>& map) { return {map.begin(), map.end()}; }

void Overlay(TextMap& under, TextMap over) {
  for (auto& [key, value] : over) under.insert_or_assign(key, std::move(value));
}

MatcherList Matchers(const std::vector<api::NfdMatch>& specs) { return {specs.begin(), specs.end()}; }

/// {domain: {name: [elements]}}.
data::Json TemplateData(const Matched& matched) {
  data::JsonObject out;
  for (const auto& [feature, elements] : matched) {
    const auto cut = Cut(feature, '.');
    if (!cut) continue;
    data::Json& domain = out[cut->first];
    if (!domain.is_object()) domain = data::JsonObject();
    data::JsonArray list;
    for (const TextMap& element : elements) list.push_back(ToObject(element));
    domain.get_object()[cut->second] = std::move(list);
  }
  return out;
}

/// Lines "key=value"; a line without "=" is a key with the value "true".
void AddLines(std::string_view text, TextMap& out) {
  for (std::string_view line : Split(text, '\n')) {
    line = Trim(line);
    if (line.empty()) continue;
    const auto cut = Cut(line, '=');
    out.insert_or_assign(std::string(Trim(cut ? cut->first : line)), cut ? std::string(Trim(cut->second)) : "true");
  }
}

}  // namespace

void RuleOutput::Add(RuleOutput other) {
  Overlay(labels, std::move(other.labels));
  Overlay(annotations, std::move(other.annotations));
  Overlay(extended_resources, std::move(other.extended_resources));
  Overlay(vars, std::move(other.vars));
  for (api::NfdTaint& taint : other.taints) taints.push_back(std::move(taint));
}

Rule::Rule(const api::NfdRuleBase& spec) : name_(spec.name), match_features_(Matchers(spec.match_features)) {
  fixed_.vars = Copy(spec.vars);
  for (const api::NfdMatchAny& group : spec.match_any) match_any_.push_back(Matchers(group.features));
  if (spec.vars_template.empty()) return;
  auto parsed = Template::Parse(spec.vars_template);
  if (parsed)
    vars_template_ = *std::move(parsed);
  else
    fault_ = std::move(parsed).error().During("varsTemplate");
}

Rule::Rule(const api::NfdRule& spec) : Rule(static_cast<const api::NfdRuleBase&>(spec)) {
  fixed_.labels = Copy(spec.labels);
  fixed_.annotations = Copy(spec.annotations);
  fixed_.extended_resources = Copy(spec.extended_resources);
  fixed_.taints = spec.taints;
  if (spec.labels_template.empty()) return;
  auto parsed = Template::Parse(spec.labels_template);
  if (parsed)
    labels_template_ = *std::move(parsed);
  else if (!fault_)
    fault_ = std::move(parsed).error().During("labelsTemplate");
}

std::vector<std::string> Rule::dynamic_values() const {
  std::vector<std::string> out;
  for (const TextMap* map : {&fixed_.labels, &fixed_.extended_resources})
    for (const auto& [key, value] : *map)
      if (value.starts_with('@')) out.push_back(value);
  return out;
}

Result<> Rule::Expand(const Matched& matched, RuleOutput& out) const {
  if (!has_templates()) return {};
  const data::Json data = TemplateData(matched);
  if (labels_template_) {
    auto text = labels_template_->Execute(data);
    if (!text) return std::unexpected(std::move(text).error().During("labelsTemplate"));
    AddLines(*text, out.labels);
  }
  if (vars_template_) {
    auto text = vars_template_->Execute(data);
    if (!text) return std::unexpected(std::move(text).error().During("varsTemplate"));
    AddLines(*text, out.vars);
  }
  return {};
}

Result<std::optional<RuleOutput>> Rule::Apply(const Features& features) const {
  if (fault_) return std::unexpected(*fault_);
  RuleOutput out;
  bool any = match_any_.empty();
  for (const MatcherList& group : match_any_) {
    ASSIGN(const auto matched, MatchAll(group, features));
    if (!matched) continue;
    any = true;
    if (!has_templates()) break;
    TRY(Expand(*matched, out));
  }
  if (!any) return std::optional<RuleOutput>();
  if (!match_features_.empty()) {
    ASSIGN(const auto matched, MatchAll(match_features_, features));
    if (!matched) return std::optional<RuleOutput>();
    TRY(Expand(*matched, out));
  } else if (match_any_.empty()) {
    TRY(Expand({}, out));
  }
  // What is written out counts before what a template makes.
  out.Add(fixed_);
  return std::optional(std::move(out));
}

RuleList ReadRules(std::string source, const data::Json& rules) {
  RuleList out{std::move(source), {}};
  const auto* list = rules.if_array();
  if (list == nullptr) return out;
  for (const data::Json& rule : *list) {
    auto spec = data::ReadAs<api::NfdRule>(rule);
    if (spec)
      out.rules.emplace_back(*spec);
    else
      out.rules.emplace_back(std::string(rule.is_object() ? data::StringOr(rule, "name") : ""), spec.error());
  }
  return out;
}

RulesOutput ApplyRules(const std::vector<const RuleList*>& lists, Features& features) {
  RulesOutput out;
  for (const RuleList* list : lists) {
    for (std::size_t i = 0; i < list->rules.size(); ++i) {
      const Rule& rule = list->rules[i];
      auto applied = rule.Apply(features);
      if (!applied) {
        out.problems.push_back(list->source + ": rule " + std::to_string(i) +
                               (rule.name().empty() ? "" : " (" + rule.name() + ")") + ": " + applied.error().text);
        continue;
      }
      if (!*applied) continue;
      TextMap& matched = features.attributes[std::string(kMatchedFeature)];
      Overlay(matched, (*applied)->labels);
      Overlay(matched, (*applied)->vars);
      out.output.Add(**std::move(applied));
    }
  }
  return out;
}

std::optional<std::pair<std::string_view, std::string_view>> SplitDynamic(std::string_view text) {
  const std::size_t first = text.find('.'), second = text.find('.', first == text.npos ? first : first + 1);
  if (!text.starts_with('@') || second == text.npos) return std::nullopt;
  return std::pair(text.substr(1, second - 1), text.substr(second + 1));
}

Result<std::string> ValueOf(const std::string& text, const Features& features) {
  if (!text.starts_with('@')) return text;
  const auto path = SplitDynamic(text);
  if (!path) return Fail(Code::kInvalid, Quote(text) + " is not of the form @domain.feature.element");
  const auto feature = features.attributes.find(path->first);
  if (feature != features.attributes.end())
    if (const auto it = feature->second.find(path->second); it != feature->second.end()) return it->second;
  return Fail(Code::kInvalid, Quote(text) + " names no attribute of the node");
}

}  // namespace gpuop::operands::nfd
