#include "os/heap.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace gpuop::os {
namespace {

/// Kilobytes of files' pages that this process has mapped; 0 where the kernel does not tell.
long MappedKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssFile:")) return std::strtol(line.c_str() + sizeof "RssFile:" - 1, nullptr, 10);
  return 0;
}

constexpr char kConstant[] = "what is constant is there when it is needed";
int written = 7;

TEST(SettleDownTest, CodeThatWasUsedIsLetGoAndThereWhenItIsNeededAgain) {
  const long before = MappedKib();
  if (before == 0) GTEST_SKIP() << "this kernel does not tell what is mapped";
  written = 8;
  SettleDown();
  const long after = MappedKib();
  EXPECT_LT(after, before);
  EXPECT_EQ(written, 8) << "what was written stays";
  EXPECT_EQ(std::string(kConstant).size(), sizeof kConstant - 1);
  EXPECT_EQ(std::stod("2.5") * 2, 5) << "libraries work on";
  SettleDown();
  EXPECT_EQ(std::to_string(written), "8");
}

}  // namespace
}  // namespace gpuop::os
