#pragma once

#include <string>

#include "api/chain.h"
#include "base/result.h"

namespace gpuop::operands::validator {

/// A finding as programs of the validator hand it to each other: {"reason": "GPULost", "evidence": "…"}.
struct FindingText {
  std::string reason = {}, evidence = {};

  template <class V>
  void Visit(V& v) {
    v("reason", reason, {.required = true});
    v("evidence", evidence);
  }
};

FindingText ToText(const api::Finding& finding);
/// kInvalid: there is no such reason.
Result<api::Finding> FromText(FindingText text);

}  // namespace gpuop::operands::validator
