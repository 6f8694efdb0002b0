#include "operands/prerequisites/manifest.h"

#include <set>

#include "operands/draft.h"

namespace gpuop::operands::prerequisites {

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return !policy.cdi.nri_plugin; }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts&) {
  std::set<std::string> names = {policy.operator_.runtime_class.empty() ? "nvidia" : policy.operator_.runtime_class};
  if (policy.cdi.enabled) names.insert({"nvidia-cdi", "nvidia-legacy"});
  std::vector<Object> out;
  for (const std::string& name : names)
    out.push_back(ToObject(RuntimeClass{
        .meta = {.name = name, .labels = {{"app.kubernetes.io/component", "gpu-operator"}}}, .handler = name}));
  return out;
}

}  // namespace gpuop::operands::prerequisites
