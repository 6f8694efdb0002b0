#include "gpu/xid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gpuop::gpu {
namespace {

TEST(XidTest, TheTableIsSortedAndSaysSomethingOfEach) {
  const auto xids = Xids();
  EXPECT_TRUE(std::ranges::is_sorted(xids, std::less_equal{}, &Xid::code));
  for (const Xid& xid : xids) {
    EXPECT_FALSE(xid.meaning.empty()) << xid.code;
    EXPECT_EQ(FindXid(xid.code).meaning, xid.meaning);
    EXPECT_FALSE(Name(xid.origin).empty() || Name(xid.severity).empty() || Name(xid.action).empty());
  }
}

TEST(XidTest, WhatAProgramDoesToItselfLeavesTheDeviceHealthy) {
  for (const unsigned code : {13U, 31U, 43U, 45U, 68U, 109U, 63U, 154U})
    EXPECT_FALSE(MakesUnhealthy(FindXid(code))) << code;
  for (const unsigned code : {48U, 62U, 74U, 79U, 95U, 119U, 140U, 173U})
    EXPECT_TRUE(MakesUnhealthy(FindXid(code))) << code;
}

TEST(XidTest, TheActionsAreTheCatalogues) {
  EXPECT_EQ(FindXid(79).action, XidAction::kRebootNode);
  EXPECT_EQ(FindXid(48).action, XidAction::kResetGpu);
  EXPECT_EQ(FindXid(54).action, XidAction::kCheckMechanics);
  EXPECT_EQ(FindXid(94).action, XidAction::kRestartApplication);
  EXPECT_EQ(FindXid(154).action, XidAction::kFollowDriverAdvice);
}

TEST(XidTest, AnUnknownCodeIsReportedAndNotTrusted) {
  const Xid unknown = FindXid(999);
  EXPECT_EQ(unknown.code, 999U);
  EXPECT_EQ(unknown.meaning, "unknown error");
  EXPECT_EQ(unknown.action, XidAction::kContactSupport);
  EXPECT_TRUE(MakesUnhealthy(unknown));
}

TEST(XidMessageTest, ReadsKernelLines) {
  struct Case {
    const char* line;
    XidMessage want;
  };
  const Case cases[] = {
      {"NVRM: Xid (PCI:0000:04:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
       {"0000:04:00", 79, {}, "", "GPU has fallen off the bus."}},
      {"NVRM: Xid (0000:03:00): 14, Channel 00000001", {"0000:03:00", 14, {}, "", "Channel 00000001"}},
      {"[ 12.5] NVRM: Xid (PCI:0000:8a:00): 31, pid=1234, name=python3, Ch 0000007e, intr 0",
       {"0000:8a:00", 31, 1234, "python3", "Ch 0000007e, intr 0"}},
      {"NVRM: Xid (PCI:0001:00:00): 43, pid='77', name=a.out", {"0001:00:00", 43, 77, "a.out", ""}},
      {"NVRM: Xid (PCI:0000:04:00): 154", {"0000:04:00", 154, {}, "", ""}},
  };
  for (const Case& c : cases) EXPECT_EQ(ParseXidMessage(c.line), c.want) << c.line;
  for (const char* line : {"", "NVRM: loading", "NVRM: Xid (PCI:0000:04:00)", "NVRM: Xid (PCI:zz): 3, x",
                           "NVRM: Xid (): 3", "NVRM: Xid (PCI:0000:04:00): x"})
    EXPECT_EQ(ParseXidMessage(line), std::nullopt) << line;
}

TEST(XidMessageTest, ReadsLinesOfSwitches) {
  EXPECT_EQ(ParseSxidMessage("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"),
            (SxidMessage{0, "0000:c1:00.0", 20034, true, 30, "LTSSM Fault Up"}));
  EXPECT_EQ(ParseSxidMessage("x nvidia-nvswitch3: SXid (PCI:0000:c4:00.0): 11012, Non-fatal, Link 4 ECC"),
            (SxidMessage{3, "0000:c4:00.0", 11012, false, 4, "ECC"}));
  EXPECT_EQ(ParseSxidMessage("nvidia-nvswitch0: using MSI"), std::nullopt);
}

}  // namespace
}  // namespace gpuop::gpu
