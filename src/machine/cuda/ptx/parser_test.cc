#include "machine/cuda/ptx/parser.h"

#include <gtest/gtest.h>

namespace gpuop::machine::ptx {
namespace {

constexpr const char* kHeader = ".version 8.4\n.target sm_90a, texmode_independent\n.address_size 64\n";

Module Parsed(const std::string& text) {
  auto module = Parse(text);
  EXPECT_TRUE(module) << module.error().text;
  return module ? std::move(*module) : Module{};
}

TEST(Parse, ReadsHeaderVariablesAndInitialisers) {
  const std::string text = std::string(kHeader) + R"(
.visible .global .align 8 .u64 table[3] = {7, generic(other)+4, kernel};
.const .f32 half = 0.5;
.global .attribute(.managed) .b8 bytes[2][2] = {{1, 2}, {3}};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry kernel() { ret; }
.global .u32 other;)";
  const Module module = Parsed(text);
  EXPECT_EQ(module.version, 84);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_TRUE(module.arch_specific);
  const Variable* table = module.FindVariable("table");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->size, 24U);
  ASSERT_EQ(table->initial.size(), 3U);
  EXPECT_EQ(table->initial[1].symbol, "other");
  EXPECT_EQ(table->initial[1].bits, 4U);
  EXPECT_EQ(table->initial[2].offset, 16U);
  EXPECT_EQ(module.FindVariable("half")->initial[0].bits, 0x3f000000U);
  EXPECT_TRUE(module.FindVariable("bytes")->managed);
  EXPECT_TRUE(module.FindVariable("dynamic")->unsized);
}

TEST(Parse, ResolvesNamesByScope) {
  const std::string text = std::string(kHeader) + R"(
.entry k() {
  .reg .b32 %r<20>; .reg .b32 %r1<3>; .reg .pred p;
  { .reg .b32 inner; mov.u32 inner, %r12; L: @!p bra L; }
  { L: bra L; }
  @p bra L2;
L2: ret;
})";
  const Module module = Parsed(text);
  const Function& k = *module.FindFunction("k");
  ASSERT_EQ(k.instructions.size(), 5U);
  EXPECT_EQ(k.instructions[1].targets, std::vector<std::uint32_t>{1});
  EXPECT_TRUE(k.instructions[1].guard_negated);
  EXPECT_EQ(k.instructions[2].targets, std::vector<std::uint32_t>{2});
  EXPECT_EQ(k.instructions[3].targets, std::vector<std::uint32_t>{4});
}

TEST(Parse, NamesTheLineOfEveryMistake) {
  const auto error = [](const std::string& body) {
    const std::string text = std::string(kHeader) + body;
    const auto module = Parse(text);
    return module ? std::string("none") : module.error().text;
  };
  const std::string begin = "ptxas application ptx input, line 4; error   : ";
  EXPECT_EQ(error(".entry k() { bra nowhere; }"), begin + "Unknown label 'nowhere'");
  EXPECT_EQ(error(".entry k() { @%p bra x; }"), begin + "'%p' is no predicate register to guard with");
  EXPECT_EQ(error(".entry k() { add.u32 }"), begin + "Parsing error near '}': expected an operand");
  EXPECT_EQ(error(".global .u32 a; .global .u32 a;"), begin + "Duplicate definition of variable 'a'");
  EXPECT_EQ(error(".global .u8 a[2] = {1, 2, 3};"), begin + "Parsing error near '}': too many initial values");
  EXPECT_EQ(error(".global .q32 a;"), begin + "Parsing error near '.q32': expected a type");
  EXPECT_EQ(error(".entry k() {"), begin + "Parsing error near end of input: expected '}'");
  EXPECT_EQ(error("/* no end"), begin + "Comment has no end");
  EXPECT_EQ(error(".entry k() { mov.f32 x, 0f12; }"), begin + "Malformed floating point constant");
}

TEST(Merge, MakesOneModuleOfSeveral) {
  const std::string first = std::string(kHeader) + ".extern .func f();\n.entry k() { call f; ret; }";
  const std::string second = std::string(kHeader) + ".visible .func f() { ret; }";
  const std::string merged = Merge({first, second});
  const Module module = Parsed(merged);
  EXPECT_TRUE(module.FindFunction("f")->defined);
  EXPECT_TRUE(module.FindFunction("k")->entry);
}

}  // namespace
}  // namespace gpuop::machine::ptx
