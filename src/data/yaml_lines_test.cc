#include "data/yaml_lines.h"

#include <gtest/gtest.h>

namespace gpuop::data {
namespace {

constexpr std::string_view kText = R"(# a comment
name: x
gpus:
- model: a   # line 4
  numa: [0,
         1]
-
  model: b
  pci: {
    first: 1,
    second: 2}
labels:
  a.b/c: d
)";

TEST(YamlLinesTest, AFieldIsFoundByItsPath) {
  EXPECT_EQ(LineOf(kText, "name"), 2U);
  EXPECT_EQ(LineOf(kText, "gpus"), 3U);
  EXPECT_EQ(LineOf(kText, "gpus[0].model"), 4U);
  EXPECT_EQ(LineOf(kText, "gpus[0].numa[1]"), 6U);
  EXPECT_EQ(LineOf(kText, "gpus[1].model"), 8U);
  EXPECT_EQ(LineOf(kText, "gpus[1].pci.second"), 11U);
  EXPECT_EQ(LineOf(kText, "labels[a.b/c]"), 13U);
}

TEST(YamlLinesTest, WhatIsMissingIsLookedForWhereItWouldStand) {
  EXPECT_EQ(LineOf(kText, "gpus[1].count"), 8U);
  EXPECT_EQ(LineOf(kText, "gpus[7]"), 3U);
  EXPECT_EQ(LineOf(kText, "host.kernel"), 1U);
  EXPECT_EQ(LineOf("", "a"), 1U);
  EXPECT_EQ(LineOf("a: [", "a"), 1U);
}

}  // namespace
}  // namespace gpuop::data
