// The test binary is also the program that machines are started with, and the one that their Pods run.

#include <gtest/gtest.h>

#include <span>
#include <string_view>

#include "operands/device_plugin/command.h"
#include "sim/node/engine/machine_process.h"

int main(int argc, char** argv) {
  const std::span args(argv, static_cast<std::size_t>(argc));
  if (std::string_view(args[0]).ends_with("nvidia-device-plugin"))
    return gpuop::operands::device_plugin::RunDevicePlugin(args.subspan(1));
  if (argc > 1 && args[1] == std::string_view(gpuop::sim::node::kMachineApplet))
    return gpuop::sim::node::RunMachine(args.subspan(2));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
