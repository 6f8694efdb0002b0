#pragma once

#include "e2e/api/session.h"

namespace gpuop::e2e {

// One list per concern; AllScenarios joins them.
std::vector<Scenario> ObjectScenarios();
std::vector<Scenario> ListAndWatchScenarios();
std::vector<Scenario> PatchScenarios();
std::vector<Scenario> ApplyScenarios();
std::vector<Scenario> DeleteScenarios();
std::vector<Scenario> CrdScenarios();
std::vector<Scenario> ValidationScenarios();
std::vector<Scenario> DefaultScenarios();
std::vector<Scenario> AccessScenarios();
std::vector<Scenario> TableScenarios();
std::vector<Scenario> GroupScenarios();

/// A Pod body that the server accepts.
std::string PodBody(const std::string& name, const std::string& extra_metadata = "");
/// A Deployment body with one container.
std::string DeploymentBody(const std::string& name, int replicas, const std::string& image = "registry.test/app:1");
/// Creates the service account that Pods of the scenario's namespace need.
void AllowPods(Session& s);

}  // namespace gpuop::e2e
