#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "data/cel.h"
#include "data/field_error.h"
#include "data/json.h"
#include "data/path.h"
#include "data/schema.h"

namespace gpuop::data {

/// The former value of a list's item: lists that are maps are matched by key, others have no history.
const Json* Counterpart(const Json& item, const JsonArray* old, const Schema& list);

/// The x-kubernetes-validations of a schema, compiled, and their evaluation over a value.
class CelRules {
 public:
  /// Compiles a part's rules; answers what is wrong with them. `constraints` must outlive this object.
  std::vector<std::string> Add(const Constraints& constraints);
  /// Appends what rules say about `value`, which is to replace `old`: with the API server's messages and its limit on
  /// what all rules together may cost. Where nothing has changed only rules that look back are asked.
  void Check(const Json& value, const Json* old, const Schema& schema, std::vector<FieldError>& errors) const;

 private:
  struct Rule {
    Result<CelProgram> program;
    std::optional<CelProgram> message;
  };
  struct Run;
  std::unordered_map<const Constraints*, std::vector<Rule>> rules_;
};

}  // namespace gpuop::data
