#include <ranges>

#include "base/text.h"
#include "operands/nfd/rules/template_tree.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::size_t kMaxOutput = 64U << 10U;
constexpr int kMaxSteps = 100'000;

/// One execution. Values are small: they are copied.
class Run {
 public:
  explicit Run(const data::Json& data) { variables_.emplace_back("$", data); }

  Result<> Nodes(const std::vector<Template::Node>& nodes, const data::Json& dot) {
    for (const Template::Node& node : nodes) TRY(One(node, dot));
    return {};
  }
  std::string Take() && { return std::move(out_); }

 private:
  using Node = Template::Node;
  using Operand = TemplateOperand;

  Result<> One(const Node& node, const data::Json& dot) {
    if (++steps_ > kMaxSteps) return Fail(Code::kTooLarge, "the template takes more than 100,000 steps");
    if (node.kind == Node::Kind::kText) return Print(node.text);
    if (node.kind == Node::Kind::kList) return Nodes(node.body, dot);
    auto value = Value(node.pipeline.value, dot);
    if (!value) return std::unexpected(std::move(value).error().During("line " + std::to_string(node.line)));
    if (node.kind == Node::Kind::kAction) {
      if (node.pipeline.variables.empty()) return Print(TemplateText(*value));
      return Set(node.pipeline, *std::move(value));
    }
    const std::size_t scope = variables_.size();
    auto done = node.kind == Node::Kind::kRange ? Range(node, *value, dot) : Branch(node, *value, dot);
    variables_.resize(scope);
    return done;
  }

  Result<> Branch(const Node& node, const data::Json& value, const data::Json& dot) {
    if (!node.pipeline.variables.empty()) TRY(Set(node.pipeline, value));
    if (!TemplateTruth(value)) return Nodes(node.otherwise, dot);
    return Nodes(node.body, node.kind == Node::Kind::kWith ? value : dot);
  }

  Result<> Range(const Node& node, const data::Json& value, const data::Json& dot) {
    std::vector<std::pair<data::Json, data::Json>> items;
    if (const auto* list = value.if_array()) {
      for (std::size_t i = 0; i < list->size(); ++i) items.emplace_back(static_cast<std::int64_t>(i), (*list)[i]);
    } else if (const auto* map = value.if_object()) {
      std::map<std::string, const data::Json*> sorted;
      for (const auto& member : *map) sorted[std::string(member.key())] = &member.value();
      for (const auto& [key, item] : sorted) items.emplace_back(key, *item);
    } else if (const auto* count = value.if_int64()) {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(*count, kMaxSteps - steps_ + 1); ++i)
        items.emplace_back(i, i);
    } else if (!value.is_null()) {
      return Fail(Code::kInvalid,
                  "line " + std::to_string(node.line) + ": range over " + std::string(data::KindName(value)));
    }
    if (items.empty()) return Nodes(node.otherwise, dot);
    for (const auto& [key, item] : items) {
      if (++steps_ > kMaxSteps) return Fail(Code::kTooLarge, "the template takes more than 100,000 steps");
      const std::size_t scope = variables_.size();
      const auto& names = node.pipeline.variables;
      if (names.size() == 2) variables_.emplace_back(names[0], key);
      if (!names.empty()) variables_.emplace_back(names.back(), item);
      TRY(Nodes(node.body, item));
      variables_.resize(scope);
    }
    return {};
  }

  Result<> Print(std::string_view text) {
    if (out_.size() + text.size() > kMaxOutput) return Fail(Code::kTooLarge, "the template makes more than 64 KiB");
    out_ += text;
    return {};
  }

  Result<> Set(const TemplatePipeline& pipeline, data::Json value) {
    if (!pipeline.assigns) {
      variables_.emplace_back(pipeline.variables[0], std::move(value));
      return {};
    }
    data::Json* const variable = Find(pipeline.variables[0]);
    if (variable == nullptr) return Fail(Code::kInvalid, "variable " + pipeline.variables[0] + " was not declared");
    *variable = std::move(value);
    return {};
  }

  data::Json* Find(std::string_view name) {
    for (auto& [known, value] : variables_ | std::views::reverse)
      if (known == name) return &value;
    return nullptr;
  }

  Result<data::Json> Value(const Operand& operand, const data::Json& dot) {
    if (++steps_ > kMaxSteps) return Fail(Code::kTooLarge, "the template takes more than 100,000 steps");
    data::Json value;
    switch (operand.kind) {
      case Operand::Kind::kDot: value = dot; break;
      case Operand::Kind::kLiteral: value = operand.literal; break;
      case Operand::Kind::kVariable: {
        const data::Json* const variable = Find(operand.name);
        if (variable == nullptr) return Fail(Code::kInvalid, "variable " + operand.name + " was not declared");
        value = *variable;
        break;
      }
      case Operand::Kind::kFunction: {
        ASSIGN(value, Call(operand, nullptr, dot));
        break;
      }
      case Operand::Kind::kPipeline: {
        ASSIGN(value, Pipeline(operand, dot));
        break;
      }
    }
    for (const std::string& field : operand.fields) {
      const auto* object = value.if_object();
      const data::Json* member = object == nullptr ? nullptr : object->if_contains(field);
      if (member == nullptr)
        return Fail(Code::kInvalid, object == nullptr ? "field ." + field + " of " + std::string(data::KindName(value))
                                                      : "there is no field ." + field);
      value = data::Json(*member);
    }
    return value;
  }

  Result<data::Json> Pipeline(const Operand& pipeline, const data::Json& dot) {
    ASSIGN(data::Json value, Value(pipeline.children.front(), dot));
    for (const Operand& command : pipeline.children | std::views::drop(1)) {
      ASSIGN(value, Call(command, &value, dot));
    }
    return value;
  }

  /// `last`, if there is one, is what came through the pipe.
  Result<data::Json> Call(const Operand& call, const data::Json* last, const data::Json& dot) {
    std::vector<data::Json> args;
    const bool logic = call.name == "and" || call.name == "or";
    for (const Operand& argument : call.children) {
      ASSIGN(args.emplace_back(), Value(argument, dot));
      // What decides ends the evaluation, as in Go.
      if (logic && TemplateTruth(args.back()) == (call.name == "or")) return args.back();
    }
    if (last != nullptr) args.push_back(*last);
    return CallTemplateFunction(call.name, args);
  }

  std::vector<std::pair<std::string, data::Json>> variables_;
  std::string out_;
  int steps_ = 0;
};

}  // namespace

Result<std::string> Template::Execute(const data::Json& data) const {
  Run run(data);
  TRY(run.Nodes(root_->body, data));
  return std::move(run).Take();
}

}  // namespace gpuop::operands::nfd
