#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/cel.h"
#include "data/cel/value.h"

namespace gpuop::data {

/// A part of an expression.
struct CelProgram::Node {
  enum class Kind : std::uint8_t {
    kLiteral,    ///< `literal`
    kName,       ///< `text`: self, oldSelf, a macro's variable, a type
    kSelect,     ///< args[0].text; `optional` for .?
    kHas,        ///< has(args[0].text)
    kIndex,      ///< args[0][args[1]]; `optional` for [?
    kCall,       ///< call(args…); a receiver is args[0]
    kAnd,        ///< all of args
    kOr,         ///< any of args
    kCondition,  ///< args[0] ? args[1] : args[2]
    kList,
    kMap,    ///< args alternate keys and values
    kMacro,  ///< args[0].text(variable, args[1][, args[2]])
  };
  Kind kind = Kind::kLiteral;
  bool optional = false;
  int depth = 1;
  std::string text, variable;
  cel::Value literal;
  /// What a call calls, found once.
  cel::Callable call = nullptr;
  std::vector<std::unique_ptr<Node>> args;
};

namespace cel {
using Node = CelProgram::Node;
using NodePtr = std::unique_ptr<Node>;

/// Builds the tree; errors as CelProgram::Compile promises.
Result<NodePtr> Parse(std::string_view text);

/// How a function is written: f(x), x.f(), or as an operator.
enum class Form : std::uint8_t { kFunction, kMethod, kOperator };
/// The function of a name, form and number of arguments, the receiver counted; null when there is none.
Callable FindFunction(std::string_view name, std::size_t args, Form form);

}  // namespace cel
}  // namespace gpuop::data
