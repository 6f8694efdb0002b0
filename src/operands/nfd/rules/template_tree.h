#pragma once
// A template taken apart, and the functions it may call. For template*.cc.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json.h"
#include "operands/nfd/rules/template.h"

namespace gpuop::operands::nfd {

/// A value, a field of one, or a call.
struct TemplateOperand {
  enum class Kind { kDot, kLiteral, kVariable, kPipeline, kFunction };
  Kind kind = Kind::kDot;
  data::Json literal{};
  /// The variable's name with its $, or the function's.
  std::string name{};
  /// ".a.b" behind it.
  std::vector<std::string> fields{};
  /// In parentheses, or the function's arguments.
  std::vector<TemplateOperand> children{};
};

/// Commands joined by "|"; an empty one has none.
struct TemplatePipeline {
  /// "$x :=" or "$i, $x :=" (range only) before it; `assigns` for "=".
  std::vector<std::string> variables{};
  bool assigns = false;
  /// One operand (kPipeline's children are commands).
  TemplateOperand value{};
};

struct Template::Node {
  enum class Kind { kList, kText, kAction, kIf, kRange, kWith };
  Kind kind = Kind::kList;
  std::size_t line = 1;
  std::string text{};
  TemplatePipeline pipeline{};
  std::vector<Node> body{}, otherwise{};
};

/// Parses one action's inside ("range $i, $x := .pci.device" without the keyword).
Result<TemplatePipeline> ParseTemplatePipeline(std::string_view text);

/// Go's truth: not false, 0, "", null, nor an empty list or map.
bool TemplateTruth(const data::Json& value);
/// As Go prints it with %v.
std::string TemplateText(const data::Json& value);
/// Whether there is a function of that name.
bool KnowsTemplateFunction(std::string_view name);
/// Calls it. kInvalid for arguments that do not fit.
Result<data::Json> CallTemplateFunction(std::string_view name, std::span<const data::Json> args);

}  // namespace gpuop::operands::nfd
