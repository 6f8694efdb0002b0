#include "data/yaml.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

/// The rules that are always there.
constexpr std::string_view kBuiltIn = R"(
- name: rdma.capable
  labels: {rdma.capable: "true"}
  matchFeatures:
  - feature: pci.device
    matchExpressions: {vendor: {op: In, value: ["15b3"]}}
- name: rdma.available
  labels: {rdma.available: "true"}
  matchFeatures:
  - feature: kernel.loadedmodule
    matchExpressions: {ib_uverbs: {op: Exists}, rdma_ucm: {op: Exists}}
)";

const RuleList& BuiltIn() {
  static const RuleList kRules = [] {
    const auto parsed = data::ParseYaml(kBuiltIn);
    return ReadRules("built in", parsed ? *parsed : data::Json());
  }();
  return kRules;
}

}  // namespace

TextMap CustomLabels(const SourceSettings& settings, Features& features, std::vector<std::string>& complaints) {
  std::vector<const RuleList*> lists = {&BuiltIn()};
  for (const RuleList& list : settings.custom) lists.push_back(&list);
  const RulesOutput made = ApplyRules(lists, features);
  complaints.insert(complaints.end(), made.problems.begin(), made.problems.end());
  TextMap out;
  for (const auto& [name, text] : made.output.labels) {
    auto value = ValueOf(text, features);
    if (value)
      out[name] = *std::move(value);
    else
      complaints.push_back("label " + name + ": " + value.error().text);
  }
  return out;
}

}  // namespace gpuop::operands::nfd
