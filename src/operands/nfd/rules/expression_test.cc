#include "operands/nfd/rules/expression.h"

#include <gtest/gtest.h>

namespace gpuop::operands::nfd {
namespace {

struct Case {
  const char* op;
  std::vector<std::string> values;
  /// nullptr: the element is not there.
  const char* element;
  /// 'T', 'F', or 'E' for an error.
  char want;
  const char* type = "";
};

char Ask(const Case& c) {
  const Expression expression({.op = c.op, .type = c.type, .value = c.values});
  const auto got = expression.Matches(c.element == nullptr ? std::nullopt : std::optional<std::string_view>(c.element));
  return !got ? 'E' : *got ? 'T' : 'F';
}

TEST(ExpressionTest, OperatorsAnswerAsNfdDoes) {
  const Case cases[] = {
      {"", {}, "x", 'T'},
      {"", {}, nullptr, 'T'},
      {"In", {"1", "2", "3"}, "2", 'T'},
      {"In", {"1", "2", "3"}, "4", 'F'},
      {"In", {"1", "2", "3"}, nullptr, 'F'},
      {"NotIn", {"1", "2"}, "3", 'T'},
      {"NotIn", {"1", "2"}, "1", 'F'},
      {"NotIn", {"1", "2"}, nullptr, 'F'},
      {"InRegexp", {"val-[0-9]$"}, "val-1", 'T'},
      {"InRegexp", {"val-[0-9]$"}, "val-12", 'F'},
      {"InRegexp", {"val-[0-9]$", "al-[1-9]"}, "val-12", 'T'},
      {"InRegexp", {"v"}, nullptr, 'F'},
      {"Exists", {}, "", 'T'},
      {"Exists", {}, nullptr, 'F'},
      {"DoesNotExist", {}, "", 'F'},
      {"DoesNotExist", {}, nullptr, 'T'},
      {"Gt", {"-10"}, "-3", 'T'},
      {"Gt", {"2"}, "2", 'F'},
      {"Gt", {"2"}, nullptr, 'F'},
      {"Ge", {"2"}, "2", 'T'},
      {"Ge", {"2"}, "1", 'F'},
      {"Lt", {"2"}, "1", 'T'},
      {"Lt", {"2"}, "2", 'F'},
      {"Le", {"2"}, "2", 'T'},
      {"Le", {"2"}, "3", 'F'},
      {"GtLt", {"1", "10"}, "2", 'T'},
      {"GtLt", {"1", "10"}, "10", 'F'},
      {"GtLt", {"1", "10"}, "1", 'F'},
      {"GeLe", {"1", "10"}, "10", 'T'},
      {"GeLe", {"1", "10"}, "1", 'T'},
      {"GeLe", {"1", "10"}, "11", 'F'},
      {"IsTrue", {}, "true", 'T'},
      {"IsTrue", {}, "yes", 'F'},
      {"IsTrue", {}, "false", 'F'},
      {"IsTrue", {}, nullptr, 'F'},
      {"IsFalse", {}, "false", 'T'},
      {"IsFalse", {}, "2", 'F'},
      {"IsFalse", {}, nullptr, 'F'},
      {"Ge", {"1.10.0"}, "1.10.0-rc1", 'T', "version"},
      {"Lt", {"1.10.0"}, "1.10.0-rc1", 'F', "version"},
      {"Gt", {"1.9.9"}, "v1.10", 'T', "version"},
      {"GtLt", {"5.4", "6"}, "5.15.0-1053-nvidia", 'T', "version"},
      {"Le", {"5"}, "5.0.0", 'T', "version"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(Ask(c), c.want) << c.op << " " << testing::PrintToString(c.values) << " "
                              << (c.element == nullptr ? "(none)" : c.element);
}

TEST(ExpressionTest, WhatIsWrongIsAnErrorOnceTheElementIsThere) {
  const Case cases[] = {
      {"In", {}, "1", 'E'},
      {"NotIn", {}, "1", 'E'},
      {"InRegexp", {}, "1", 'E'},
      {"InRegexp", {"("}, "1", 'E'},
      {"InRegexp", {"("}, nullptr, 'F'},
      {"Gt", {"1", "2"}, "1", 'E'},
      {"Gt", {""}, "1", 'E'},
      {"Gt", {}, "1", 'E'},
      {"Gt", {"2"}, "3a", 'E'},
      {"Gt", {"0x10"}, "3", 'E'},
      {"Lt", {"2"}, "1.0", 'E'},
      {"GtLt", {"2", "1"}, "1", 'E'},
      {"GtLt", {"2"}, "1", 'E'},
      {"GeLe", {"2", "2"}, "2", 'E'},
      {"Exists", {"1"}, "1", 'E'},
      {"Exists", {"1"}, nullptr, 'E'},
      {"DoesNotExist", {"1"}, nullptr, 'E'},
      {"IsTrue", {"1"}, "true", 'E'},
      {"IsFalse", {"1"}, "true", 'E'},
      {"Like", {"1"}, "1", 'E'},
      {"Like", {"1"}, nullptr, 'E'},
      {"Gt", {"1"}, "rolling", 'E', "version"},
      {"Gt", {"1"}, "2", 'E', "colour"},
      {"Gt", {"99999999999999999999"}, "1", 'E'},
  };
  for (const Case& c : cases) EXPECT_EQ(Ask(c), c.want) << c.op << " " << testing::PrintToString(c.values);
}

TEST(ExpressionTest, FlagsHaveNoValueToCompare) {
  for (const char* op : {"In", "NotIn", "Gt", "IsTrue", "InRegexp"})
    EXPECT_FALSE(*Expression({.op = op, .type = "", .value = {"1"}}).MatchesFlag(true)) << op;
  EXPECT_TRUE(*Expression({.op = "Exists", .type = "", .value = {}}).MatchesFlag(true));
  EXPECT_TRUE(*Expression({.op = "DoesNotExist", .type = "", .value = {}}).MatchesFlag(false));
  EXPECT_FALSE(*Expression({.op = "DoesNotExist", .type = "", .value = {}}).MatchesFlag(true));
}

}  // namespace
}  // namespace gpuop::operands::nfd
