#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/string_map.h"

namespace gpuop::operands::driver_manager {

/// A deploy label's value while its operand is paused: "true" becomes "paused-for-driver-upgrade", any other value gets
/// that word added, "false" and what is paused already stay (toolkit-cdi-validator-driver.md §6.3.2).
std::string PausedValue(std::string_view value);
/// The value before.
std::string ResumedValue(std::string_view value);

/// The labels of a node by which its operands are chosen, the driver's own aside; `custom` is one more, if not empty.
std::vector<std::string> DeployLabels(const std::string& custom);

/// Which labels must change, and to what. A label that the node does not have is not made.
using LabelChanges = std::map<std::string, std::string>;
LabelChanges PlanPause(const kube::StringMap& labels, const std::string& custom);
LabelChanges PlanResume(const kube::StringMap& labels, const std::string& custom);

/// The values of label `app` of the Pods that go when their labels are paused.
const std::vector<std::string>& PausedApps();

}  // namespace gpuop::operands::driver_manager
