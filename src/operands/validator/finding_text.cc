#include "operands/validator/finding_text.h"

namespace gpuop::operands::validator {

FindingText ToText(const api::Finding& finding) {
  return {std::string(api::Find(finding.code).name), finding.evidence};
}

Result<api::Finding> FromText(FindingText text) {
  const api::Reason* const reason = api::FindReason(text.reason);
  if (reason == nullptr) return Fail(Code::kInvalid, "reason: there is none called " + text.reason);
  return api::Finding{reason->code, std::move(text.evidence)};
}

}  // namespace gpuop::operands::validator
