#include "e2e/api/scenarios.h"

#include <iterator>

namespace gpuop::e2e {

std::vector<Scenario> AllScenarios() {
  std::vector<Scenario> all;
  for (auto list :
       {ObjectScenarios, ListAndWatchScenarios, PatchScenarios, ApplyScenarios, DeleteScenarios, CrdScenarios,
        ValidationScenarios, DefaultScenarios, AccessScenarios, TableScenarios, GroupScenarios}) {
    std::ranges::copy(list(), std::back_inserter(all));
  }
  return all;
}

std::string PodBody(const std::string& name, const std::string& extra_metadata) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + "\"" + extra_metadata +
         R"(},"spec":{"automountServiceAccountToken":false,"containers":[{"name":"main","image":"registry.test/app:1"}]}})";
}

std::string DeploymentBody(const std::string& name, int replicas, const std::string& image) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name + R"("},"spec":{"replicas":)" +
         std::to_string(replicas) + R"(,"selector":{"matchLabels":{"app":")" + name +
         R"("}},"template":{"metadata":{"labels":{"app":")" + name +
         R"("}},"spec":{"containers":[{"name":"main","image":")" + image + R"("}]}}}})";
}

void AllowPods(Session& s) { s.Quietly("POST", s.Core("serviceaccounts"), R"({"metadata":{"name":"default"}})"); }

}  // namespace gpuop::e2e
