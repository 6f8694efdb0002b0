#pragma once
// Templates of rules: a part of Go's text/template (https://pkg.go.dev/text/template) with the functions that rules
// use.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::operands::nfd {

/// What templates know: text, {{- trimming -}}, comments, pipelines, variables, if, with, range (each with else; if
/// with else if), fields of maps, literals, Go's own comparisons and logic, index, len, print, printf (%s %d %v %q %%),
/// and those functions of sprig that docs/node-feature-discovery.md lists. Anything else is an error that names it and
/// its line. Immutable; copies share.
class Template {
 public:
  /// kInvalid says what is wrong and where; kTooLarge for a text of more than 64 KiB.
  static Result<Template> Parse(std::string_view text);
  /// The text that comes out for `data`. Bounded: at most 64 KiB of output and 100,000 steps, else kTooLarge.
  Result<std::string> Execute(const data::Json& data) const;

  struct Node;

 private:
  explicit Template(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace gpuop::operands::nfd
