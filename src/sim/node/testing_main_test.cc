// The test binary is also the program that machines are started with.

#include <gtest/gtest.h>

#include <cstring>
#include <span>

#include "sim/node/engine/machine_process.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], gpuop::sim::node::kMachineApplet) == 0)
    return gpuop::sim::node::RunMachine(std::span(argv, static_cast<std::size_t>(argc)).subspan(2));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
