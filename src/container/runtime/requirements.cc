#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "container/runtime/image.h"
#include "container/version.h"

namespace gpuop::container {
namespace {

struct Term {
  std::string property, op, value;
};

Result<Term> ReadTerm(std::string_view text) {
  // Longer ones first: ">=" begins with ">".
  constexpr std::array<std::string_view, 6> kOperators = {"!=", "<=", ">=", "=", "<", ">"};
  const std::size_t at = text.find_first_of("!<>=");
  if (at == std::string_view::npos || at == 0)
    return Fail(Code::kInvalid, "requirement " + Quote(text) + " has no property and operator");
  for (const std::string_view op : kOperators)
    if (text.substr(at).starts_with(op))
      return Term{std::string(text.substr(0, at)), std::string(op), std::string(text.substr(at + op.size()))};
  return Fail(Code::kInvalid, "requirement " + Quote(text) + " has no operator");
}

bool Holds(std::strong_ordering order, std::string_view op) {
  if (op == "=") return order == 0;
  if (op == "!=") return order != 0;
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  return op == ">" ? order > 0 : order >= 0;
}

Result<bool> TermHolds(std::string_view text, const Properties& properties) {
  ASSIGN(const Term term, ReadTerm(text));
  constexpr std::array<std::string_view, 3> kVersions = {"cuda", "arch", "driver"};
  const bool version = std::ranges::find(kVersions, term.property) != kVersions.end();
  const auto wanted = ParseVersion(term.value);
  if (version && !wanted)
    return Fail(Code::kInvalid, "requirement " + Quote(text) + ": " + Quote(term.value) + " is no version");
  const auto known = std::ranges::find(properties, term.property, [](const auto& p) { return p.first; });
  if (known == properties.end()) return true;
  if (!version) return Holds(known->second <=> term.value, term.op);
  const auto have = ParseVersion(known->second);
  return have ? Holds(CompareVersions(*have, *wanted), term.op) : true;
}

Result<bool> ExpressionHolds(std::string_view expression, const Properties& properties) {
  bool any = false, said = false;
  for (const std::string_view alternative : Split(expression, ' ')) {
    if (alternative.empty()) continue;
    said = true;
    bool all = true;
    for (const std::string_view term : Split(alternative, ',')) {
      ASSIGN(const bool holds, TermHolds(term, properties));
      all = all && holds;
    }
    any = any || all;
  }
  return any || !said;
}

}  // namespace

Result<std::string> MajorMinor(std::string_view cuda_version) {
  std::string_view text = cuda_version;
  if (text.starts_with('v')) text.remove_prefix(1);
  const auto version = ParseVersion(text);
  const auto small = [](std::uint64_t part) { return part <= std::numeric_limits<std::uint32_t>::max(); };
  if (!version || version->size() > 3 || !std::ranges::all_of(*version, small))
    return Fail(Code::kInvalid, "CUDA_VERSION " + Quote(cuda_version) + " is no version");
  return std::to_string((*version)[0]) + "." + std::to_string(version->size() > 1 ? (*version)[1] : 0);
}

Result<> CheckRequirements(const std::vector<std::string>& requirements, const Properties& properties) {
  for (const std::string& expression : requirements) {
    ASSIGN(const bool holds, ExpressionHolds(expression, properties));
    if (!holds) return Fail(Code::kUnsupported, "unsatisfied condition: " + expression);
  }
  return {};
}

}  // namespace gpuop::container
