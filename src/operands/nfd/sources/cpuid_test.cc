#include "operands/nfd/sources/cpuid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/testing/source_dir.h"
#include "data/json.h"
#include "operands/nfd/sources/cpuid_table.h"
#include "operands/nfd/sources/source.h"
#include "os/real_fs.h"

namespace gpuop::operands::nfd {
namespace {

using testing::Contains;
using testing::Not;

/// A processor that has what a test gives it.
struct FakeCpu {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters> leaves;
  std::uint64_t xcr0 = 0xe7;

  FakeCpu() {
    leaves[{0, 0}] = {.eax = 0x24, .ebx = Word("Genu"), .ecx = Word("ntel"), .edx = Word("ineI")};
    leaves[{0x80000000, 0}] = {.eax = 0x80000021};
    leaves[{7, 0}].eax = 2;
    leaves[{1, 0}].eax = 0x000806f8;
    leaves[{0x40000000, 0}] = {.ebx = Word("KVMK"), .ecx = Word("VMKV"), .edx = 'M'};
  }
  static std::uint32_t Word(const char* text) {
    std::uint32_t out = 0;
    std::memcpy(&out, text, 4);
    return out;
  }
  void Set(std::string_view name) {
    for (const CpuidBit& bit : cpuid_table::kBits) {
      if (bit.name != name) continue;
      CpuidRegisters& r = leaves[{bit.leaf, bit.subleaf}];
      (bit.in == CpuidRegister::kEax   ? r.eax
       : bit.in == CpuidRegister::kEbx ? r.ebx
       : bit.in == CpuidRegister::kEcx ? r.ecx
                                       : r.edx) |= 1U << bit.bit;
    }
  }
  CpuidFacts Read() const {
    CpuidSource source;
    source.xcr0 = xcr0;
    source.ask = [this](std::uint32_t leaf, std::uint32_t subleaf) {
      const auto it = leaves.find({leaf, subleaf});
      return it == leaves.end() ? CpuidRegisters{} : it->second;
    };
    return ReadCpuid(source);
  }
};

/// The flags that NFD labelled on the machine of the records.
TextSet RecordedFlags() {
  const auto fs = os::RealFs::Open(std::string(SourceDir()) + "/testdata/nfd");
  const data::Json records = *data::ParseJson(*(*fs)->Read("/oracle.json"));
  TextSet out;
  constexpr std::string_view kPrefix = "feature.node.kubernetes.io/cpu-cpuid.";
  for (const auto& label : data::Find(records, "worker[0].labels")->get_object())
    if (std::string_view(label.key()).starts_with(kPrefix)) out.emplace(label.key().substr(kPrefix.size()));
  return out;
}

TEST(CpuidTest, TheRecordedMachineHasTheRecordedFlags) {
  const TextSet recorded = RecordedFlags();
  ASSERT_EQ(recorded.size(), 63U);
  FakeCpu cpu;
  for (const std::string& flag : recorded) cpu.Set(flag);
  // What has no label is there too.
  for (const std::string& flag : SourceSettings::Default().cpu.blacklist)
    if (flag != "HTT" && flag != "SGX" && flag != "SGXLC" && flag != "TDX_GUEST") cpu.Set(flag);
  cpu.leaves[{0x24, 0}].ebx = 1 | 7U << 16;
  const CpuidFacts facts = cpu.Read();
  EXPECT_EQ(facts.flags.size(), 84U);
  EXPECT_EQ(facts.attributes, (TextMap{{"AVX10_VERSION", "1"}}));
  for (const std::string& flag : recorded)
    if (flag != "AVX10_VERSION") EXPECT_THAT(facts.flags, Contains(flag));
  EXPECT_EQ(facts.vendor, "Intel");
  EXPECT_EQ(facts.family, 6U);
  EXPECT_EQ(facts.model, 143U);
  EXPECT_EQ(facts.hypervisor, "KVM");
}

TEST(CpuidTest, WhatTheSystemHasNotSwitchedOnDoesNotCount) {
  FakeCpu cpu;
  for (const char* flag : {"XSAVE", "OSXSAVE", "AVX", "AVX2", "AVX512F", "FMA3", "SSE2"}) cpu.Set(flag);
  cpu.xcr0 = 0x7;
  EXPECT_THAT(cpu.Read().flags, Contains("AVX2"));
  EXPECT_THAT(cpu.Read().flags, Not(Contains("AVX512F")));
  cpu.xcr0 = 0x3;
  EXPECT_THAT(cpu.Read().flags, Not(Contains("AVX2")));
  EXPECT_THAT(cpu.Read().flags, Contains("SSE2"));
}

TEST(CpuidTest, LeavesThatAProcessorDoesNotHaveAreNotAsked) {
  FakeCpu cpu;
  cpu.Set("AVX");
  for (const char* flag : {"AVXVNNI", "PSFD", "WBNOINVD", "SERIALIZE"}) cpu.Set(flag);
  cpu.leaves[{0, 0}].eax = 1;
  cpu.leaves[{0x80000000, 0}].eax = 0x80000001;
  for (const char* flag : {"AVXVNNI", "PSFD", "WBNOINVD", "SERIALIZE"})
    EXPECT_THAT(cpu.Read().flags, Not(Contains(flag))) << flag;
}

TEST(CpuidTest, AnArmNodeTakesItsFlagsFromTheKernel) {
  // The registers are zero there: nothing is claimed.
  const CpuidSource none{[](std::uint32_t, std::uint32_t) { return CpuidRegisters{}; }, 0};
  const CpuidFacts facts = ReadCpuid(none);
  EXPECT_TRUE(facts.flags.empty() && facts.vendor.empty() && facts.hypervisor.empty());
}

TEST(CpuidTest, ThisProcessorCanBeAsked) {
  const CpuidFacts facts = ReadCpuid(CpuidSource::OfThisCpu());
#if defined(__x86_64__)
  EXPECT_THAT(facts.flags, Contains("X86_64_V1"));
#else
  EXPECT_TRUE(facts.flags.empty());
#endif
}

}  // namespace
}  // namespace gpuop::operands::nfd
