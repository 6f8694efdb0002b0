#include "data/cel.h"

#include <boost/json.hpp>

#include "data/json.h"

namespace gpuop::data {
namespace {

// What expressions mean is tested against Kubernetes' own evaluator: testdata/data/schema.json. Here: limits and
// errors.

std::string Eval(std::string_view text, const Json& self = nullptr, std::uint64_t limit = CelProgram::kCostLimit) {
  const auto program = CelProgram::Compile(text);
  if (!program) return program.error().text;
  const auto result = program->Evaluate({.self = &self}, limit);
  return result ? ToJson(*result) : result.error().text;
}

struct Case {
  const char* text;
  const char* want;
};
class CelTest : public testing::TestWithParam<Case> {};
TEST_P(CelTest, Answers) { EXPECT_EQ(Eval(GetParam().text), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(
    Errors, CelTest,
    testing::Values(
        Case{"", "ERROR: <input>:1:1: Syntax error: mismatched input '<EOF>'\n | \n | ^"},
        Case{"1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'\n | 1 +\n | ...^"},
        Case{"foo", "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"},
        Case{"self.foo()",
             "ERROR: <input>:1:6: undeclared reference to 'foo' (in container '')\n | self.foo()\n | .....^"},
        Case{"1\n+ $", "ERROR: <input>:2:3: Syntax error: token recognition error at: '$'\n | + $\n | ..^"},
        Case{"'abc", "ERROR: <input>:1:1: Syntax error: unterminated string\n | 'abc\n | ^"},
        Case{"'\\q'", "ERROR: <input>:1:2: Syntax error: invalid escape sequence\n | '\\q'\n | .^"},
        Case{"9223372036854775808", "ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^"},
        Case{"[1].all(1, true)", "ERROR: <input>:1:5: argument must be a simple name\n | [1].all(1, true)\n | ....^"},
        Case{"has(1)", "ERROR: <input>:1:1: invalid argument to has() macro\n | has(1)\n | ^"},
        Case{"x", "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^"},
        Case{"[1].map(x, x)[0] + x",
             "ERROR: <input>:1:20: undeclared reference to 'x' (in container '')\n | [1].map(x, x)[0] + x\n | "
             "...................^"},
        Case{"1 + 'a'", "no such overload"}, Case{"!1", "no such overload"}, Case{"1 ? 2 : 3", "no such overload"},
        Case{"'a'.matches('(')", "error parsing regexp: missing closing ): `(`"},
        Case{"oldSelf", "no such attribute(s): oldSelf"},
        Case{"int('9223372036854775808')", "type conversion error from 'string' to 'int'"},
        Case{"-9223372036854775808", "-9223372036854775808"}, Case{"-(-9223372036854775808)", "integer overflow"},
        Case{"-9223372036854775808 / -1", "integer overflow"}, Case{"0u - 1u", "unsigned integer overflow"},
        Case{"{'a': 1, 'a': 2}", "Failed with repeated key"}, Case{"'é'.substring(2)", "index out of range: 2"}));

INSTANTIATE_TEST_SUITE_P(
    Absorption, CelTest,
    testing::Values(Case{"1/0 == 1 || true", "true"}, Case{"true || 1/0 == 1", "true"},
                    Case{"1/0 == 1 && false", "false"}, Case{"1/0 == 1 || false", "division by zero"},
                    Case{"1/0 == 1 && true", "division by zero"}, Case{"[0, 1].exists(x, 1/x == 1)", "true"},
                    Case{"[0, 2].exists(x, 1/x == 1)", "division by zero"}, Case{"[0, 2].all(x, 1/x == 1)", "false"},
                    Case{"[0, 1].all(x, 1/x == 1)", "division by zero"},
                    Case{"[0, 1].filter(x, 1/x == 1)", "division by zero"}));

INSTANTIATE_TEST_SUITE_P(Values, CelTest,
                         testing::Values(Case{"[1, 2u, 3.5, 'a', b'b', null, {'k': [true]}]",
                                              "[1,2,3.5,\"a\",\"Yg==\",null,{\"k\":[true]}]"},
                                         Case{"optional.of(1).optMap(x, x + 1).value()", "2"},
                                         Case{"optional.none().orValue(7)", "7"},
                                         Case{"optional.none().value()", "optional.none() dereference"},
                                         Case{"1 == 1.0 && 1u == 1 && !(1 == '1')", "true"},
                                         Case{"2 > 1.5 && 1u < 2 && -1 < 1u", "true"}));

TEST(CelTest, WhatCostsTooMuchIsStopped) {
  JsonArray numbers;
  for (int i = 0; i < 200; ++i) numbers.emplace_back(i);
  const std::string cubic = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))";
  EXPECT_EQ(Eval(cubic, numbers), "operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(Eval("self.all(a, self.exists(b, a == b))", numbers), "true");
  EXPECT_EQ(Eval("self.all(a, a >= 0)", numbers, 100), "operation cancelled: actual cost limit exceeded");
}

TEST(CelTest, ACostlyPartIsNotAbsorbed) {
  JsonArray numbers;
  for (int i = 0; i < 2000; ++i) numbers.emplace_back(i);
  EXPECT_EQ(Eval("self.all(a, self.all(b, a == b || true)) || true", numbers),
            "operation cancelled: actual cost limit exceeded");
}

TEST(CelTest, TextsThatGrowAreStopped) {
  std::string text = "'xxxxxxxxxxxxxxxx'";
  for (int i = 0; i < 40; ++i) text = "[" + text + "].map(x, x + x)[0]";
  EXPECT_EQ(Eval(text), "operation cancelled: actual cost limit exceeded");
}

TEST(CelTest, DeepExpressionsAreRefusedNotFatal) {
  const std::string deep = std::string(100000, '(') + "1" + std::string(100000, ')');
  EXPECT_FALSE(CelProgram::Compile(deep));
  std::string chain = "1";
  for (int i = 0; i < 5000; ++i) chain += "+1";
  EXPECT_FALSE(CelProgram::Compile(chain));
  EXPECT_FALSE(CelProgram::Compile(std::string(90000, '[')));
  EXPECT_FALSE(CelProgram::Compile(std::string(200000, ' ')));
  std::string many = "true";
  for (int i = 0; i < 5000; ++i) many += " && true";
  EXPECT_EQ(Eval(many), "true");
}

TEST(CelTest, KnowsWhetherItSpeaksOfThePast) {
  EXPECT_TRUE(CelProgram::Compile("self.a == oldSelf.a")->UsesOldSelf());
  EXPECT_FALSE(CelProgram::Compile("self.oldSelf == 1")->UsesOldSelf());
}

}  // namespace
}  // namespace gpuop::data
