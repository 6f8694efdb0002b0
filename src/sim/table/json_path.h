#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::sim {

/// A JSONPath as printer columns and kubectl use it, without the braces: .a.b, ['a.b'], .a\.b, [0], [-1], [1:3],
/// [0,2], [*], .*, ..name, and filters like [?(@.type=="Ready")] with == != < <= > >=, on literals and paths.
class JsonPath {
 public:
  /// kInvalid says what is wrong with the path.
  static Result<JsonPath> Parse(std::string_view path);

  /// Every value the path leads to, in order; what is missing leads to nothing. The values belong to `root`.
  std::vector<const boost::json::value*> Find(const boost::json::value& root) const;

  struct Step;

 private:
  explicit JsonPath(std::shared_ptr<const std::vector<Step>> steps) : steps_(std::move(steps)) {}

  std::shared_ptr<const std::vector<Step>> steps_;
};

}  // namespace gpuop::sim
