#pragma once

#include <span>

namespace gpuop::operands::device_plugin {

/// The program nvidia-device-plugin. Exit status: 0 after a signal, 1 when it cannot start, be it for its settings.
int RunDevicePlugin(std::span<char* const> args);

}  // namespace gpuop::operands::device_plugin
