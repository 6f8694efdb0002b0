#pragma once
// How a device plugin is asked to tell people of its node's GPUs (docs/device-plugin.md).

#include <string_view>

namespace gpuop::operands::device_plugin {

inline constexpr std::string_view kNewsVariable = "GPU_CONDITION";
/// The type of the Node's condition by which it tells.
inline constexpr const char* kNewsCondition = "gpu-operator.dev/GPUsHealthy";

/// Whether a value of the variable asks for it.
constexpr bool AsksForNews(std::string_view value) { return !value.empty() && value != "false"; }

}  // namespace gpuop::operands::device_plugin
